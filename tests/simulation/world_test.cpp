/// @file
/// Worlds with every kind of fault keep the guarantees of the bus.

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "routemaster/testing/simulation.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using namespace routemaster::testing;

namespace {

#ifdef NDEBUG
constexpr std::uint64_t worlds_usual = 1'000;
#else
constexpr std::uint64_t worlds_usual = 200;  // Sanitizers take about ten times as long.
#endif

/// A number from the environment.
std::uint64_t number(const char* name, std::uint64_t fallback) {
    const char* text = std::getenv(name);
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

}  // namespace

/// `ROUTEMASTER_SEED=n` runs the world of that seed alone, `ROUTEMASTER_WORLDS=n` runs n worlds;
/// `ROUTEMASTER_TRACE=n` prints the last n actions of the one that fails.
TEST_CASE("no guarantee is broken in worlds with every kind of fault") {
    const bool one = std::getenv("ROUTEMASTER_SEED") != nullptr;
    const SimulationOptions options{.worlds = one ? 1 : number("ROUTEMASTER_WORLDS", worlds_usual),
                                    .first_seed = number("ROUTEMASTER_SEED", 1),
                                    .world = {.trace = number("ROUTEMASTER_TRACE", 40)}};
    std::uint64_t worlds = 0;
    const auto failure = simulate(options, [&](World& world) {
        ROUTEMASTER_TELL_SEED(world.seed());  // Even when an assertion ends it all.
        world.run();
        ++worlds;
    });
    if (failure) FAIL(std::string{failure->what()});
    CHECK(worlds == options.worlds);
}

TEST_CASE("the same seed does the same, another seed something else") {
    const auto life = [](std::uint64_t seed) {
        World world{seed};
        world.run();
        return std::pair{world.trace_hash(), world.steps()};
    };
    std::set<std::uint64_t> hashes;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto first = life(seed);
        CHECK(life(seed) == first);
        hashes.insert(first.first);
    }
    CHECK(hashes.size() == 20);
}

TEST_CASE("the swarm draws each fault for about half of the worlds") {
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
