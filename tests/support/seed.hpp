/// @file
/// The seed of a random test: fixed, unless the environment sets another.

#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace routemaster::test {

/// `ROUTEMASTER_SEED`, or else `fallback`, so that a run can be repeated or varied.
inline std::uint64_t seed(std::uint64_t fallback) {
    const char* text = std::getenv("ROUTEMASTER_SEED");
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

}  // namespace routemaster::test

/// Makes failures in the rest of the scope print how to repeat them.
#define ROUTEMASTER_TELL_SEED(number) INFO("ROUTEMASTER_SEED=" << (number))
