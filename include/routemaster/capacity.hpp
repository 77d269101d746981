/// @file
/// How much space a store may use. The settings and formulas are Ruby Routemaster's.

#pragma once

#include <algorithm>
#include <cstdint>

namespace routemaster {

/// The available space, and how much of it must stay free. No mark is below 0.
struct CapacityOptions {
    std::uint64_t bytes_max = 100'000'000;      ///< Bytes that the store may use.
    std::uint64_t bytes_free_min = 10'000'000;  ///< With fewer bytes free, the store is too full.

    /// The store is too full above this number of bytes.
    [[nodiscard]] constexpr std::uint64_t high_mark() const noexcept {
        return bytes_max - (std::min)(bytes_max, bytes_free_min);
    }

    /// A store that was too full has enough space again below this number of bytes.
    [[nodiscard]] constexpr std::uint64_t low_mark() const noexcept {
        return high_mark() - (std::min)(high_mark(), bytes_free_min);
    }
};

}  // namespace routemaster
