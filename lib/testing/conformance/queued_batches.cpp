#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

void subscribe_singly(Scenario& s) {
    s.subscribe("billing", {"orders"}, {.timeout = Duration{0}, .max_events = 1});
}

const Attempt failure{.delivered = false, .retry_after = Duration{10'000}, .error = "HTTP 500"};

Uid fail(Scenario& s) {
    const auto [lease, start] = s.begin_next();
    expect_equal(s.settle(lease, failure), Settlement::settled, "settlement of a failure");
    return start.batch;
}

QueuedBatch found(const Scenario& s, const Uid& uid) {
    const auto batch = s.perform(FindBatch{"billing", uid});
    expect(batch.has_value(), "the queued batch must exist");
    return *batch;
}

BatchAction deliver(const Scenario& s, const Uid& uid) {
    return s.perform(DeliverBatch{"billing", uid});
}

BatchAction drop(const Scenario& s, const Uid& uid) { return s.perform(DropBatch{"billing", uid}); }

}  // namespace

void add_queued_batch_cases(StoreCases& add) {
    add("a queued batch shows the state of its delivery, and its last error", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{1'000}});
        s.publish("orders", 3);
        const auto began = s.now();
        const auto uid = s.batches("billing").at(0).uid;
        QueuedBatch expected{.status = {uid, "billing", began, 0, 3, true},
                             .delivery = State::scheduled,
                             .run_at = began + Duration{1'000}};
        expect_equal(found(s, uid), expected, "batch that accepts events");
        s.advance(Duration{1'000});
        expected.delivery = State::ready;
        expected.run_at.reset();
        expect_equal(found(s, uid), expected, "batch that is due");
        const auto [lease, start] = s.begin_next();
        expected.delivery = State::pending;
        expected.status.attempts = 1;
        expected.status.current = false;
        expect_equal(found(s, uid), expected, "batch under delivery");
        s.settle(lease, failure);
        expected.delivery = State::scheduled;
        expected.run_at = s.now() + Duration{10'000};
        expected.error = "HTTP 500";
        expect_equal(found(s, uid), expected, "batch after a failed delivery");
        expect_equal(s.perform(ListBatches{.token = "billing"}), std::vector{expected},
                     "queued batches of the subscriber");
        s.advance(Duration{10'000});
        s.expect_delivered("billing", {{"orders 1", "orders 2", "orders 3"}});
        expect_equal(s.perform(FindBatch{"billing", uid}), std::optional<QueuedBatch>{},
                     "batch found after its delivery");
    });

    add("a long error of a queued batch is cut between characters", [](Scenario& s) {
        subscribe_singly(s);
        s.publish("orders");
        const auto [lease, start] = s.begin_next();
        const std::string head(dead_error_max - 1, 'x');
        s.settle(lease, {.delivered = false, .error = head + "\xc3\xa4"});
        expect_equal(found(s, start.batch).error, head, "stored error of the batch");
    });

    add("queued batches are listed in pages, in delivery order", [](Scenario& s) {
        subscribe_singly(s);
        s.publish("orders", 5);
        std::vector<QueuedBatch> listed;
        ListBatches page{.token = "billing", .limit = 2};
        for (auto batches = s.perform(page); !batches.empty(); batches = s.perform(page)) {
            listed.insert(listed.end(), batches.begin(), batches.end());
            page.after = batches.back().status.uid;
        }
        expect_equal(listed, s.perform(ListBatches{.token = "billing"}), "batches on all pages");
        expect_equal(listed.size(), 5U, "batches");
        const auto first = listed[0].status.uid;
        s.subscribe("audit", {"refunds"});
        s.expect_refused(ListBatches{.token = "audit", .after = first}, "after");
        expect_equal(drop(s, first), BatchAction::done, "reply to the drop");
        s.expect_refused(ListBatches{.token = "billing", .after = first}, "after");
    });

    add("a waiting or failed batch is delivered at once on request", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{60'000}});
        s.publish("orders", 2);
        const auto uid = s.batches("billing").at(0).uid;
        expect_equal(deliver(s, uid), BatchAction::done, "reply to the request for a delivery now");
        expect_equal(deliver(s, uid), BatchAction::done, "reply to the repeated request");
        expect_equal(fail(s), uid, "id of the failed batch");
        s.expect_idle_until(s.now() + Duration{10'000});
        expect_equal(deliver(s, uid), BatchAction::done, "reply to the request after a failure");
        s.expect_delivered("billing", {{"orders 1", "orders 2"}});
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
    });

    add("a batch that is delivered on request does not overtake earlier batches of its subscriber",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"}, {.timeout = Duration{60'000}, .max_events = 2});
            s.publish("orders", 5);
            const auto batches = s.batches("billing");
            const auto retry_at = s.now() + Duration{10'000};
            expect_equal(fail(s), batches.at(0).uid, "id of the failed batch");
            // At this time, the second batch is READY and the third is CURRENT.
            expect_equal(deliver(s, batches.at(1).uid), BatchAction::done,
                         "reply to the request for the second batch");
            expect_equal(deliver(s, batches.at(2).uid), BatchAction::done,
                         "reply to the request for the third batch");
            s.expect_idle_until(retry_at);
            expect_equal(found(s, batches[2].uid).delivery, State::ready,
                         "state of the third batch");
            expect_equal(deliver(s, batches[0].uid), BatchAction::done,
                         "reply to the request for the first batch");
            s.expect_delivered("billing",
                               {{"orders 1", "orders 2"}, {"orders 3", "orders 4"}, {"orders 5"}});
        });

    add("dropping a batch ends its job, is counted, and lets the next begin", [](Scenario& s) {
        subscribe_singly(s);
        s.publish("orders", 2);
        const auto poison = fail(s);
        expect_equal(drop(s, poison), BatchAction::done, "reply to the drop");
        expect_equal(drop(s, poison), BatchAction::unknown, "reply to a second drop");
        expect_equal(s.counter_of("billing", "events.dropped"), 1, "events.dropped");
        expect_equal(s.counter_of("billing", "events.removed"), 1, "events.removed");
        expect_equal(s.subscriber("billing").events_queued, 1U, "events queued");
        s.expect_delivered("billing", {{"orders 2"}});
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
    });

    add("after its CURRENT batch was dropped by request a subscriber gets events", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{1'000}});
        s.publish("orders");
        expect_equal(drop(s, s.batches("billing").at(0).uid), BatchAction::done,
                     "reply to the drop");
        s.publish("orders", 2);
        s.advance(Duration{1'000});
        s.expect_delivered("billing", {{"orders 2", "orders 3"}});
    });

    add("batches after a subscriber's first can be dropped in any state", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{1'000}, .max_events = 1});
        s.publish("orders", 3);
        const auto batches = s.batches("billing");
        expect_equal(drop(s, batches.at(1).uid), BatchAction::done,
                     "reply to the drop of a blocked batch");
        expect_equal(drop(s, batches.at(0).uid), BatchAction::done,
                     "reply to the drop of a READY batch");
        s.expect_delivered("billing", {{"orders 3"}});
    });

    add("a batch under delivery is neither dropped nor delivered a second time", [](Scenario& s) {
        subscribe_singly(s);
        s.publish("orders");
        const auto [lease, start] = s.begin_next();
        const auto before = s.snapshot();
        expect_equal(drop(s, start.batch), BatchAction::under_way, "reply to the drop");
        expect_equal(deliver(s, start.batch), BatchAction::under_way,
                     "reply to the request for a delivery now");
        expect_unchanged(s.snapshot(), before);
        s.expect_idle_until(never);
        expect_equal(s.settle(lease), Settlement::settled, "settlement of the delivery");
    });

    add("a client cannot find, drop or deliver at once a DEAD batch or another client's batch",
        [](Scenario& s) {
            s.subscribe("audit", {"refunds"});
            s.subscribe("billing", {"orders"},
                        {.timeout = Duration{0}, .max_events = 1, .attempts_max = 1});
            s.publish("orders", 2);
            const auto dead = s.kill_next();
            const auto queued = s.batches("billing").at(0).uid;
            const auto before = s.snapshot();
            const auto expect_unknown = [&](const std::string& token, const Uid& uid) {
                expect_equal(s.perform(FindBatch{token, uid}), std::optional<QueuedBatch>{},
                             "batch found by a wrong token or id");
                expect_equal(s.perform(DeliverBatch{token, uid}), BatchAction::unknown,
                             "reply to the request for a delivery now");
                expect_equal(s.perform(DropBatch{token, uid}), BatchAction::unknown,
                             "reply to the drop");
            };
            expect_unknown("audit", queued);
            expect_unknown("nobody", queued);
            expect_unknown("billing", dead);
            expect_unknown("billing", s.uid());
            expect_unchanged(s.snapshot(), before);
        });

    add("batches of a removed subscriber can be dropped on request", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders");
        const auto uid = s.batches("billing").at(0).uid;
        s.perform(RemoveSubscriber{"billing"});
        expect_equal(found(s, uid).status.events, 1U, "events of the batch");
        expect_equal(drop(s, uid), BatchAction::done, "reply to the drop");
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
    });
}

}  // namespace routemaster::testing
