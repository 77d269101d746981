/// @file
/// Several dispatchers on one store. Some of them die.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "support/delivery_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A second dispatcher on the store of a scene, with its own transport.
struct Colleague {
    explicit Colleague(DeliveryScene& in)
        : scene{in}, dispatcher{in.store, in.complete({.transports = {&transport}})} {}

    void run() { runner.run(scene.clock.now()); }

    DeliveryScene& scene;
    testing::ScriptedTransport transport;
    Dispatcher dispatcher;
    HandRunner runner{dispatcher};
};

/// Lets both run until `at`. Each is polled at its requested times.
void run_both_until(DeliveryScene& scene, Colleague& other, TimePoint at) {
    while (true) {
        scene.run();
        other.run();
        const auto next = std::min(scene.runner.next(), other.runner.next());
        if (next > at) break;
        scene.clock.set(next);
    }
    scene.clock.set(at);
}

}  // namespace

TEST_CASE("a live dispatcher keeps its leases during long deliveries") {
    DeliveryScene scene;
    Colleague other{scene};
    scene.subscribe("billing");
    scene.publish();
    scene.run();
    REQUIRE(scene.transport.under_way() == 1);
    run_both_until(scene, other, scene.clock.now() + Duration{60'000});
    CHECK(other.transport.deliveries().empty());
    scene.answer_all();
    CHECK(scene.queue() == QueueStatus{});
    CHECK(scene.log.count(LogLevel::warning, "lost the lease") == 0);
}

TEST_CASE("another dispatcher delivers the batches of a dead dispatcher within 5 s") {
    DeliveryScene scene;
    Colleague dead{scene};
    scene.run();
    dead.run();
    const auto last_seen = scene.clock.now();
    scene.subscribe("billing");
    scene.publish();
    dead.run();
    REQUIRE(dead.transport.under_way() == 1);

    scene.run_until(last_seen + Duration{3'999});
    CHECK_MESSAGE(scene.deliveries() == 0, "it might be alive");
    scene.run_until(last_seen + Duration{5'000});
    CHECK(scene.delivered_to("billing") == "1");
    CHECK(scene.transport.deliveries().front().attempt == 2);
    bool counted = false;
    for (const auto& counter : scene.bus.counters().value()) {
        if (counter.key.name == "jobs.scrubbed") counted = counter.value == 1;
    }
    CHECK(counted);
}

TEST_CASE("a dispatcher that was declared dead learns that its lease is lost") {
    DeliveryScene scene;
    Colleague stalled{scene};
    scene.subscribe("billing");
    scene.publish();
    stalled.run();
    scene.run_for(Duration{5'000});
    REQUIRE(scene.delivered_to("billing") == "1");

    // The stalled dispatcher continues. Its success does not settle the new lease.
    stalled.transport.answer({});
    stalled.run();
    CHECK(scene.log.count(
              LogLevel::warning,
              "lost the lease of a delivery to 'bill…': the batch will be delivered again") == 1);
    CHECK(scene.queue().pending == 1);
    CHECK(scene.counter("delivery.batches", "billing", "success") == 0);
    scene.answer_all();
    CHECK(scene.counter("delivery.batches", "billing", "success") == 1);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("two dispatchers keep a subscriber's batches in order, and deliver each once") {
    DeliveryScene scene;
    Dispatcher other{scene.store, scene.complete({})};
    HandRunner others{other};
    scene.subscribe("billing", {.max_events = 1});
    std::string expected;
    int taken_by_other = 0;
    for (int number = 1; number <= 30; ++number) {
        scene.publish();
        expected += (number == 1 ? "" : " ") + std::to_string(number);
    }
    do {
        others.run(scene.clock.now());
        scene.run();
        CHECK(scene.dispatcher.in_flight() + other.in_flight() <= 1);
        taken_by_other += other.in_flight() == 1 ? 1 : 0;
    } while (scene.transport.answer({}));
    CHECK(taken_by_other > 0);
    CHECK(scene.delivered_to("billing") == expected);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("a worker that died before the clock was set back is still found dead") {
    DeliveryScene scene;
    scene.subscribe("billing");
    {
        Colleague dead{scene};
        scene.publish();
        dead.run();
        REQUIRE(dead.transport.under_way() == 1);
    }
    scene.clock.advance(Duration{-3'600'000});
    scene.run_for(Duration{6'000});
    CHECK(scene.delivered_to("billing") == "1");
}

TEST_CASE("a dispatcher goes on finding dead workers after the clock was set back") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.run();
    {
        Colleague dead{scene};
        scene.publish();
        dead.run();
        REQUIRE(dead.transport.under_way() == 1);
    }
    scene.clock.advance(Duration{-3'600'000});
    scene.runner.wake();  // A Runner sleeps for a second at most.
    scene.run_for(Duration{6'000});
    CHECK(scene.delivered_to("billing") == "1");
}

TEST_CASE("all jobs of a dead worker are released at once, however many") {
    DeliveryScene scene;
    const auto dead = *Uid::parse("DEADDEADDEADDEADDEAD");
    constexpr auto jobs = 2 * released_max + 1;
    for (std::uint64_t i = 0; i < jobs; ++i) {
        perform(scene.store, PushJob{"work", std::to_string(i), scene.clock.now()},
                scene.clock.now())
            .value();
    }
    perform(scene.store, AcquireJobs{.queue = "work", .worker = dead, .limit = UINT32_MAX},
            scene.clock.now())
        .value();
    scene.run();
    scene.run_for(Duration{5'000});
    CHECK(perform(scene.store, CountJobs{"work"}, scene.clock.now()).value() ==
          QueueStatus{.ready = jobs});
}
