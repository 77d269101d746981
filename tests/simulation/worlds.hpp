/// @file
/// How many worlds a test runs, and what becomes of one that fails.

#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "routemaster/testing/simulation.hpp"
#include "support/seed.hpp"

namespace routemaster::test {

/// Of so many worlds those for which there is time in this build.
constexpr std::uint64_t affordable(std::uint64_t worlds) {
#ifdef NDEBUG
    return worlds;
#else
    return worlds / 10;  // Sanitizers take about ten times as long.
#endif
}

/// A number from the environment.
inline std::uint64_t environment(const char* name, std::uint64_t fallback) {
    const char* text = std::getenv(name);
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

/// Runs worlds, and fails at the first that breaks a guarantee. `ROUTEMASTER_SEED=n` runs the world
/// of that seed alone, `ROUTEMASTER_WORLDS=n` runs n worlds; `ROUTEMASTER_TRACE=n` prints the last
/// n actions of the one that fails.
inline void must_keep_guarantees(std::uint64_t worlds, testing::WorldOptions world) {
    const bool one = std::getenv("ROUTEMASTER_SEED") != nullptr;
    world.trace = environment("ROUTEMASTER_TRACE", 40);
    const testing::SimulationOptions options{
        .worlds = one ? 1 : environment("ROUTEMASTER_WORLDS", affordable(worlds)),
        .first_seed = seed(1),
        .world = world};
    std::uint64_t done = 0;
    const auto failure = testing::simulate(options, [&done](testing::World& each) {
        ROUTEMASTER_TELL_SEED(each.seed());  // Even when an assertion ends it all.
        each.run();
        ++done;
    });
    if (failure) FAIL(std::string{failure->what()});
    CHECK(done == options.worlds);
}

}  // namespace routemaster::test
