/// @file
/// Failing deliveries.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/delivery_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// Fails the only batch of `billing` `failures` times. Returns the waits between its attempts.
std::vector<Duration> waits_after_failures(DeliveryScene& scene, std::size_t failures) {
    std::vector<Duration> waits;
    scene.run();
    for (std::size_t i = 0; i < failures; ++i) {
        REQUIRE(scene.transport.under_way() == 1);
        const auto failed = scene.clock.now();
        scene.answer_all(refusal());
        while (scene.transport.under_way() == 0) {
            scene.clock.set(scene.runner.next());
            scene.run();
        }
        waits.push_back(scene.clock.now() - failed);
    }
    return waits;
}

/// Checks each wait against its minimum. Jitter adds less than a half, and rounding adds less than
/// half of the jitter.
void check_waits(const std::vector<Duration>& waits, const std::vector<int>& least) {
    REQUIRE(waits.size() == least.size());
    for (std::size_t i = 0; i < waits.size(); ++i) {
        CAPTURE(i);
        CHECK(waits[i].count() >= least[i]);
        CHECK(waits[i].count() <= least[i] * 9 / 4);
    }
}

/// The instants of retries of a hundred subscribers. Their attempts took `took`, and failed 1 ms
/// apart.
std::set<TimePoint> retry_times(Duration took) {
    DeliveryScene scene;
    constexpr std::size_t subscribers = 100;
    for (std::size_t i = 0; i < subscribers; ++i) scene.subscribe("s" + std::to_string(i));
    scene.publish();
    scene.run();
    scene.run_for(took);
    for (std::size_t i = 0; i < subscribers; ++i, scene.run_for(Duration{1})) {
        scene.transport.answer(refusal());
    }
    std::set<TimePoint> times;
    for (std::size_t retried = 0; retried < subscribers; scene.clock.set(scene.runner.next())) {
        scene.run();
        const auto under_way = scene.transport.under_way();
        if (under_way > 0) times.insert(scene.clock.now());
        for (std::size_t i = 0; i < under_way; ++i) scene.transport.answer({});
        retried += under_way;
    }
    return times;
}

}  // namespace

TEST_CASE("the waits between attempts double from 100 ms up to the longest backoff") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    const auto waits = waits_after_failures(scene, 12);
    check_waits(waits,
                {100, 200, 400, 800, 1'600, 3'200, 6'400, 12'800, 25'600, 51'200, 60'000, 60'000});
    CHECK(scene.status("billing").health_points == 100 - 12 * 2);
    CHECK(scene.transport.deliveries().back().attempt == 13);
    CHECK(scene.delivered_to("billing") == "1 1 1 1 1 1 1 1 1 1 1 1 1");
}

TEST_CASE("the waits of an unhealthy subscriber depend on its health") {
    DeliveryScene scene{{.health = {.damage_rate = -24}}};
    scene.subscribe("billing", {.max_events = 1});
    scene.publish(1);
    // The backoff is 3,750 ms at health 4.
    check_waits(waits_after_failures(scene, 4), {100, 200, 400, 3'750});
    REQUIRE(scene.status("billing").health_points == 4);
    scene.answer_all();
    scene.clock.advance(Duration{60'000});
    scene.publish(1);
    // The backoff is 60 s at health 0, for any attempt.
    check_waits(waits_after_failures(scene, 2), {60'000, 60'000});
    CHECK(scene.transport.deliveries().back().attempt == 3);
}

TEST_CASE("the longest backoff limits every wait") {
    DeliveryScene scene{{.health = {.damage_rate = -100, .backoff_max = Duration{150}}}};
    scene.subscribe("billing");
    scene.publish();
    check_waits(waits_after_failures(scene, 4), {150, 150, 150, 150});
}

TEST_CASE("jitter spreads the waits of many subscribers") {
    DeliveryScene scene;
    constexpr std::size_t subscribers = 100;
    for (std::size_t i = 0; i < subscribers; ++i) scene.subscribe("s" + std::to_string(i));
    scene.publish();
    scene.run();
    scene.answer_all(refusal());
    scene.run_for(Duration{99});
    CHECK(scene.transport.under_way() == 0);
    scene.run_for(Duration{32});
    const auto early = scene.transport.under_way();
    CHECK(early > subscribers / 5);
    CHECK(early < subscribers * 4 / 5);
    scene.run_for(Duration{19 + 64});
    CHECK(scene.transport.under_way() == subscribers);
}

TEST_CASE("subscribers that failed at different times are retried together") {
    CHECK(retry_times(Duration{0}).size() <= 9);  // Every 32 ms, for at most 250 ms.
}

TEST_CASE("subscribers whose failures are slow are retried together in larger groups") {
    CHECK(retry_times(Duration{5'000}).size() <= 2);  // Every 1,024 ms.
}

TEST_CASE("failures lower health and successes raise health, within 0 and 100") {
    DeliveryScene scene{{.health = {.heal_rate = 7, .damage_rate = -60}}};
    scene.subscribe("billing", {.max_events = 1});
    scene.publish(20);
    std::vector<int> health;
    for (const bool success : {true, false, false, true, true}) {
        for (auto next = scene.run(); scene.transport.under_way() == 0; next = scene.run()) {
            scene.clock.set(std::max(scene.clock.now(), next));
        }
        scene.answer_all(success ? Result<void>{} : refusal());
        health.push_back(scene.status("billing").health_points);
    }
    CHECK(health == std::vector<int>{100, 40, 0, 7, 14});
    const auto deliveries = scene.transport.deliveries();
    REQUIRE(deliveries.size() == 5);
    CHECK_FALSE(deliveries[0].unhealthy);
    CHECK_FALSE(deliveries[1].unhealthy);
    CHECK(deliveries[2].unhealthy);
    CHECK(deliveries[4].unhealthy);
}

TEST_CASE("a failed batch is delivered again before the next batches") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 2});
    scene.publish(4);
    scene.run();
    scene.answer_all(refusal());
    scene.publish(2);
    scene.run_for(Duration{60'000});
    scene.answer_all(refusal());
    scene.run_for(Duration{60'000});
    while (scene.answer_all() > 0) {
    }
    CHECK(scene.delivered_to("billing") == "1,2 1,2 1,2 3,4 5,6");
}

TEST_CASE("a failing subscriber delays only its own deliveries") {
    DeliveryScene scene;
    scene.subscribe("bad", {.max_events = 1});
    scene.publish(30);
    scene.run();
    scene.answer_all(refusal());
    scene.subscribe("good", {.max_events = 1});
    for (int i = 0; i < 10; ++i) {
        scene.publish();
        scene.run();
        for (std::size_t n = scene.transport.under_way(); n > 0; --n) {
            const auto whose = scene.transport.deliveries().end()[-static_cast<long>(n)];
            scene.transport.answer(whose.subscriber == "bad" ? refusal() : Result<void>{});
        }
        scene.run_for(Duration{50});
    }
    CHECK(scene.delivered_to("good") == "31 32 33 34 35 36 37 38 39 40");
    CHECK(scene.status("good").health_points == 100);
    CHECK(scene.status("bad").batches_queued == 40);
}

TEST_CASE("further batches of an unhealthy subscriber are throttled") {
    // After the first failure the health is 10, for which the backoff is 59 ms.
    DeliveryScene scene{{.health = {.damage_rate = -90}}};
    scene.subscribe("billing", {.max_events = 1, .max_in_flight = 2});
    scene.publish(1);
    scene.run();
    scene.answer_all(refusal());
    REQUIRE(scene.status("billing").health_points == 10);
    REQUIRE(health_backoff(10, Duration{60'000}) == Duration{59});
    scene.clock.advance(Duration{58});
    scene.publish(1);
    scene.run();
    CHECK(scene.delivered_to("billing") == "1");
    CHECK(scene.counter("delivery.batches", "billing", "throttled") == 1);
    CHECK(scene.counter("delivery.events", "billing", "throttled") == 1);
    CHECK(scene.dispatcher.in_flight() == 0);

    // The batch returns after the same wait, plus up to half for jitter, plus rounding. If the
    // first batch is due at the same instant, this batch waits once more.
    scene.run_for(Duration{58});
    const auto attempts = scene.delivered_to("billing");
    CHECK(attempts.find('2') == std::string::npos);
    scene.run_for(Duration{63 + 121});
    CHECK(scene.delivered_to("billing").find('2') != std::string::npos);
}

TEST_CASE("the dispatcher logs the results of deliveries") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish(3);
    scene.run();
    scene.answer_all(refusal());
    CHECK(scene.log.count(LogLevel::warning,
                          "failed to deliver 3 events to 'bill…', attempt 1: "
                          "HTTP 500: unavailable") == 1);
    scene.run_for(Duration{150});
    scene.answer_all();
    CHECK(scene.log.count(LogLevel::debug, "delivered 3 events to 'bill…'") == 1);
}
