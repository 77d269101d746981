/// @file
/// `Topic`: a named stream of events with at most one publisher.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace routemaster {

/// A topic as stored.
struct Topic {
    std::string name;  ///< See `is_topic_name`.
    /// The token of the publisher that claimed the topic; absent if unclaimed.
    std::optional<std::string> publisher;
    std::uint64_t events = 0;  ///< Number of events ever published to the topic.

    friend bool operator==(const Topic&, const Topic&) = default;
};

}  // namespace routemaster
