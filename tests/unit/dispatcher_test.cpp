#include "routemaster/dispatcher.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "routemaster/transport/local.hpp"
#include "support/delivery_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// Reports immediately, with this number of undecodable messages.
class LossyTransport final : public Transport {
public:
    explicit LossyTransport(std::uint64_t undecodable) : undecodable_{undecodable} {}

    [[nodiscard]] bool serves(std::string_view) const override { return true; }
    void deliver(Delivery, DeliveryDone done) override { done({{}, undecodable_}); }

private:
    std::uint64_t undecodable_;
};

/// Serves https callbacks only.
class PickyTransport final : public Transport {
public:
    [[nodiscard]] bool serves(std::string_view callback) const override {
        return callback.starts_with("https:");
    }
    void deliver(Delivery, DeliveryDone done) override {
        ++deliveries;
        done({});
    }

    int deliveries = 0;
};

}  // namespace

TEST_CASE(
    "a batch that is not full is delivered at the due time that poll returns, and not before") {
    DeliveryScene scene{{.heartbeat_interval = Duration{3'600'000},
                         .worker_silence = Duration{7'200'000},
                         .poll_interval = Duration{3'600'000}}};
    scene.subscribe("billing", {.timeout = Duration{700}});
    scene.run();
    scene.publish(2);
    const auto due = scene.clock.now() + Duration{700};
    CHECK(scene.run() == due);
    scene.run_until(due - Duration{1});
    CHECK(scene.deliveries() == 0);
    CHECK(scene.run() == due);
    scene.run_until(due);
    CHECK(scene.delivered_to("billing") == "1,2");
}

TEST_CASE("a full batch is delivered at once") {
    DeliveryScene scene;
    scene.subscribe("billing", {.timeout = Duration{60'000}, .max_events = 3});
    scene.run();
    scene.publish(2);
    scene.run();
    CHECK(scene.deliveries() == 0);
    scene.publish(1);
    scene.run();
    CHECK(scene.delivered_to("billing") == "1,2,3");
}

TEST_CASE("a delivery has the settings of its subscriber") {
    DeliveryScene scene;
    scene.subscribe("billing", {.callback = "https://billing.example/in", .uuid = "secret"});
    const auto begun = scene.clock.now();
    scene.publish();
    scene.run_for(Duration{5});
    REQUIRE(scene.deliveries() == 1);
    const auto delivery = scene.transport.deliveries().front();
    CHECK(delivery.subscriber == "billing");
    CHECK(delivery.callback == "https://billing.example/in");
    CHECK(delivery.uuid == "secret");
    CHECK(delivery.attempt == 1);
    CHECK(delivery.created_at == begun);
    scene.answer_all();
    CHECK(scene.queue() == QueueStatus{});
    CHECK(scene.dispatcher.in_flight() == 0);
}

TEST_CASE("a subscriber has one delivery under way, and gets its batches in order") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 2});
    scene.publish(7);
    scene.run();
    CHECK(scene.delivered_to("billing") == "1,2");
    scene.run_for(Duration{10'000});
    CHECK(scene.deliveries() == 1);
    while (scene.answer_all() > 0) {
        CHECK(scene.transport.under_way() <= 1);
    }
    CHECK(scene.delivered_to("billing") == "1,2 3,4 5,6 7");
}

TEST_CASE("max_in_flight lets more batches of a subscriber be under way") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 1, .max_in_flight = 3});
    scene.publish(5);
    scene.run();
    CHECK(scene.transport.under_way() == 3);
    CHECK(scene.delivered_to("billing") == "1 2 3");
    scene.transport.answer({});
    scene.run();
    CHECK(scene.transport.under_way() == 3);
    CHECK(scene.delivered_to("billing") == "1 2 3 4");
}

TEST_CASE("a slow subscriber delays only its own deliveries") {
    DeliveryScene scene;
    scene.subscribe("slow", {.max_events = 1});
    scene.publish(20);
    scene.run();
    CHECK(scene.transport.under_way() == 1);
    scene.subscribe("quick", {.max_events = 1});
    scene.publish();
    scene.run();
    CHECK(scene.delivered_to("quick") == "21");
    CHECK(scene.delivered_to("slow") == "1");
}

TEST_CASE("no more deliveries are under way than the options allow") {
    DeliveryScene scene{{.in_flight_max = 5}};
    for (int i = 0; i < 8; ++i) scene.subscribe("s" + std::to_string(i), {.max_events = 1});
    scene.publish(2);
    scene.run();
    std::size_t delivered = 0;
    while (scene.transport.under_way() > 0) {
        CHECK(scene.transport.under_way() <= 5);
        CHECK(scene.dispatcher.in_flight() == scene.transport.under_way());
        scene.transport.answer({});
        scene.run();
        ++delivered;
    }
    CHECK(delivered == 16);
}

TEST_CASE("many subscribers with many queued batches take turns") {
    constexpr std::size_t subscribers = 200;
    constexpr int batches = 5;
    DeliveryScene scene{{.in_flight_max = 64}};
    for (std::size_t i = 0; i < subscribers; ++i) {
        scene.subscribe("s" + std::to_string(i), {.max_events = 1});
    }
    scene.publish(batches);
    scene.run();
    std::map<std::string, std::size_t> turns;
    std::size_t seen = 0;
    int unfair = 0;
    while (scene.transport.under_way() > 0) {
        scene.transport.answer({});
        scene.run();
        const auto all = scene.transport.deliveries();
        for (; seen < all.size(); ++seen) {
            const auto turn = ++turns[all[seen].subscriber];
            const auto behind = subscribers * (turn - 1);
            // A subscriber gets its n-th turn after nearly all other subscribers had n - 1 turns.
            if (seen + 64 < behind) ++unfair;
        }
    }
    CHECK(seen == subscribers * batches);
    CHECK(unfair == 0);
}

TEST_CASE("the batches of a removed subscriber end without a delivery") {
    DeliveryScene scene;
    scene.subscribe("billing", {.timeout = Duration{100}, .max_events = 2});
    scene.publish(3);
    CHECK(scene.bus.subscriber("billing").remove().value() == Removal::removed);
    scene.run_for(Duration{100});
    CHECK(scene.deliveries() == 0);
    CHECK(scene.queue() == QueueStatus{});
    CHECK(scene.dispatcher.in_flight() == 0);
    CHECK(scene.counter("events.removed", "billing") == 3);
}

TEST_CASE("a subscriber removed during its delivery gets no further delivery") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 1});
    scene.publish(2);
    scene.run();
    CHECK(scene.bus.subscriber("billing").remove().value() == Removal::removed);
    scene.answer_all(refusal());
    scene.run_for(Duration{60'000});
    CHECK(scene.deliveries() == 1);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("a delivery to a URL without a transport fails, and is retried") {
    PickyTransport picky;
    DeliveryScene scene{{.transports = {&picky}}};
    scene.subscribe("here", {.callback = "http://here.example/events"});
    scene.subscribe("there");
    scene.publish();
    scene.run();
    CHECK(picky.deliveries == 1);
    CHECK(scene.counter("delivery.batches", "here", "failure") == 1);
    CHECK(scene.log.count(LogLevel::warning, "no transport for http://here.example") == 1);
    scene.subscribe("here", {.callback = "https://here.example/events"});
    scene.run_for(Duration{150});
    CHECK(picky.deliveries == 2);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE(
    "a delivery to a callback waits for a process that serves it, and does not fail meanwhile") {
    PickyTransport picky;
    DeliveryScene scene{{.transports = {&picky}}};
    scene.subscribe("here", {.callback = "local:here"});
    scene.subscribe("there");
    scene.publish();
    scene.run_for(Duration{60'000});
    CHECK(picky.deliveries == 1);
    CHECK(scene.counter("delivery.batches", "here", "failure") == 0);
    CHECK(scene.status("here").health_points == 100);
    CHECK(scene.status("here").batches_queued == 1);
    CHECK(scene.queue() == QueueStatus{.ready = 1});

    // First comes a process with other callbacks, then one with this callback.
    Callbacks callbacks;
    callbacks.set("elsewhere", [](const Batch&) {});
    LocalTransport local{callbacks, {.threads = 0}};
    Dispatcher process{scene.store, scene.complete({.transports = {&local}})};
    HandRunner runner{process};
    runner.run(scene.clock.now());
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    int calls = 0;
    callbacks.set("here", [&](const Batch& batch) { calls += batch.attempt == 1 ? 1 : 100; });
    scene.subscribe("here", {.callback = "local:here"});
    runner.run(scene.clock.now());
    CHECK(calls == 1);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("with one delivery at a time, callbacks and URLs take turns") {
    Callbacks callbacks;
    std::string served;
    for (const char* name : {"a", "b"}) {
        callbacks.set(name, [&](const Batch& batch) { served += batch.subscriber; });
    }
    LocalTransport local{callbacks, {.threads = 0}};
    LossyTransport remote{0};
    DeliveryScene scene{{.transports = {&local, &remote}, .in_flight_max = 1}};
    for (const char* name : {"a", "b"}) {
        scene.subscribe(name, {.callback = "local:" + std::string{name}, .max_events = 1});
    }
    scene.subscribe("u", {.max_events = 1});
    scene.publish(4);
    for (int i = 0; i < 4; ++i) scene.run();
    CHECK(scene.counter("delivery.batches", "u", "success") == 4);
    CHECK(std::count(served.begin(), served.end(), 'a') == 4);
    CHECK(served.substr(0, 4).find('b') != std::string::npos);
}

TEST_CASE("a delivery to a callback uses the first transport that serves the callback") {
    PickyTransport picky;
    testing::ScriptedTransport any;
    any.reach({"here"});
    DeliveryScene scene{{.transports = {&picky, &any}}};
    scene.subscribe("here", {.callback = "local:here"});
    scene.subscribe("there");
    scene.publish();
    scene.run();
    CHECK(picky.deliveries == 1);
    REQUIRE(any.deliveries().size() == 1);
    CHECK(any.deliveries().front().subscriber == "here");
}

TEST_CASE("undecodable messages are counted and logged") {
    LossyTransport lossy{2};
    DeliveryScene scene{{.transports = {&lossy}}};
    scene.subscribe("billing");
    scene.publish(3);
    scene.run();
    CHECK(scene.counter("events.undecodable", "billing") == 2);
    CHECK(scene.log.count(LogLevel::error,
                          "2 undecodable messages omitted from a batch for 'bill…'") == 1);
    CHECK(scene.counter("delivery.batches", "billing", "success") == 1);
}

TEST_CASE("a job of another kind in the delivery queue is logged, and stops no delivery") {
    DeliveryScene scene;
    scene.subscribe("billing");
    perform(scene.store, PushJob{delivery_queue, "rubbish", scene.clock.now()}, scene.clock.now())
        .value();
    scene.publish();
    scene.run_for(Duration{1'000});
    CHECK(scene.delivered_to("billing") == "1");
    CHECK(scene.log.count(LogLevel::error, "queue 'main' holds a job that is not a delivery job") ==
          1);
    CHECK(scene.queue() == QueueStatus{1, 0, 1});
}

TEST_CASE("a job that becomes due during an acquisition is not missed") {
    DeliveryScene scene{{.poll_interval = Duration{3'600'000}}};
    scene.subscribe("billing", {.timeout = Duration{3'600'000}, .max_events = 1});
    scene.run();

    SUBCASE("the reply and the wake-up arrive together") {
        scene.clock.advance(Duration{3'600'000});
        scene.dispatcher.poll(scene.clock.now());
        scene.publish();
    }
    SUBCASE("the wake-up arrives before the reply") {
        scene.disturbed.delay<AcquireJobs>();
        scene.run_for(Duration{3'600'000});
        scene.publish();
        scene.run();
        CHECK(scene.deliveries() == 0);
        scene.disturbed.release();
    }
    scene.run();
    CHECK(scene.delivered_to("billing") == "1");
}

TEST_CASE("a dispatcher polls the queue even without wake-ups") {
    DeliveryScene scene{{.poll_interval = Duration{250}}};
    scene.run_for(Duration{1'000});
    CHECK(scene.disturbed.times_of<AcquireJobs>().size() == 5);
}

TEST_CASE("setting the clock back does not stop deliveries") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 1});
    scene.publish(2);
    scene.run();
    scene.disturbed.refuse<SettleDelivery>(1);
    scene.answer_all();
    scene.clock.advance(Duration{-3'600'000});
    const auto stepped = scene.clock.now();

    // A Runner sleeps for a second at most.
    scene.clock.advance(Duration{1'000});
    scene.dispatcher.poll(scene.clock.now());
    scene.run_for(Duration{2'000});
    CHECK(scene.delivered_to("billing") == "1 2");
    CHECK(scene.disturbed.times_of<AcquireJobs>().back() > stepped);
}

TEST_CASE("setting the clock forward delivers the batches that are then due") {
    DeliveryScene scene;
    scene.subscribe("billing", {.timeout = Duration{500}});
    scene.publish();
    scene.run();
    scene.clock.advance(Duration{3'600'000});
    scene.run();
    CHECK(scene.delivered_to("billing") == "1");
    scene.clock.advance(Duration{3'600'000});
    scene.run();
    CHECK_MESSAGE(scene.deliveries() == 1, "it takes itself for dead");
    scene.answer_all();
    CHECK(scene.queue() == QueueStatus{});
    CHECK(scene.log.count(LogLevel::warning, "lost the lease") == 0);
}
