/// @file
/// The seed of a random test: fixed, unless the environment sets a different seed.

#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace routemaster::test {

/// The variable `ROUTEMASTER_SEED`, or `fallback` if it is not set. With it, a run can be repeated
/// or varied.
inline std::uint64_t seed(std::uint64_t fallback) {
    const char* text = std::getenv("ROUTEMASTER_SEED");
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

}  // namespace routemaster::test

/// Failures in the rest of the scope print the seed, to repeat them.
#define ROUTEMASTER_TELL_SEED(number) INFO("ROUTEMASTER_SEED=" << (number))
