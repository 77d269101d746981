/// @file
/// The orderly end of a dispatcher.

#include <doctest/doctest.h>

#include <optional>

#include "support/delivery_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("a dispatcher with nothing under way closes at once") {
    DeliveryScene scene;
    scene.run();
    CHECK(!scene.dispatcher.closed());
    scene.close(scene.clock.now() + Duration{10'000});
    CHECK(scene.dispatcher.closed());
}

TEST_CASE("a dispatcher that closes acquires nothing new and lets deliveries end") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 1});
    scene.publish(3);
    scene.run();
    scene.close(scene.clock.now() + Duration{10'000});
    const auto acquisitions = scene.disturbed.times_of<AcquireJobs>().size();
    scene.run_for(Duration{5'000});
    CHECK(!scene.dispatcher.closed());
    scene.answer_all();
    CHECK(scene.dispatcher.closed());
    CHECK(scene.delivered_to("billing") == "1");
    CHECK(scene.disturbed.times_of<AcquireJobs>().size() == acquisitions);
    CHECK(scene.counter("delivery.batches", "billing", "success") == 1);
    CHECK(scene.queue() == QueueStatus{0, 2, 0});
}

TEST_CASE("at the deadline what is under way goes back to the queue") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 1});
    scene.subscribe("audit", {.max_events = 1});
    scene.publish(1);
    scene.run();
    const auto deadline = scene.clock.now() + Duration{10'000};
    scene.close(deadline);
    scene.run_until(deadline - Duration{1});
    CHECK(!scene.dispatcher.closed());
    CHECK(scene.queue().pending == 2);
    scene.run_until(deadline);
    CHECK(scene.dispatcher.closed());
    CHECK(scene.dispatcher.in_flight() == 0);
    CHECK(scene.queue() == QueueStatus{0, 2, 0});

    // A report that arrives afterwards is ignored.
    scene.answer_all();
    scene.run_for(Duration{1'000});
    CHECK(scene.disturbed.times_of<SettleDelivery>().empty());
    CHECK(scene.queue() == QueueStatus{0, 2, 0});
    CHECK(scene.log.count(LogLevel::warning, "") == 0);
}

TEST_CASE("a settlement that the store refuses is repeated until the deadline") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.run();
    scene.disturbed.refuse<SettleDelivery>(3);
    scene.close(scene.clock.now() + Duration{10'000});
    scene.answer_all();
    CHECK(!scene.dispatcher.closed());
    scene.run_for(Duration{700});
    CHECK(scene.dispatcher.closed());
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("jobs that were being acquired when it closed are not lost") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.disturbed.hold<AcquireJobs>();
    scene.run();
    scene.close(scene.clock.now() + Duration{10'000});
    scene.run_for(Duration{1'000});
    scene.disturbed.release();
    scene.run();
    scene.answer_all();
    CHECK(scene.dispatcher.closed());
    // Whether they were still delivered or given back, nobody holds them.
    CHECK(scene.queue().pending == 0);
    CHECK(scene.queue().ready == (scene.deliveries() == 0 ? 1 : 0));
}

TEST_CASE("a dispatcher that closes stays alive for as long as it delivers") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.run();
    Dispatcher other{scene.store, scene.complete({})};
    HandRunner others{other};
    scene.close(scene.clock.now() + Duration{60'000});
    for (int seconds = 0; seconds < 50; ++seconds) {
        scene.run_for(Duration{1'000});
        others.run(scene.clock.now());
    }
    CHECK_MESSAGE(scene.deliveries() == 1, "the other took it for dead");
    scene.answer_all();
    CHECK(scene.dispatcher.closed());
    CHECK(scene.counter("delivery.batches", "billing", "success") == 1);
}

TEST_CASE("a dispatcher that is closed is forgotten as a worker") {
    DeliveryScene scene;
    scene.run();
    scene.run_for(Duration{60'000});
    scene.close(scene.clock.now());
    REQUIRE(scene.dispatcher.closed());
    scene.clock.advance(Duration{60'000});
    perform(scene.store, ScrubWorkers{Duration{0}}, scene.clock.now()).value();
    for (const auto& counter : scene.bus.counters().value()) {
        CHECK(counter.key.name != "workers.scrubbed");
    }
    CHECK(scene.run() == never);
}

TEST_CASE("a dispatcher that is closed gives back all that was under way, however much it was") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 1, .max_in_flight = 1'000});
    scene.subscribe("audit", {.max_events = 1, .max_in_flight = 1'000});
    for (int i = 0; i < 600; ++i) scene.publish();
    scene.run();
    REQUIRE(scene.queue().pending > given_back_max);
    scene.close(scene.clock.now());
    CHECK(scene.dispatcher.closed());
    CHECK(scene.queue().pending == 0);
}

TEST_CASE("a store that cannot give back what was under way does not keep it from closing") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.run();
    scene.disturbed.refuse<RetireWorker>(1);
    scene.close(scene.clock.now());
    CHECK(scene.dispatcher.closed());
    CHECK(scene.log.count(LogLevel::warning, "could not give back what was under way") == 1);
}

TEST_CASE("a report that comes after the dispatcher is gone goes nowhere") {
    std::optional<DeliveryScene> scene{std::in_place};
    testing::ScriptedTransport transport;
    {
        Dispatcher brief{scene->store, {.transports = {&transport}}};
        HandRunner runner{brief};
        scene->subscribe("billing");
        scene->publish();
        runner.run(scene->clock.now());
        REQUIRE(transport.under_way() == 1);
    }
    CHECK(transport.answer({}));
    CHECK(scene->queue().pending == 1);
}
