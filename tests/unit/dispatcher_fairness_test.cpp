/// @file
/// The sharing of a dispatcher's deliveries among subscribers.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "support/delivery_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

constexpr std::uint32_t slots = 64;

/// A dispatcher with 64 slots for deliveries, 8 of which are its reserve.
struct FairScene : DeliveryScene {
    FairScene() : DeliveryScene{{.in_flight_max = slots}} {}

    /// Subscribes with one event per batch, and up to 1,000 batches under way.
    void subscribe_greedy(const std::string& token) {
        subscribe(token, {.max_events = 1, .max_in_flight = 1'000});
    }

    /// Subscribes with one event per batch, and one batch under way.
    void subscribe_modest(const std::string& token) { subscribe(token, {.max_events = 1}); }

    /// The number of begun deliveries of a subscriber.
    [[nodiscard]] std::size_t begun(const std::string& token) const {
        const auto all = transport.deliveries();
        return static_cast<std::size_t>(std::count_if(
            all.begin(), all.end(), [&](const auto& each) { return each.subscriber == token; }));
    }
};

std::string numbered(const char* name, int number) { return name + std::to_string(number); }

}  // namespace

TEST_CASE("a single busy subscriber gets most deliveries, except an eighth in reserve") {
    FairScene scene;
    scene.subscribe_greedy("billing");
    scene.publish(500);
    scene.run();
    CHECK(scene.transport.under_way() == 16);
    scene.run_for(Duration{10'000});
    CHECK(scene.transport.under_way() == 16);
    std::size_t most = 0;
    while (scene.answer_all() > 0) most = std::max(most, scene.transport.under_way());
    // q = 8 (64 - 8 - q) has the solution q = 49.8.
    CHECK(most >= 49);
    CHECK(most <= 51);
    CHECK(scene.begun("billing") == 500);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("subscribers that never respond leave the reserve to healthy subscribers") {
    FairScene scene;
    scene.subscribe_greedy("a-silent");
    scene.subscribe_greedy("b-silent");
    scene.publish(500);
    scene.run();
    const auto silent = scene.transport.under_way();
    CHECK(silent <= slots - slots / 8);
    CHECK(scene.begun("b-silent") > 0);
    scene.bus.subscriber("a-silent").unsubscribe("orders").value();
    scene.bus.subscriber("b-silent").unsubscribe("orders").value();
    scene.subscribe_modest("healthy");
    for (int i = 0; i < 20; ++i) {
        scene.publish();
        scene.run();
        REQUIRE(scene.begun("healthy") == static_cast<std::size_t>(i) + 1);
        CHECK(scene.transport.answer_last({}));
        scene.run();
    }
    CHECK(scene.transport.under_way() == silent);
}

TEST_CASE(
    "the more subscribers compete for deliveries, the fewer deliveries each may have at once") {
    FairScene scene;
    for (int i = 0; i < 20; ++i) scene.subscribe_greedy(numbered("silent-", i));
    scene.publish(100);
    scene.run();
    for (int i = 0; i < 20; ++i) CHECK(scene.begun(numbered("silent-", i)) >= 1);
    CHECK(scene.transport.under_way() <= slots - slots / 8);
}

TEST_CASE("a subscriber with one delivery at a time may use any free delivery, even the reserve") {
    FairScene scene;
    for (int i = 0; i < 100; ++i) scene.subscribe_modest(numbered("silent-", i));
    scene.publish();
    scene.run();
    CHECK(scene.transport.under_way() == slots);
}

TEST_CASE("deferred batches are delivered in order as soon as capacity is free") {
    FairScene scene;
    scene.subscribe_greedy("billing");
    scene.publish(100);
    scene.run();
    const auto attempts = scene.disturbed.times_of<BeginDelivery>().size();
    CHECK(attempts <= 64);
    scene.run_for(Duration{5'000});
    CHECK_MESSAGE(scene.disturbed.times_of<BeginDelivery>().size() == attempts,
                  "deferred batches are tried again and again");
    scene.answer_all();
    scene.answer_all();
    scene.answer_all();
    std::string all;
    for (int i = 1; i <= 100; ++i) all += (i == 1 ? "" : " ") + std::to_string(i);
    CHECK(scene.delivered_to("billing") == all);
    CHECK(scene.counter("delivery.batches", "billing", "throttled") == 0);
}

TEST_CASE("unhealthy subscribers never use the reserve, and continue when a delivery ends") {
    FairScene scene;
    for (int i = 0; i < 100; ++i) scene.subscribe_modest(numbered("failing-", i));
    scene.publish();
    scene.run();
    while (scene.transport.deliveries().size() < 100) scene.answer_all(refusal());
    scene.answer_all(refusal());
    // Each subscriber has failed once, and is retried.
    scene.run_for(Duration{10'000});
    const auto failing = scene.transport.under_way();
    CHECK(failing == slots - slots / 8);
    scene.subscribe_modest("healthy");
    for (int i = 0; i < 100; ++i) {
        scene.bus.subscriber(numbered("failing-", i)).unsubscribe("orders").value();
    }
    scene.publish();
    scene.run_for(Duration{20});  // The dispatcher may have just ignored a wake-up without jobs.
    CHECK(scene.begun("healthy") == 1);
    CHECK(scene.transport.answer_last({}));
    // Each deferred batch is still delivered.
    for (int i = 0; i < 20; ++i) {
        scene.answer_all();
        scene.run_for(Duration{2'000});
    }
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE(
    "a dispatcher of few concurrent deliveries has no reserve, and one subscriber may use all") {
    for (const std::uint32_t few : {1U, 2U, 4U, 7U}) {
        DeliveryScene scene{{.in_flight_max = few}};
        scene.subscribe("billing", {.max_events = 1, .max_in_flight = 1'000});
        scene.publish(50);
        scene.run();
        CHECK(scene.transport.under_way() == few);
        const Result<void> delivered;
        while (scene.answer_all(delivered) > 0) CHECK(scene.transport.under_way() <= few);
        CHECK(scene.queue() == QueueStatus{});
    }
}

TEST_CASE("two dispatchers on one store do not starve each other's subscribers") {
    FairScene scene;
    testing::ScriptedTransport transport;
    Dispatcher other{scene.store,
                     scene.complete({.transports = {&transport}, .in_flight_max = 64})};
    HandRunner others{other};
    scene.subscribe_greedy("silent");
    scene.publish(500);
    scene.run();
    others.run(scene.clock.now());
    CHECK(scene.transport.under_way() <= 56);
    CHECK(transport.under_way() <= 56);
    scene.subscribe_modest("healthy");
    scene.publish();
    scene.run();
    others.run(scene.clock.now());
    const auto theirs = transport.deliveries();
    const auto begun =
        scene.begun("healthy") +
        static_cast<std::size_t>(std::count_if(theirs.begin(), theirs.end(), [](const auto& each) {
            return each.subscriber == "healthy";
        }));
    CHECK(begun == 1);
}
