/// @file
/// The orderly stop of a dispatcher.

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "support/delivery_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("a dispatcher without deliveries under way closes at once") {
    DeliveryScene scene;
    scene.run();
    CHECK(!scene.dispatcher.closed());
    scene.close(scene.clock.now() + Duration{10'000});
    CHECK(scene.dispatcher.closed());
}

TEST_CASE("a closing dispatcher acquires no jobs and lets deliveries end") {
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

TEST_CASE("at the deadline of closing, the jobs of unfinished deliveries return to the queue") {
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

    // A later report is ignored.
    scene.answer_all();
    scene.run_for(Duration{1'000});
    CHECK(scene.disturbed.times_of<SettleDelivery>().empty());
    CHECK(scene.queue() == QueueStatus{0, 2, 0});
    CHECK(scene.log.count(LogLevel::warning, "") == 0);
}

TEST_CASE("a settlement that the store refused is repeated until the deadline of closing") {
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

TEST_CASE("finished deliveries are settled even when closing has a deadline of now") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.run();
    scene.transport.answer({});
    scene.close(scene.clock.now());
    CHECK(scene.dispatcher.closed());
    CHECK(scene.counter("delivery.batches", "billing", "success") == 1);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE(
    "settlements under way at the deadline of closing are awaited, and other jobs are released") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.subscribe("audit");
    scene.publish();
    scene.run();
    scene.disturbed.delay<SettleDelivery>();
    scene.transport.answer({});
    scene.run();
    scene.close(scene.clock.now());
    CHECK(!scene.dispatcher.closed());
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    scene.run_for(Duration{4'000});
    CHECK(!scene.dispatcher.closed());
    scene.disturbed.release();
    scene.run();
    CHECK(scene.dispatcher.closed());
    CHECK(scene.log.count(LogLevel::warning, "") == 0);
}

TEST_CASE("a dispatcher closes 5 s after the deadline, even if the store settles nothing") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.run();
    scene.disturbed.delay<SettleDelivery>();
    scene.disturbed.delay<RetireWorker>();
    scene.transport.answer({});
    scene.run();
    scene.close(scene.clock.now());
    scene.run_for(Duration{6'000});
    CHECK(scene.log.count(LogLevel::warning,
                          "gave up settling jobs that have ended: 1 will run again") == 1);
    CHECK(!scene.dispatcher.closed());
    scene.disturbed.release();
    scene.run();
    CHECK(scene.dispatcher.closed());
}

TEST_CASE("a store that refuses settlements after the deadline is asked again for 5 s") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.run();
    scene.disturbed.refuse<SettleDelivery>(3);
    scene.transport.answer({});
    scene.close(scene.clock.now());
    scene.run_for(Duration{1'000});
    CHECK(scene.dispatcher.closed());
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("after 5 s without replies to settlements, the dispatcher stops waiting, and logs this") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.run();
    scene.disturbed.refuse<SettleDelivery>(1'000);
    scene.transport.answer({});
    scene.close(scene.clock.now());
    scene.run_for(Duration{4'999});
    CHECK(!scene.dispatcher.closed());
    scene.run_for(Duration{1});
    CHECK(scene.dispatcher.closed());
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    CHECK(scene.log.count(LogLevel::warning,
                          "gave up settling jobs that have ended: 1 will run again") == 1);
}

TEST_CASE(
    "a callback that runs at the deadline of closing is awaited, and its delivery is settled") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.run();
    scene.transport.refuse_withdrawal(true);
    scene.close(scene.clock.now());
    scene.run_for(Duration{60'000});
    CHECK(!scene.dispatcher.closed());
    CHECK(scene.queue().pending == 1);
    scene.disturbed.refuse<SettleDelivery>(3);
    scene.answer_all();
    CHECK(!scene.dispatcher.closed());
    scene.run_for(Duration{1'000});
    CHECK(scene.dispatcher.closed());
    CHECK(scene.queue() == QueueStatus{});
    CHECK(scene.disturbed.times_of<AcquireJobs>().size() == 1);
}

TEST_CASE("no delivery begins after the deadline of closing") {
    DeliveryScene scene;
    scene.subscribe("audit");
    scene.publish();
    scene.run();
    scene.transport.refuse_withdrawal(true);
    scene.subscribe("billing");
    scene.disturbed.delay<BeginDelivery>();
    scene.publish();
    scene.run();
    scene.close(scene.clock.now());
    scene.disturbed.release();
    scene.run();
    CHECK(scene.deliveries() == 1);
    // The job is released at once, although a delivery is still under way.
    CHECK(scene.queue() == QueueStatus{.ready = 2, .pending = 1});
    scene.answer_all();
    CHECK(scene.dispatcher.closed());
    CHECK(scene.queue() == QueueStatus{.ready = 2});
}

TEST_CASE("a delivery whose beginning is confirmed at the deadline of closing is not sent") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.disturbed.delay<BeginDelivery>();
    scene.publish();
    scene.run();
    scene.disturbed.release();
    scene.close(scene.clock.now());
    CHECK(scene.deliveries() == 0);
    CHECK(scene.dispatcher.closed());
    CHECK(scene.queue() == QueueStatus{.ready = 1});
}

TEST_CASE("jobs acquired while the dispatcher closes are not lost") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.disturbed.delay<AcquireJobs>();
    scene.run();
    scene.close(scene.clock.now() + Duration{10'000});
    scene.run_for(Duration{1'000});
    scene.disturbed.release();
    scene.run();
    scene.answer_all();
    CHECK(scene.dispatcher.closed());
    // The jobs were delivered or released, so there is no lease left.
    CHECK(scene.queue().pending == 0);
    CHECK(scene.queue().ready == (scene.deliveries() == 0 ? 1 : 0));
}

TEST_CASE("a closing dispatcher sends heartbeats until its last delivery ends") {
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

TEST_CASE("a closed dispatcher is no longer a worker of the store") {
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

TEST_CASE("a closed dispatcher has released all of its jobs, however many") {
    DeliveryScene scene{{.in_flight_max = 4'096}};
    for (int i = 0; i < 70; ++i) {
        scene.subscribe("billing-" + std::to_string(i), {.max_events = 1, .max_in_flight = 16});
    }
    scene.publish(16);
    scene.run();
    REQUIRE(scene.queue().pending > released_max);
    scene.close(scene.clock.now());
    CHECK(scene.dispatcher.closed());
    CHECK(scene.queue().pending == 0);
}

TEST_CASE("a dispatcher closes even if the store cannot release its jobs") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.run();
    scene.disturbed.refuse<RetireWorker>(1'000);
    scene.close(scene.clock.now());
    scene.run_for(Duration{10'000});
    CHECK(scene.dispatcher.closed());
    CHECK(scene.log.count(LogLevel::warning, "could not release the leased jobs") == 1);
}

TEST_CASE("a transport's report after the destruction of the dispatcher is ignored") {
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
