/// @file
/// Rate limits of the queue of jobs, in worlds with all kinds of faults.

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

#include "routemaster/testing/simulation.hpp"
#include "simulation/worlds.hpp"

using namespace routemaster;
using namespace routemaster::testing;

namespace {

/// A world with mostly jobs, and with limits on their begins.
WorldOptions limited_pools() {
    return {.actions = 3'000, .subscribers = 0, .pools = true, .rate_limits = true};
}

}  // namespace

TEST_CASE(
    "in simulations with every kind of fault, no more jobs begin than rate limits have tokens") {
    test::must_keep_guarantees(100, limited_pools());
}

TEST_CASE("without faults, jobs begin only with a rate-limit token, and no job waits for ever") {
    auto options = limited_pools();
    options.fault_rates = FaultRates{};
    test::must_keep_guarantees(20, options);
}

TEST_CASE("a simulation with rate limits repeats exactly for an equal seed") {
    const auto life = [](std::uint64_t seed) {
        World world{seed, limited_pools()};
        world.run();
        return std::pair{world.trace_hash(), world.steps()};
    };
    for (std::uint64_t seed = 1; seed <= 3; ++seed) CHECK(life(seed) == life(seed));
}
