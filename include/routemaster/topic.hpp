/// @file
/// A topic: a named stream of events with one authorised publisher.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace routemaster {

/// A topic as the store knows it.
struct Topic {
    std::string name;                      ///< See `is_topic_name`.
    std::optional<std::string> publisher;  ///< The token that claimed it; absent while unclaimed.
    std::uint64_t events = 0;              ///< Events ever published in it.

    friend bool operator==(const Topic&, const Topic&) = default;
};

}  // namespace routemaster
