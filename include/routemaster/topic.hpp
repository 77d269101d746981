/// @file
/// A topic: a named stream of events with one authorised publisher.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace routemaster {

/// A topic as stored.
struct Topic {
    std::string name;  ///< See `is_topic_name`.
    /// The token of the publisher that claimed it; absent while unclaimed.
    std::optional<std::string> publisher;
    std::uint64_t events = 0;  ///< Events ever published in the topic.

    friend bool operator==(const Topic&, const Topic&) = default;
};

}  // namespace routemaster
