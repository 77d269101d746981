/// @file
/// Batches of jobs and dependencies, in worlds with all kinds of faults.

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

#include "routemaster/testing/simulation.hpp"
#include "simulation/worlds.hpp"

using namespace routemaster;
using namespace routemaster::testing;

namespace {

/// A world with mostly batches of jobs.
WorldOptions mostly_batches() {
    return {.actions = 3'000, .subscribers = 0, .jobs = 0, .job_batches = true};
}

}  // namespace

TEST_CASE(
    "batches of jobs end once, with all their jobs, in simulations with every kind of fault") {
    test::must_keep_guarantees(100, mostly_batches());
}

TEST_CASE("without faults, batches of jobs end once, with all their jobs") {
    auto options = mostly_batches();
    options.fault_rates = FaultRates{};
    test::must_keep_guarantees(20, options);
}

TEST_CASE("recurring jobs, batches and rate limits share one journal, and no guarantee is broken") {
    test::must_keep_guarantees(30, {.subscribers = 1,
                                    .jobs = 5,
                                    .pools = true,
                                    .timers = 3,
                                    .recurring = 3,
                                    .rate_limits = true,
                                    .job_batches = true});
}

TEST_CASE("a simulation with batches of jobs repeats exactly for an equal seed") {
    const auto life = [](std::uint64_t seed) {
        World world{seed, mostly_batches()};
        world.run();
        return std::pair{world.trace_hash(), world.steps()};
    };
    for (std::uint64_t seed = 1; seed <= 3; ++seed) CHECK(life(seed) == life(seed));
}
