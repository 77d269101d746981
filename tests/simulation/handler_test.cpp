/// @file
/// A user's handlers in a simulated world. The simulation finds their errors, and reports them in a
/// reproducible way.

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "routemaster/testing/simulation.hpp"
#include "simulation/worlds.hpp"

using namespace routemaster;
using namespace routemaster::testing;

namespace {

/// A world that has only the handlers of a test.
WorldOptions alone() { return {.actions = 500, .subscribers = 0, .jobs = 5, .trace = 200}; }

/// Expects that each event and each job is handled once.
void count_each(World& world) {
    std::map<std::string, int> counts;
    world.subscribe("billing", {"orders"}, [&](const Batch& batch) {
        for (const auto& event : batch.events) ++counts[event.url];
    });
    world.run();
    for (const auto& [url, count] : counts) world.expect(count == 1, "handled once: " + url);
}

}  // namespace

TEST_CASE("the simulation finds a handler that charges twice, and reports the seed and the trace") {
    const auto failure = simulate({.worlds = 50, .world = alone()}, count_each);
    REQUIRE(failure.has_value());
    CHECK(failure->broken().starts_with("expected: handled once: https://world.example/orders/"));
    const std::string text = failure->what();
    CHECK(text.find("ROUTEMASTER_SEED=" + std::to_string(failure->seed())) != std::string::npos);
    CHECK(text.find("arrives at billing") != std::string::npos);
    CHECK(text.find("step " + std::to_string(failure->step()) + ": ") != std::string::npos);
}

TEST_CASE("a failure of a simulation happens again for an equal seed, word for word") {
    const auto first = simulate({.worlds = 50, .world = alone()}, count_each);
    REQUIRE(first.has_value());
    const auto again =
        simulate({.worlds = 1, .first_seed = first->seed(), .world = alone()}, count_each);
    REQUIRE(again.has_value());
    CHECK(std::string{again->what()} == first->what());
}

TEST_CASE("a handler that remembers its charges passes the simulation") {
    const SimulationOptions some{.worlds = test::affordable(50), .world = alone()};
    const auto failure = simulate(some, [](World& world) {
        std::set<std::string> charged;
        std::map<std::string, int> charges;
        world.subscribe("billing", {"orders"}, [&](const Batch& batch) {
            for (const auto& event : batch.events) {
                if (charged.insert(event.url).second) ++charges[event.url];
            }
        });
        world.run();
        for (const auto& [url, count] : charges) world.expect(count == 1, url);
    });
    CHECK_MESSAGE(!failure, std::string{failure ? failure->what() : ""});
}

TEST_CASE("without faults every batch arrives once, in order") {
    auto options = alone();
    options.fault_rates = FaultRates{};
    std::uint64_t events = 0;
    const auto failure = simulate({.worlds = 20, .world = options}, [&](World& world) {
        std::uint64_t last = 0;
        world.subscribe("billing", {"orders", "stock"}, [&](const Batch& batch) {
            world.expect(batch.attempt == 1, "the first attempt is the only one");
            for (const auto& event : batch.events) {
                const auto number = std::stoull(event.url.substr(event.url.rfind('/') + 1));
                world.expect(number > last, "each event arrives once, and in order");
                last = number;
                ++events;
            }
        });
        world.run();
    });
    CHECK_MESSAGE(!failure, std::string{failure ? failure->what() : ""});
    CHECK(events > 100);
}

TEST_CASE("a handler that throws gets its batch or its job again") {
    std::uint64_t batches = 0;
    std::uint64_t jobs = 0;
    const auto failure = simulate({.worlds = 20, .world = alone()}, [&](World& world) {
        std::set<Uid> thrown;
        std::map<std::int64_t, int> runs;
        world.subscribe("billing", {"orders"}, [&](const Batch& batch) {
            if (thrown.insert(batch.uid).second) throw std::runtime_error{"not the first time"};
            ++batches;
        });
        world.handle([&](const Job& job) {
            world.expect(job.name == "work", "the job is the one that was pushed");
            if (++runs[*job.arguments.front().get_if<std::int64_t>()] % 2 == 1) {
                throw std::runtime_error{"only every second time"};
            }
            ++jobs;
        });
        world.run();
    });
    CHECK_MESSAGE(!failure, std::string{failure ? failure->what() : ""});
    CHECK(batches > 100);
    CHECK(jobs > 100);
}

TEST_CASE("a simulation reports a batch that never succeeds as undelivered") {
    auto options = alone();
    options.fault_rates = FaultRates{};
    const auto failure = simulate({.worlds = 1, .world = options}, [](World& world) {
        world.subscribe("billing", {"orders"},
                        [](const Batch&) { throw std::runtime_error{"never"}; });
        world.run();
    });
    REQUIRE(failure.has_value());
    CHECK(failure->broken() == "work is left long after all faults ended");
}
