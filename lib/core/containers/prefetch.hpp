/// @file
/// Loads memory into the cache before it is needed.

#pragma once

#include <cstddef>

namespace routemaster::detail {

/// Starts to load the memory at an address, which may be null.
///
/// GCC regards a function with nothing but a prefetch as free of effects, and drops calls it does
/// not inline. The empty statement counts as an effect.
inline void prefetch(const void* address) noexcept {
    __builtin_prefetch(address);
    asm volatile("");
}

/// How many searches to begin at once. With 32, removals from a `HashIndex` of two million objects
/// were not slower.
inline constexpr std::size_t prefetched_max = 64;

}  // namespace routemaster::detail
