/// @file
/// Worker pools, in worlds with all kinds of faults.

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

#include "routemaster/testing/simulation.hpp"
#include "simulation/worlds.hpp"

using namespace routemaster;
using namespace routemaster::testing;

namespace {

/// A world with mostly jobs.
WorldOptions mostly_pools() { return {.subscribers = 0, .pools = true}; }

}  // namespace

TEST_CASE("worker pools break no guarantee in simulations with every kind of fault") {
    test::must_keep_guarantees(200, mostly_pools());
}

TEST_CASE("a simulation with worker pools repeats exactly for an equal seed") {
    const auto life = [](std::uint64_t seed) {
        World world{seed, mostly_pools()};
        world.run();
        return std::pair{world.trace_hash(), world.steps()};
    };
    for (std::uint64_t seed = 1; seed <= 5; ++seed) CHECK(life(seed) == life(seed));
}
