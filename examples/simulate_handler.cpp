/// @file
/// Tests a handler in simulated worlds, in which machines crash and replies are lost. The
/// simulation detects that the first handler charges an order twice. The second handler records its
/// charges, and passes.

#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <string>

#include <routemaster/testing/simulation.hpp>

namespace rm = routemaster;

namespace {

/// Runs a handler in a hundred simulated worlds.
template <class Charge>
std::optional<rm::testing::SimulationFailure> try_out(Charge charge) {
    const rm::testing::WorldOptions options{.subscribers = 0, .jobs = 0};
    return rm::testing::simulate({.world = options}, [&](rm::testing::World& world) {
        std::map<std::string, int> charges;  // At the bank, so it survives all crashes.
        world.subscribe("billing", {"orders"}, [&](const rm::Batch& batch) {
            for (const auto& event : batch.events) {
                charge(charges, event.url);
                world.expect(charges[event.url] == 1, event.url + " is charged once");
            }
        });
        world.run();
    });
}

}  // namespace

int main() {
    const auto careless = try_out([](auto& charges, const auto& order) { ++charges[order]; });
    std::cout << (careless ? careless->what() : "nothing was found\n");

    const auto careful = try_out([](auto& charges, const auto& order) {
        if (!charges.contains(order)) ++charges[order];
    });
    std::cout << (careful ? careful->what() : "the careful one charges nobody twice\n");

    return careless && !careful ? EXIT_SUCCESS : EXIT_FAILURE;
}
