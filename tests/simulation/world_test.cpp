/// @file
/// The guarantees of the bus, in worlds with all kinds of faults.

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <utility>

#include "routemaster/testing/simulation.hpp"
#include "simulation/worlds.hpp"

using namespace routemaster;
using namespace routemaster::testing;

TEST_CASE("no guarantee is broken in simulations with every kind of fault") {
    test::must_keep_guarantees(1'000, {});
}

TEST_CASE("a simulation repeats exactly for an equal seed, and differs for another seed") {
    const auto life = [](std::uint64_t seed) {
        World world{seed};
        world.run();
        return std::pair{world.trace_hash(), world.steps()};
    };
    const auto worlds = test::affordable(20);
    std::set<std::uint64_t> hashes;
    for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
        const auto first = life(seed);
        CHECK(life(seed) == first);
        hashes.insert(first.first);
    }
    CHECK(hashes.size() == worlds);
}

TEST_CASE(
    "over many random seeds, each kind of fault is enabled in about half of the simulations") {
    int crashes = 0;
    int calm = 0;
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
        const auto fault_rates = swarm(seed);
        crashes += fault_rates.crashes > 0 ? 1 : 0;
        calm +=
            fault_rates.crashes == 0 && fault_rates.kills == 0 && fault_rates.stalls == 0 ? 1 : 0;
    }
    CHECK(crashes > 400);
    CHECK(crashes < 600);
    CHECK(calm > 60);
}
