/// @file
/// Counters: cumulative numbers with a name and tags. They only grow.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace routemaster {

/// The name and tags of a counter.
struct CounterKey {
    /// A tag's name and value; an absent value stands for "unknown".
    using Tag = std::pair<std::string, std::optional<std::string>>;

    std::string name;
    std::vector<Tag> tags{};  ///< In alphabetical order of their names.

    friend auto operator<=>(const CounterKey&, const CounterKey&) = default;
};

/// A counter and its value.
struct Counter {
    CounterKey key;
    std::int64_t value = 0;

    friend bool operator==(const Counter&, const Counter&) = default;
};

}  // namespace routemaster
