#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"
#include "core/store/delivery_job.hpp"
#include "routemaster/health.hpp"

namespace routemaster::testing {
namespace {

void subscribe_billing(Scenario& s) {
    s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
}

}  // namespace

void add_delivery_cases(StoreCases& add) {
    add("a clock jump of years during a delivery adds no latency", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        s.publish("orders");
        const auto [lease, start] = s.begin_next();
        const auto begun_at = s.now();
        s.advance(Duration{1'000'000'000'000});
        expect_equal(
            s.perform(SettleDelivery{
                .lease = lease, .delivered = true, .health_change = 1, .begun_at = begun_at}),
            Settlement::settled, "settlement of the delivery");
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
        expect_equal(s.counter_of("billing", "delivery.time", "success"), 24 * 3'600'000,
                     "delivery time, limited to one day");
    });

    add("beginning a delivery returns everything that the delivery needs", [](Scenario& s) {
        s.subscribe("billing", {"orders"},
                    {.callback = "https://b.example/", .uuid = "secret", .timeout = Duration{10}});
        const auto created_at = s.now();
        s.publish("orders", 2);
        s.advance(Duration{10});
        const auto batch = s.batches("billing").at(0).uid;
        const auto lease = s.take();
        expect_equal(lease.job, detail::delivery_job(batch), "encoded delivery job in the lease");
        const auto start = s.begin(lease);
        expect_equal(start.verdict, Verdict::deliver, "verdict of the attempt");
        expect_equal(start.subscription, s.subscriber("billing").subscription, "subscription");
        expect_equal(start.health_points, 100, "health");
        expect_equal(start.batch, batch, "id of the delivered batch");
        expect_equal(start.created_at, created_at, "creation time of the batch");
        expect_equal(start.attempt, 1U, "attempt");
        MessageList messages;
        messages.append("orders 1");
        messages.append("orders 2");
        expect_equal(start.messages, messages, "delivered events");
    });

    add("a successful delivery ends its batch and its job", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders", 2);
        const auto [lease, start] = s.begin_next();
        expect_equal(s.settle(lease), Settlement::settled, "settlement of the delivery");
        expect_equal(s.batches("billing"), std::vector<BatchStatus>{}, "batches");
        expect_equal(s.subscriber("billing").events_queued, 0U, "events queued");
        expect_equal(s.subscriber("billing").batches_queued, 0U, "batches queued");
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
        s.advance(Duration{60'000});
        s.perform(ScrubWorkers{Duration{30'000}});
        s.expect_idle_until(never);
    });

    add("a failed delivery is retried at the due time of its retry", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders", 2);
        const auto [lease, first] = s.begin_next();
        s.settle(lease, {.delivered = false, .retry_after = Duration{1'500}});
        expect_equal(s.queue(delivery_queue), QueueStatus{.scheduled = 1}, "delivery jobs");
        expect_equal(s.subscriber("billing").events_queued, 2U, "events queued");
        s.expect_idle_until(s.now() + Duration{1'500});
        s.advance(Duration{1'500});
        const auto [again, second] = s.begin_next();
        expect_equal(second.batch, first.batch, "id of the batch at its second attempt");
        expect_equal(second.attempt, 2U, "attempt");
        expect_equal(second.messages, first.messages, "delivered events");
        expect_equal(s.batches("billing").at(0).attempts, 2U, "attempts of the listed batch");
    });

    add("settling a delivery twice is refused and changes nothing", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        const auto [failed, first] = s.begin_next();
        s.settle(failed, {.delivered = false, .health_change = -1, .retry_after = Duration{0}});
        auto before = s.snapshot();
        expect_equal(s.settle(failed), Settlement::lease_lost,
                     "settlement of the failed delivery by its old lease");
        expect_unchanged(s.snapshot(), before);
        s.advance(Duration{60'000});
        const auto [delivered, second] = s.begin_next();
        s.settle(delivered);
        before = s.snapshot();
        expect_equal(s.settle(delivered), Settlement::lease_lost,
                     "second settlement of the successful delivery");
        expect_unchanged(s.snapshot(), before);
    });

    add("beginning a delivery again counts another attempt", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        const auto lease = s.take();
        expect_equal(s.begin(lease).attempt, 1U, "attempt");
        expect_equal(s.begin(lease).attempt, 2U, "attempt");
        expect_equal(s.settle(lease), Settlement::settled, "settlement of the delivery");
    });

    add("an ack of the delivery job does not end the delivery", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        const auto lease = s.take();
        s.expect_refused(AckJob{lease}, "lease");
        s.begin(lease);
        s.expect_refused(AckJob{lease}, "lease");
        expect_equal(s.settle(lease), Settlement::settled, "settlement of the delivery");
    });

    add("only a delivery job can be begun and settled as a delivery", [](Scenario& s) {
        s.push("a");
        const auto work = s.take_work();
        s.perform(PushJob{delivery_queue, "other", s.now()});
        const auto other = s.take();
        for (const auto& lease : {work, other}) {
            s.expect_refused(BeginDelivery{lease, backoff_max, 0}, "lease");
            s.expect_refused(SettleDelivery{.lease = lease, .delivered = true, .begun_at = s.now()},
                             "lease");
            expect_equal(s.perform(AckJob{lease}), Settlement::settled, "settlement of the ack");
        }
    });

    add("the delivery job of a missing batch ends with the outcome vanished", [](Scenario& s) {
        s.perform(PushJob{delivery_queue, detail::delivery_job(s.uid()), s.now()});
        const auto lease = s.take();
        expect_equal(s.begin(lease).verdict, Verdict::vanished, "verdict of the attempt");
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
        expect_equal(s.begin(lease).verdict, Verdict::lease_lost,
                     "verdict of a second attempt under the same lease");
    });

    add("a copy of a delivery job in another queue delivers nothing", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        s.push(detail::delivery_job(s.batches("billing").at(0).uid));
        const auto copy = s.take_work();
        s.expect_refused(BeginDelivery{copy, backoff_max, 0}, "lease");
        s.expect_refused(SettleDelivery{.lease = copy, .delivered = true, .begun_at = s.now()},
                         "lease");
        expect_equal(s.perform(AckJob{copy}), Settlement::settled,
                     "settlement of an ack for the copied job");
        s.expect_delivered("billing", {{"orders 1"}});
    });
}

void add_health_cases(StoreCases& add) {
    add("health follows the outcome of deliveries and stays within 0 and 100", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        const auto after = [&](bool delivered, int change) {
            const auto [lease, start] = s.begin_next();
            s.settle(
                lease,
                {.delivered = delivered, .health_change = change, .retry_after = Duration{60'000}});
            s.advance(Duration{60'000});
            return s.subscriber("billing").health_points;
        };
        expect_equal(after(false, -2), 98, "health after a failure");
        expect_equal(after(false, -98), 0, "health after many failures");
        expect_equal(after(false, -2), 0, "health after one more failure at 0");
        expect_equal(after(false, 99), 99, "health after a large gain");
        expect_equal(after(true, 5), 100, "health after a success");
    });

    add("beginning a delivery returns the health, and records the attempt", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        s.fail_next(-40);
        expect_equal(s.subscriber("billing").last_attempted_at, std::optional{s.now()},
                     "time of the last attempt");
        s.advance(Duration{5});
        expect_equal(s.begin_next().second.health_points, 60, "health");
        expect_equal(s.subscriber("billing").last_attempted_at, std::optional{s.now()},
                     "time of the last attempt");
    });

    add("an unhealthy subscriber is throttled until its backoff is over", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        s.fail_next(-97);  // 3 points: 7,500 ms.
        const auto attempted_at = s.now();
        s.advance(Duration{7'499});
        const auto lease = s.take();
        expect_equal(s.begin(lease).verdict, Verdict::throttled,
                     "verdict before the backoff is over");
        expect_equal(s.begin(lease).verdict, Verdict::lease_lost,
                     "verdict of a second attempt under the same lease");
        const auto due = retry_time(s.now(), Duration{7'500});
        s.expect_idle_until(due);
        const auto now = s.subscriber("billing");
        expect_equal(now.last_attempted_at, std::optional{attempted_at},
                     "time of the last attempt");
        expect_equal(now.health_points, 3, "health");
        expect_equal(s.batches("billing").at(0).attempts, 1U, "attempts");
        s.advance(due - s.now());
        expect_equal(s.begin_next().second.attempt, 2U, "attempt");
    });

    add("an unhealthy subscriber gets a delivery as soon as its backoff is over", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        s.fail_next(-97);
        s.advance(Duration{7'500});
        expect_equal(s.begin(s.take()).verdict, Verdict::deliver, "verdict of the attempt");
    });

    add("jitter lengthens the wait of a throttled delivery", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        s.fail_next(-98);  // 2 points: 15,000 ms.
        expect_equal(s.begin(s.take(), 0.25).verdict, Verdict::throttled, "verdict of the attempt");
        s.expect_idle_until(retry_time(s.now(), Duration{18'750}));
    });

    add("a subscriber below full health is throttled for the pause of the step", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        const auto begin_pausing = [&](Duration pause) {
            return s
                .perform(BeginDelivery{
                    .lease = s.take(), .backoff_max = backoff_max, .jitter = 0.25, .pause = pause})
                .verdict;
        };
        s.fail_next(-1);
        s.advance(Duration{3'600'000});
        expect_equal(begin_pausing(Duration{1'000}), Verdict::throttled,
                     "verdict at a health of 99");
        const auto due = retry_time(s.now(), Duration{1'250});
        s.expect_idle_until(due);
        s.advance(due - s.now());
        s.fail_next(-98);  // 1 point: 30,000 ms.
        expect_equal(begin_pausing(Duration{1'000}), Verdict::throttled,
                     "verdict at a health of 1");
        s.expect_idle_until(retry_time(s.now(), Duration{37'500}));
        expect_equal(s.counter_of("billing", "delivery.batches", "throttled"),
                     std::optional<std::int64_t>{2}, "throttled deliveries");
    });

    add("a healthy subscriber is not throttled, even when the step names a pause", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        s.fail_next(0);
        const BeginDelivery step{
            .lease = s.take(), .backoff_max = backoff_max, .pause = Duration{1'000}};
        expect_equal(s.perform(step).verdict, Verdict::deliver, "verdict of the attempt");
    });

    add("a subscriber with a health of 0 waits for the longest backoff", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        s.fail_next(-100);
        s.advance(backoff_max - Duration{1});
        expect_equal(s.begin(s.take()).verdict, Verdict::throttled,
                     "verdict before the longest backoff is over");
        s.expect_idle_until(retry_time(s.now(), backoff_max));
    });

    add("a subscriber that lost little health is not throttled", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        s.fail_next(-80);
        expect_equal(s.begin(s.take()).verdict, Verdict::deliver,
                     "verdict right after the failure");
    });

    add("a healthy subscriber is never throttled, even after many attempts", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 1});
        s.publish("orders", 10);
        for (int i = 0; i < 5; ++i) s.fail_next(0);
        s.drain();
        expect_equal(s.batches("billing"), std::vector<BatchStatus>{}, "batches");
    });

    add("the batch of a throttled subscriber still takes further events", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}, .max_events = 3});
        s.publish("orders");
        s.fail_next(-99);
        s.advance(Duration{30'000});
        s.expect_delivered("billing", {{"orders 1"}});
        s.publish("orders");
        expect_equal(s.begin(s.take()).verdict, Verdict::throttled, "verdict of the attempt");
        expect_equal(s.batches("billing").at(0).current, true,
                     "the batch is CURRENT while its subscriber is throttled");
        s.publish("orders");
        s.advance(retry_time(s.now(), Duration{30'000}) - s.now());
        s.expect_delivered("billing", {{"orders 2", "orders 3"}});
    });

    add("throttling a subscriber throttles only this subscriber", [](Scenario& s) {
        subscribe_billing(s);
        s.publish("orders");
        s.fail_next(-100);
        s.subscribe("audit", {"orders"}, {.timeout = Duration{0}});
        s.publish("orders");
        s.expect_delivered("audit", {{"orders 2"}});
        s.expect_delivered("billing", {});
    });
}

}  // namespace routemaster::testing
