/// @file
/// The number of worlds in a test, and the report of a failing world.

#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "routemaster/testing/simulation.hpp"
#include "support/seed.hpp"

namespace routemaster::test {

/// The number of worlds for which this build has time.
constexpr std::uint64_t affordable(std::uint64_t worlds) {
#ifdef NDEBUG
    return worlds;
#else
    return worlds / 10;  // Sanitizers are about ten times as slow.
#endif
}

/// The value of an environment variable as a number.
inline std::uint64_t environment(const char* name, std::uint64_t fallback) {
    const char* text = std::getenv(name);
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

/// Runs worlds, and fails at the first world that violates a guarantee. `ROUTEMASTER_SEED=n` runs
/// only the world with this seed, `ROUTEMASTER_WORLDS=n` runs n worlds, and `ROUTEMASTER_TRACE=n`
/// prints the last n actions of the failing world.
inline void must_keep_guarantees(std::uint64_t worlds, testing::WorldOptions world) {
    const bool one = std::getenv("ROUTEMASTER_SEED") != nullptr;
    world.trace = environment("ROUTEMASTER_TRACE", 40);
    const testing::SimulationOptions options{
        .worlds = one ? 1 : environment("ROUTEMASTER_WORLDS", affordable(worlds)),
        .first_seed = seed(1),
        .world = world};
    std::uint64_t done = 0;
    const auto failure = testing::simulate(options, [&done](testing::World& each) {
        ROUTEMASTER_TELL_SEED(each.seed());  // Printed even when an assertion ends the process.
        each.run();
        ++done;
    });
    if (failure) FAIL(std::string{failure->what()});
    CHECK(done == options.worlds);
}

}  // namespace routemaster::test
