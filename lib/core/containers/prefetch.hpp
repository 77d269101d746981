/// @file
/// Loads memory into the cache before it is needed.

#pragma once

#include <cstddef>

namespace routemaster::detail {

/// Starts to load what is at that address, which may be null.
///
/// GCC takes a function that does nothing else for one without effects, and leaves out calls of it
/// that it does not inline. The empty statement counts as an effect.
inline void prefetch(const void* address) noexcept {
    __builtin_prefetch(address);
    asm volatile("");
}

/// How many searches begin together. With half as many, removals from a `HashIndex` of two million
/// took as long.
inline constexpr std::size_t prefetched_max = 64;

}  // namespace routemaster::detail
