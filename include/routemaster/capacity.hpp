/// @file
/// How much space a store may take. Settings and marks of Ruby Routemaster.

#pragma once

#include <algorithm>
#include <cstdint>

namespace routemaster {

/// The available space, and how much of it must stay free. Inconsistent numbers yield marks of 0.
struct CapacityOptions {
    std::uint64_t bytes_max = 100'000'000;      ///< All of it.
    std::uint64_t bytes_free_min = 10'000'000;  ///< With less than this left, it is too full.

    /// A store that takes more than this is too full.
    [[nodiscard]] constexpr std::uint64_t high_mark() const noexcept {
        return bytes_max - (std::min)(bytes_max, bytes_free_min);
    }

    /// A store that was too full has enough space again when it takes less than this.
    [[nodiscard]] constexpr std::uint64_t low_mark() const noexcept {
        return high_mark() - (std::min)(high_mark(), bytes_free_min);
    }
};

}  // namespace routemaster
