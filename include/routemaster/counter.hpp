/// @file
/// Counters: monotonic numbers, each with a name and tags.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace routemaster {

/// Identifies a counter by its name and its tags.
struct CounterKey {
    /// The name and value of a tag; an absent value means "unknown".
    using Tag = std::pair<std::string, std::optional<std::string>>;

    std::string name;
    std::vector<Tag> tags{};  ///< Sorted by the names of the tags.

    friend auto operator<=>(const CounterKey&, const CounterKey&) = default;
};

/// A counter and its value.
struct Counter {
    CounterKey key;
    std::int64_t value = 0;

    friend bool operator==(const Counter&, const Counter&) = default;
};

}  // namespace routemaster
