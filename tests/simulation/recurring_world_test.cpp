/// @file
/// Several schedulers that run the ticks of recurring jobs, in worlds with all kinds of faults.

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

#include "routemaster/testing/simulation.hpp"
#include "simulation/worlds.hpp"

using namespace routemaster;
using namespace routemaster::testing;

namespace {

/// A world with mostly recurring jobs and timers.
WorldOptions mostly_ticks() {
    return {.actions = 4'000, .subscribers = 0, .jobs = 0, .recurring = 6};
}

}  // namespace

TEST_CASE("in simulations with every kind of fault, each tick runs once, as its policy says") {
    test::must_keep_guarantees(100, mostly_ticks());
}

TEST_CASE("without faults, each tick of a recurring job runs on time") {
    auto options = mostly_ticks();
    options.fault_rates = FaultRates{};
    test::must_keep_guarantees(20, options);
}

TEST_CASE("a simulation with recurring jobs repeats exactly for an equal seed") {
    const auto life = [](std::uint64_t seed) {
        World world{seed, mostly_ticks()};
        world.run();
        return std::pair{world.trace_hash(), world.steps()};
    };
    for (std::uint64_t seed = 1; seed <= 3; ++seed) CHECK(life(seed) == life(seed));
}
