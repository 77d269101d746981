/// @file
/// Steps that the store refuses, or whose reply is lost.

#include <doctest/doctest.h>

#include <vector>

#include "support/delivery_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// The times between consecutive instants, in milliseconds.
std::vector<long> gaps(const std::vector<TimePoint>& times) {
    std::vector<long> gaps;
    for (std::size_t i = 1; i < times.size(); ++i)
        gaps.push_back((times[i] - times[i - 1]).count());
    return gaps;
}

}  // namespace

TEST_CASE("a settlement that the store refused is repeated until it is done") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 1});
    scene.publish(2);
    scene.run();
    scene.disturbed.refuse<SettleDelivery>(6);
    scene.answer_all();
    CHECK(scene.dispatcher.in_flight() == 1);
    scene.run_for(Duration{10'000});
    CHECK(gaps(scene.disturbed.times_of<SettleDelivery>()) ==
          std::vector<long>{100, 200, 400, 800, 1'000, 1'000});
    CHECK_MESSAGE(scene.delivered_to("billing") == "1 2", "not delivered a second time");
    CHECK(scene.log.count(LogLevel::warning, "the store failed") == 1);
    scene.answer_all();
    CHECK(scene.queue().pending == 0);
    CHECK(scene.queue().ready == 0);
    CHECK(scene.queue().scheduled == 0);
    CHECK(scene.counter("delivery.batches", "billing", "success") == 2);
}

TEST_CASE("a settlement of a failure that the store refused is repeated as a failure") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.run();
    scene.disturbed.refuse<SettleDelivery>(1);
    scene.answer_all(refusal());
    scene.run_for(Duration{10'000});
    CHECK(scene.delivered_to("billing") == "1 1");
    CHECK(scene.counter("delivery.batches", "billing", "failure") == 1);
    CHECK(scene.status("billing").health_points == 98);
}

TEST_CASE("a beginning of a delivery that the store refused is repeated until it is done") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.disturbed.refuse<BeginDelivery>(3);
    scene.publish();
    scene.run_for(Duration{699});
    CHECK(scene.deliveries() == 0);
    scene.run_for(Duration{1});
    CHECK(scene.delivered_to("billing") == "1");
    CHECK(scene.transport.deliveries().front().attempt == 1);
    CHECK(gaps(scene.disturbed.times_of<BeginDelivery>()) == std::vector<long>{100, 200, 400});
}

TEST_CASE("an acquisition that the store refused is repeated after growing waits") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.publish();
    scene.disturbed.refuse<AcquireJobs>(7);
    scene.run_for(Duration{4'499});
    CHECK(scene.deliveries() == 0);
    scene.run_for(Duration{1});
    CHECK(scene.delivered_to("billing") == "1");
    auto waits = gaps(scene.disturbed.times_of<AcquireJobs>());
    waits.resize(7);
    CHECK(waits == std::vector<long>{100, 200, 400, 800, 1'000, 1'000, 1'000});
    CHECK(scene.log.count(LogLevel::warning, "cannot acquire jobs") == 1);

    // After a success the next wait is short again.
    const auto before = scene.disturbed.times_of<AcquireJobs>().size();
    scene.disturbed.refuse<AcquireJobs>(1);
    scene.run_for(Duration{1'500});
    const auto times = scene.disturbed.times_of<AcquireJobs>();
    const std::vector<TimePoint> later{times.begin() + static_cast<long>(before), times.end()};
    CHECK(gaps(later).front() == 100);
}

TEST_CASE("a settlement that was done although its reply was lost ends without a warning") {
    DeliveryScene scene;
    scene.subscribe("billing", {.max_events = 1});
    scene.publish(2);
    scene.run();
    scene.disturbed.lose_replies<SettleDelivery>(1);
    scene.answer_all();
    scene.run_for(Duration{1'000});
    CHECK(scene.delivered_to("billing") == "1 2");
    CHECK(scene.log.count(LogLevel::warning, "lost the lease") == 0);
    CHECK(scene.counter("delivery.batches", "billing", "success") == 1);
    scene.answer_all();
    CHECK(scene.dispatcher.in_flight() == 0);
    CHECK(scene.queue().pending == 0);
    CHECK(scene.queue().ready == 0);
    CHECK(scene.queue().scheduled == 0);
}

TEST_CASE("a delivery begins again when the reply to its beginning was lost") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.disturbed.lose_replies<BeginDelivery>(1);
    scene.publish();
    scene.run_for(Duration{100});
    CHECK(scene.delivered_to("billing") == "1");
    CHECK_MESSAGE(scene.transport.deliveries().front().attempt == 2, "the attempt counts");
}

TEST_CASE("jobs whose acquisition got no reply arrive with the next acquisition") {
    DeliveryScene scene;
    scene.subscribe("billing");
    // More losses than the repeats of one acquisition: a second acquisition is necessary.
    scene.disturbed.lose_replies<AcquireJobs>(repeats_max + 1);
    scene.publish();
    scene.run_for(Duration{1'000});
    CHECK(scene.delivered_to("billing") == "1");
    CHECK(scene.answer_all() == 1);
    CHECK(scene.queue().pending == 0);
}

TEST_CASE("heartbeats, searches for dead workers and counts that the store refused do no harm") {
    DeliveryScene scene;
    scene.subscribe("billing");
    scene.disturbed.refuse<Heartbeat>(100);
    scene.disturbed.refuse<ScrubWorkers>(100);
    scene.publish();
    scene.run_for(Duration{3'000});
    CHECK(scene.delivered_to("billing") == "1");
    CHECK(scene.disturbed.times_of<Heartbeat>().size() == 4);
}
