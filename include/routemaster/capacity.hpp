/// @file
/// `CapacityOptions`: how much space a store may use. Settings and formulas are Ruby Routemaster's.

#pragma once

#include <algorithm>
#include <cstdint>

namespace routemaster {

/// Space limits of a store, from which the high mark and the low mark are computed.
struct CapacityOptions {
    std::uint64_t bytes_max = 100'000'000;      ///< Bytes that the store may use.
    std::uint64_t bytes_free_min = 10'000'000;  ///< With fewer free bytes, the store is too full.

    /// The high mark: above this number of used bytes, the store is too full.
    [[nodiscard]] constexpr std::uint64_t high_mark() const noexcept {
        return bytes_max - (std::min)(bytes_max, bytes_free_min);
    }

    /// The low mark: a store that was too full has enough space again below this number of bytes.
    [[nodiscard]] constexpr std::uint64_t low_mark() const noexcept {
        return high_mark() - (std::min)(high_mark(), bytes_free_min);
    }
};

}  // namespace routemaster
