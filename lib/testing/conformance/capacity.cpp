#include <string>

#include "cases.hpp"

namespace routemaster::testing {

void add_capacity_cases(StoreCases& add) {
    add("the oldest batches of all subscribers are dropped first", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 2});
        s.subscribe("audit", {"refunds"});
        s.publish("orders", 2);
        s.advance(Duration{1});
        s.publish("refunds", 3);
        s.advance(Duration{1});
        s.publish("orders", 1);
        expect_equal(s.perform(DropOldestBatches{2}).batches, 2U, "batches dropped");
        expect_equal(s.batches("audit").size(), 0U, "queued batches of 'audit'");
        expect_equal(s.subscriber("audit").events_queued, 0U, "queued events of 'audit'");
        expect_equal(s.subscriber("billing").events_queued, 1U, "queued events of 'billing'");
        expect_equal(s.queue(delivery_queue), QueueStatus{.scheduled = 1}, "delivery jobs");
        s.advance(Duration{1'000});
        s.expect_delivered("billing", {{"orders 3"}});
    });

    add("every dropped event is counted", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders", 3);
        const auto dropped = s.perform(DropOldestBatches{});
        expect_equal(dropped.batches, 1U, "batches dropped");
        expect_equal(dropped.events, 3U, "events dropped");
        expect_equal(s.counter_of("billing", "events.autodropped"), 3, "events.autodropped");
        expect_equal(s.counter_of("billing", "events.removed"), 3, "events.removed");
        const auto nothing = s.perform(DropOldestBatches{});
        expect_equal(nothing.batches, 0U, "batches dropped from an empty store");
        expect_equal(s.counter_of("billing", "events.autodropped"), 3,
                     "events.autodropped after the second drop");
    });

    add("a batch under delivery is not dropped", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}, .max_events = 1});
        s.publish("orders", 3);
        const auto [lease, start] = s.begin_next();
        expect_equal(s.perform(DropOldestBatches{2}).batches, 2U, "batches dropped");
        expect_equal(s.settle(lease), Settlement::settled, "settlement of the delivery under way");
        expect_equal(s.subscriber("billing").batches_queued, 0U,
                     "queued batches after the delivery");
        s.publish("orders");
        s.expect_delivered("billing", {{"orders 4"}});
    });

    add("a subscriber still gets new events after its CURRENT batch was dropped", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders");
        s.perform(DropOldestBatches{});
        s.publish("orders", 2);
        s.advance(Duration{1'000});
        s.expect_delivered("billing", {{"orders 2", "orders 3"}});
    });

    add("queued batches of a removed subscriber are dropped like other batches", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders");
        s.perform(RemoveSubscriber{"billing"});
        expect_equal(s.perform(DropOldestBatches{}).batches, 1U, "batches dropped");
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
    });

    add("the reported size of a store is larger with an event than without", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        const auto before = s.perform(MeasureUse{}).bytes;
        s.publish_message("orders", std::string(1U << 20U, 'x'));
        const auto with = s.perform(MeasureUse{}).bytes;
        expect(with >= before + (1U << 20U), "a stored event of 1 MiB must take at least 1 MiB");
        s.perform(DropOldestBatches{});
        expect(s.perform(MeasureUse{}).bytes < with, "a dropped event must free its space");
    });

    add("a request to drop zero batches is refused",
        [](Scenario& s) { s.expect_refused(DropOldestBatches{0}, "limit"); });
}

}  // namespace routemaster::testing
