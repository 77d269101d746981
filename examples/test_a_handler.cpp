/// @file
/// Tests a handler without a thread, a sleep or a file: the test advances the clock, and the
/// callback runs inside `poll`.

#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include <routemaster/routemaster.hpp>
#include <routemaster/testing/manual_clock.hpp>

namespace rm = routemaster;

namespace {

/// Polls like a `Runner`, until no more work is due at the current time.
void run(rm::Dispatcher& dispatcher, const rm::Clock& clock) {
    while (dispatcher.poll(clock.now()) <= clock.now()) {
    }
}

}  // namespace

int main() {
    rm::testing::ManualClock clock;
    rm::MemoryStore store;
    rm::Bus bus{store, {.clock = &clock}};
    rm::LocalTransport transport{bus.callbacks(), {.threads = 0}};
    rm::Dispatcher dispatcher{store, {.transports = {&transport}}};

    int charges = 0;
    bus.subscriber("billing")
        .subscribe({"orders"},
                   [&](const rm::Batch& batch) {
                       if (batch.attempt == 1) throw std::runtime_error{"the bank is closed"};
                       charges += static_cast<int>(batch.events.size());
                   })
        .value();
    bus.publish({.topic = "orders",
                 .type = rm::EventType::create,
                 .url = "https://shop.example/orders/42"})
        .value();

    run(dispatcher, clock);
    const bool failed_first = charges == 0;
    clock.advance(rm::Duration{60'000});  // Longer than any retry delay.
    run(dispatcher, clock);
    const bool charged_then = charges == 1;

    std::cout << (failed_first && charged_then ? "charged once, at the second attempt\n"
                                               : "the handler is wrong\n");
    return failed_first && charged_then ? EXIT_SUCCESS : EXIT_FAILURE;
}
