#include "routemaster/callbacks.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string_view>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/delivery_worker.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "routemaster/transport/local.hpp"
#include "support/example_events.hpp"
#include "support/recorded_log.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

using test::order;

/// A bus with a subscriber that has a callback in this process.
struct Program {
    Program() {
        bus.emplace(store, BusOptions{.clock = &clock, .log = log.sink()});
        bus->subscriber("billing").subscribe({"orders"}, [](const Batch&) {}).value();
    }

    void publish() { bus->publish(order).value(); }

    [[nodiscard]] std::size_t warnings() const {
        return log.count(LogLevel::warning,
                         "no DeliveryWorker calls the callbacks of this program");
    }

    testing::ManualClock clock;
    MemoryStore store;
    RecordedLog log;
    std::optional<Bus> bus;
};

}  // namespace

TEST_CASE("one warning reports callbacks that no worker calls, after events have waited for 10 s") {
    Program program;
    program.clock.advance(Duration{60'000});
    program.publish();
    program.clock.advance(Duration{9'999});
    program.publish();
    CHECK(program.warnings() == 0);
    program.clock.advance(Duration{1});
    program.publish();
    CHECK(program.warnings() == 1);
    program.clock.advance(Duration{60'000});
    program.publish();
    program.bus->subscriber("audit").subscribe({"orders"}, [](const Batch&) {}).value();
    program.bus.reset();
    CHECK(program.warnings() == 1);
}

TEST_CASE("the end of a bus warns of callbacks that no worker calls") {
    Program program;
    program.bus.reset();
    CHECK(program.warnings() == 1);
}

TEST_CASE("events published by publisher handles or by publish_many also cause the warning") {
    Program program;
    program.bus->publisher("shop--1").publish(order).value();
    program.clock.advance(Duration{10'000});
    const std::vector<Event> many{order};
    static_cast<void>(program.bus->publish_many(many));
    CHECK(program.warnings() == 1);
}

TEST_CASE("callbacks whose dispatcher is polled cause no warning") {
    Program program;
    LocalTransport transport{program.bus->callbacks(), {.threads = 0}};
    Dispatcher dispatcher{program.store, {.transports = {&transport}}};
    dispatcher.poll(program.clock.now());
    program.publish();
    program.clock.advance(Duration{10'000});
    program.publish();
    CHECK(program.warnings() == 0);
}

TEST_CASE("callbacks whose dispatcher is never polled cause a warning") {
    Program program;
    {
        LocalTransport transport{program.bus->callbacks(), {.threads = 0}};
        const Dispatcher dispatcher{program.store, {.transports = {&transport}}};
    }
    program.bus.reset();
    CHECK(program.warnings() == 1);
}

TEST_CASE("a worker of a bus calls its callbacks, and logs no warning") {
    Program program;
    { const DeliveryWorker worker{*program.bus}; }
    program.bus.reset();
    CHECK(program.warnings() == 0);
}

TEST_CASE("a program without callbacks gets no warning about callbacks") {
    Program program;
    program.publish();
    program.bus->subscriber("billing").remove().value();
    program.clock.advance(Duration{10'000});
    program.publish();
    program.bus.reset();
    CHECK(program.warnings() == 0);
}
