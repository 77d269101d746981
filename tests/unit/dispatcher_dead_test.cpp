/// @file
/// Batches that fail permanently.

#include <doctest/doctest.h>

#include <string>

#include "support/delivery_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// Fails the delivery under way, and advances the clock until the next one begins.
void fail_and_wait(DeliveryScene& scene) {
    REQUIRE(scene.transport.under_way() == 1);
    scene.answer_all(refusal());
    scene.run_for(Duration{1'000});
}

/// The only DEAD batch of `billing`.
DeadBatchStatus dead(DeliveryScene& scene) {
    const auto all = scene.bus.subscriber("billing").dead_batches().value();
    REQUIRE(all.size() == 1);
    return all.front();
}

}  // namespace

TEST_CASE("a batch without attempts left lets the next batch begin, and is logged") {
    DeliveryScene scene;
    // A token is a password: the log shows its public part only.
    scene.subscribe("billing", {.max_events = 2, .attempts_max = 3});
    scene.publish(4);
    scene.run();
    fail_and_wait(scene);
    fail_and_wait(scene);
    CHECK(scene.log.count(LogLevel::warning, "DEAD") == 0);
    fail_and_wait(scene);
    CHECK(scene.delivered_to("billing") == "1,2 1,2 1,2 3,4");
    const auto batch = dead(scene);
    CHECK(batch.attempts == 3);
    CHECK(batch.error == "HTTP 500: unavailable");
    CHECK(scene.log.count(LogLevel::warning,
                          "batch " + std::string{batch.uid.text()} +
                              " for 'bill…' is DEAD after attempt 3, with 2 events: "
                              "HTTP 500: unavailable") == 1);
    scene.answer_all();
    CHECK(scene.status("billing").batches_queued == 0);
    CHECK(scene.status("billing").batches_dead == 1);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE(
    "a permanent failure makes a batch DEAD only for subscribers that limit attempts or age") {
    DeliveryScene scene;
    scene.subscribe("audit");
    scene.subscribe("billing", {.attempts_max = 100});
    scene.publish();
    scene.run();
    while (scene.transport.answer(refusal(), true)) {
    }
    scene.run_for(Duration{1'000});
    CHECK(scene.delivered_to("billing") == "1");
    CHECK(scene.delivered_to("audit") == "1 1");
    CHECK(dead(scene).attempts == 1);
    CHECK(scene.status("audit").batches_dead == 0);
    CHECK(scene.log.count(LogLevel::warning, "is DEAD after attempt 1") == 1);
}

TEST_CASE("a redelivered batch is delivered after the queued batches, with its old id") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 1, .attempts_max = 1});
    scene.publish(3);
    scene.run();
    scene.answer_all(refusal());
    auto billing = scene.bus.subscriber("billing");
    CHECK(billing.redeliver(dead(scene).uid).value() == Count{1});
    scene.runner.wake();
    scene.run();
    while (scene.answer_all() > 0) {
    }
    CHECK(scene.delivered_to("billing") == "1 2 3 1");
    const auto deliveries = scene.transport.deliveries();
    CHECK(deliveries.back().batch == deliveries.front().batch);
    CHECK(deliveries.back().attempt == 1);
}

TEST_CASE(
    "a batch that has already had its last allowed attempt becomes DEAD without another attempt") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 1, .attempts_max = 2});
    scene.publish();
    // A worker dies during each of these attempts.
    for (std::uint32_t attempt = 1; attempt <= 2; ++attempt) {
        const auto now = scene.clock.now();
        const auto acquired =
            perform(scene.store, AcquireJobs{delivery_queue, Uid{9, attempt}, 1}, now).value();
        const auto& lease = acquired.leases.at(0);
        CHECK(perform(scene.store, BeginDelivery{lease, Duration{0}}, now)->attempt == attempt);
        CHECK(perform(scene.store, NackJob{lease, now}, now));
    }
    scene.run();
    CHECK(scene.delivered_to("billing").empty());
    CHECK(dead(scene).error.starts_with("all 2 attempts have begun"));
    CHECK(scene.log.count(LogLevel::warning, "is DEAD") == 1);
}

TEST_CASE("the last allowed attempt is made even if the reply to its beginning was lost") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 1, .attempts_max = 1});
    scene.publish();
    scene.disturbed.lose_replies<BeginDelivery>(1);
    scene.run_for(Duration{1'000});
    CHECK(scene.delivered_to("billing") == "1");
    scene.answer_all();
    CHECK(scene.status("billing").batches_dead == 0);
}

TEST_CASE("a settlement whose reply was lost does not change a DEAD batch") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 1, .attempts_max = 1});
    scene.publish(2);
    scene.run();
    scene.disturbed.lose_replies<SettleDelivery>(1);
    scene.answer_all(refusal());
    scene.run_for(Duration{1'000});
    CHECK(scene.delivered_to("billing") == "1 2");
    CHECK(scene.counter("batches.dead", "billing") == 1);
}
