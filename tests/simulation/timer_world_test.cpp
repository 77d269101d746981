/// @file
/// The guarantees of timers, in worlds with all kinds of faults.

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <utility>

#include "routemaster/testing/simulation.hpp"
#include "simulation/worlds.hpp"

using namespace routemaster;
using namespace routemaster::testing;

namespace {

/// A world with mostly timers.
WorldOptions mostly_timers() { return {.subscribers = 0, .jobs = 0, .timers = 12}; }

}  // namespace

TEST_CASE("no guarantee of timers is broken in simulations with every kind of fault") {
    test::must_keep_guarantees(300, mostly_timers());
}

TEST_CASE("timers, events and jobs share one journal, and no guarantee is broken") {
    test::must_keep_guarantees(50, {.subscribers = 1, .jobs = 5, .timers = 5});
}

TEST_CASE(
    "a simulation with timers repeats exactly for an equal seed, and differs for another seed") {
    const auto life = [](std::uint64_t seed) {
        World world{seed, mostly_timers()};
        world.run();
        return std::pair{world.trace_hash(), world.steps()};
    };
    std::set<std::uint64_t> hashes;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const auto first = life(seed);
        CHECK(life(seed) == first);
        hashes.insert(first.first);
    }
    CHECK(hashes.size() == 5);
}
