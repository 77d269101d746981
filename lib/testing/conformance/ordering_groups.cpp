#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/health.hpp"

namespace routemaster::testing {
namespace {

void subscribe_one_by_one(Scenario& s, const std::string& token, std::uint32_t max_in_flight = 1) {
    s.subscribe(token, {"orders"}, {.max_events = 1, .max_in_flight = max_in_flight});
}

/// Begins all possible deliveries, and settles no delivery. Returns their messages.
std::vector<std::string> begin_all(Scenario& s, Where at = Where::here()) {
    std::vector<std::string> messages;
    for (const auto& lease : s.acquire({}, at).leases) {
        const auto start = s.begin(lease, 0, at);
        expect_equal(start.verdict, Verdict::deliver, "verdict of the attempt", at);
        for (const auto message : start.messages) messages.emplace_back(message);
    }
    return messages;
}

/// Begins a delivery, with a capacity of the workers for `concurrency_max` deliveries of its group.
Verdict begin_within(Scenario& s, std::uint32_t concurrency_max, const Lease& lease,
                     Where at = Where::here()) {
    return s
        .perform(
            BeginDelivery{
                .lease = lease, .backoff_max = backoff_max, .concurrency_max = concurrency_max},
            at)
        .verdict;
}

/// Settles a delivery, with a capacity of the workers for `concurrency_max` deliveries of its
/// group.
void settle_within(Scenario& s, std::uint32_t concurrency_max, const Lease& lease,
                   bool delivered = true, Where at = Where::here()) {
    const SettleDelivery step{.lease = lease,
                              .delivered = delivered,
                              .begun_at = s.now(),
                              .retry_at = s.now() + Duration{60'000},
                              .concurrency_max = concurrency_max};
    expect_equal(s.perform(step, at), Settlement::settled, "settlement of the delivery", at);
}

/// Cases about groups with a larger concurrency than the capacity of the workers.
void add_narrowed_group_cases(StoreCases& add) {
    add("when a subscriber has its share of deliveries, its next delivery begins when one ends",
        [](Scenario& s) {
            subscribe_one_by_one(s, "billing", 5);
            s.publish("orders", 6);
            const auto leases = s.acquire().leases;
            expect_equal(leases.size(), 5U, "delivery jobs acquired");
            for (std::size_t i = 0; i < 5; ++i) {
                expect_equal(begin_within(s, 2, leases[i]),
                             i < 2 ? Verdict::deliver : Verdict::at_limit,
                             "verdict of each attempt");
            }
            s.expect_idle_until(never);
            expect_equal(s.queue(delivery_queue), QueueStatus{.ready = 4, .pending = 2},
                         "delivery jobs");
            expect_equal(s.begin(leases[2]).verdict, Verdict::lease_lost,
                         "verdict for a delivery that is at the limit");
            settle_within(s, 2, leases[0]);
            expect_equal(begin_all(s), std::vector<std::string>{"orders 3"},
                         "events of the next delivery");
            s.expect_idle_until(never);
        });

    add("a window smaller than worker capacity grows by one with each ended delivery, up to the "
        "capacity",
        [](Scenario& s) {
            subscribe_one_by_one(s, "billing", 3);
            s.publish("orders", 9);
            auto leases = s.acquire().leases;
            for (std::size_t i = 0; i < 3; ++i) begin_within(s, 1, leases[i]);
            s.expect_idle_until(never);
            settle_within(s, 2, leases[0]);
            leases = s.acquire().leases;
            expect_equal(leases.size(), 2U, "delivery jobs acquired at a window of 2");
            settle_within(s, 2, leases[0]);
            expect_equal(s.acquire().leases.size(), 1U,
                         "further delivery jobs acquired at a window of 2");
            settle_within(s, 5, leases[1]);
            expect_equal(s.acquire().leases.size(), 2U,
                         "further delivery jobs acquired at a window of 3");
            s.expect_idle_until(never);
            expect_equal(s.queue(delivery_queue), QueueStatus{.ready = 3, .pending = 3},
                         "delivery jobs");
        });

    add("a batch that keeps failing does not keep the delivery window small", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 3);
        s.publish("orders", 3);
        const auto leases = s.acquire().leases;
        for (const auto& lease : leases) begin_within(s, 1, lease);
        s.expect_idle_until(never);
        settle_within(s, 100, leases[0], false);
        expect_equal(begin_all(s), std::vector<std::string>{"orders 2"},
                     "events of the next delivery");
    });

    add("a delivery window begins with 16 batches, and grows with each success", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 18);
        s.publish("orders", 30);
        auto leases = s.acquire().leases;
        expect_equal(leases.size(), 16U, "delivery jobs acquired first");
        for (std::size_t i = 0; i < 3; ++i) {
            expect_equal(s.begin(leases[i]).verdict, Verdict::deliver, "verdict of the attempt");
            s.settle(leases[i]);
            expect_equal(s.acquire().leases.size(), i < 2 ? 2U : 1U,
                         "delivery jobs acquired after a success");
        }
        expect_equal(s.queue(delivery_queue).pending, 18U, "deliveries under way");
    });

    add("each failure shrinks a delivery window by two, but not below 16", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 30);
        s.publish("orders", 60);
        auto leases = s.acquire().leases;
        for (std::size_t i = 0; i < 4; ++i) s.settle(leases[i]);
        leases.erase(leases.begin(), leases.begin() + 4);
        for (auto& lease : s.acquire().leases) leases.push_back(std::move(lease));
        expect_equal(leases.size(), 20U, "deliveries under way");
        for (std::size_t i = 0; i < 3; ++i) s.settle(leases[i], {.delivered = false});
        for (std::size_t i = 3; i < 20; ++i) s.perform(NackJob{leases[i], s.now()});
        expect_equal(s.acquire().leases.size(), 13U, "delivery jobs acquired after the failures");
    });

    add("a settlement shrinks a window that exceeds the capacity of the workers", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 3);
        s.publish("orders", 6);
        const auto leases = s.acquire().leases;
        for (const auto& lease : leases) s.begin(lease);
        settle_within(s, 1, leases[0]);
        s.expect_idle_until(never);
        settle_within(s, 1, leases[1]);
        s.expect_idle_until(never);
        settle_within(s, 1, leases[2]);
        expect_equal(begin_all(s), std::vector<std::string>{"orders 4"},
                     "events of the next delivery");
        s.expect_idle_until(never);
    });

    add("a subscriber's first batch may begin without free capacity, too", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 2);
        subscribe_one_by_one(s, "audit", 1);
        s.publish("orders", 2);
        unsigned begun = 0;
        for (const auto& lease : s.acquire().leases) {
            begun += begin_within(s, 0, lease) == Verdict::deliver ? 1U : 0U;
        }
        expect_equal(begun, 2U, "deliveries that have begun");
    });

    add("a batch beyond max_in_flight is not attempted, and takes events until its delivery "
        "begins",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"},
                        {.timeout = Duration{0}, .max_events = 2, .max_in_flight = 2});
            s.publish("orders", 3);
            const auto leases = s.acquire().leases;
            expect_equal(leases.size(), 2U, "delivery jobs acquired");
            expect_equal(begin_within(s, 1, leases[0]), Verdict::deliver,
                         "verdict of the first attempt");
            expect_equal(begin_within(s, 1, leases[1]), Verdict::at_limit,
                         "verdict of the second attempt");
            const auto second = s.batches("billing").at(1);
            expect_equal(second.attempts, 0U, "attempts");
            expect(second.current, "a batch beyond the limit must stay CURRENT");
            s.publish("orders");
            settle_within(s, 1, leases[0]);
            expect_equal(begin_all(s), std::vector<std::string>{"orders 3", "orders 4"},
                         "events of the next delivery");
            expect_equal(s.counter_of("billing", "delivery.batches", "throttled"),
                         std::optional<std::int64_t>{}, "throttled deliveries");
        });

    add("raising max_in_flight does not grow a smaller delivery window", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 3);
        s.publish("orders", 5);
        auto leases = s.acquire().leases;
        for (const auto& lease : leases) begin_within(s, 1, lease);
        s.subscribe("billing", {"orders"}, {.max_in_flight = 4});
        s.expect_idle_until(never);
        settle_within(s, 100, leases[0]);
        expect_equal(s.acquire().leases.size(), 2U, "delivery jobs acquired at a window of 2");
    });

    add("a returning subscriber has the max_in_flight of its new subscription", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 3);
        s.publish("orders", 3);
        for (const auto& lease : s.acquire().leases) {
            begin_within(s, 1, lease);
            s.perform(NackJob{lease, s.now()});
        }
        s.perform(RemoveSubscriber{"billing"});
        s.subscribe("billing", {"orders"}, {.max_in_flight = 3});
        expect_equal(s.acquire().leases.size(), 3U, "delivery jobs acquired");
    });
}

}  // namespace

void add_group_cases(StoreCases& add) {
    add_narrowed_group_cases(add);

    add("by default one batch of a subscriber is under way at a time", [](Scenario& s) {
        subscribe_one_by_one(s, "billing");
        s.publish("orders", 3);
        for (int i = 1; i <= 3; ++i) {
            const auto [lease, start] = s.begin_next();
            expect_equal(
                start.messages,
                [&] {
                    MessageList expected;
                    expected.append("orders " + std::to_string(i));
                    return expected;
                }(),
                "events of the delivery under way");
            s.expect_idle_until(never);
            s.settle(lease);
        }
        s.expect_idle_until(never);
    });

    add("max_in_flight batches of a subscriber are under way at a time", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 3);
        s.publish("orders", 5);
        auto leases = s.acquire().leases;
        expect_equal(leases.size(), 3U, "deliveries under way");
        s.expect_idle_until(never);
        s.begin(leases[1]);
        s.settle(leases[1]);
        expect_equal(begin_all(s), std::vector<std::string>{"orders 4"},
                     "events of the next delivery");
        s.expect_idle_until(never);
    });

    add("a failed batch blocks its subscriber's next batches until its retry", [](Scenario& s) {
        subscribe_one_by_one(s, "billing");
        s.publish("orders", 2);
        const auto [lease, start] = s.begin_next();
        s.settle(lease, {.delivered = false, .retry_after = Duration{1'000}});
        s.expect_idle_until(s.now() + Duration{1'000});
        s.advance(Duration{999});
        s.expect_idle_until(s.now() + Duration{1});
        s.advance(Duration{1});
        s.expect_delivered("billing", {{"orders 1"}, {"orders 2"}});
    });

    add("a batch keeps its place when its delivery job is nacked", [](Scenario& s) {
        subscribe_one_by_one(s, "billing");
        s.publish("orders", 2);
        s.perform(NackJob{s.take(), s.now() + Duration{1'000}});
        s.expect_idle_until(s.now() + Duration{1'000});
        s.advance(Duration{1'000});
        s.perform(NackJob{s.take(), s.now()});
        s.take({.worker = 2});
        s.perform(RetireWorker{Scenario::worker(2)});
        s.take({.worker = 3});
        s.advance(Duration{60'000});
        s.perform(ScrubWorkers{Duration{30'000}});
        s.expect_delivered("billing", {{"orders 1"}, {"orders 2"}});
    });

    add("a throttled batch blocks its subscriber's next batches", [](Scenario& s) {
        subscribe_one_by_one(s, "billing");
        s.publish("orders", 2);
        s.fail_next(-99);
        expect_equal(s.begin(s.take()).verdict, Verdict::throttled, "verdict of the next attempt");
        const auto due = [&s] { return retry_time(s.now(), Duration{30'000}); };
        s.expect_idle_until(due());
        s.advance(due() - s.now());
        s.expect_delivered("billing", {{"orders 1"}});
        s.advance(due() - s.now());
        s.expect_delivered("billing", {{"orders 2"}});
    });

    add("a subscriber with failing batches does not delay other subscribers", [](Scenario& s) {
        subscribe_one_by_one(s, "billing");
        subscribe_one_by_one(s, "audit");
        s.publish("orders", 3);
        for (const auto& lease : s.acquire().leases) {
            const bool stuck = s.begin(lease).subscription.token == "billing";
            s.settle(lease, {.delivered = !stuck, .retry_after = Duration{60'000}});
        }
        s.expect_delivered("audit", {{"orders 2"}, {"orders 3"}});
        s.expect_delivered("billing", {});
        s.advance(Duration{60'000});
        s.expect_delivered("billing", {{"orders 1"}, {"orders 2"}, {"orders 3"}});
    });

    add("a subscriber whose delivery never ends does not delay other subscribers", [](Scenario& s) {
        subscribe_one_by_one(s, "audit");
        subscribe_one_by_one(s, "billing");
        s.publish("orders", 2);
        const auto [lease, start] = s.begin_next();
        expect_equal(start.subscription.token, "audit", "subscriber of the first delivery");
        s.expect_delivered("billing", {{"orders 1"}, {"orders 2"}});
        s.expect_delivered("audit", {});
    });

    add("raising max_in_flight lets waiting batches begin", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 1);
        s.publish("orders", 4);
        expect_equal(begin_all(s), std::vector<std::string>{"orders 1"},
                     "events of the deliveries under way");
        s.subscribe("billing", {"orders"}, {.max_in_flight = 3});
        expect_equal(begin_all(s), std::vector<std::string>{"orders 2", "orders 3"},
                     "events of the deliveries after the change");
        s.expect_idle_until(never);
    });

    add("lowering max_in_flight blocks the batches that are not under way", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 3);
        s.publish("orders", 4);
        const auto first = s.take();
        const auto second = s.take();
        s.subscribe("billing", {"orders"}, {.max_in_flight = 1});
        s.expect_idle_until(never);
        s.begin(first);
        s.settle(first);
        s.expect_idle_until(never);
        s.perform(NackJob{second, s.now()});
        expect_equal(begin_all(s), std::vector<std::string>{"orders 2"},
                     "events of the next delivery");
        s.expect_idle_until(never);
    });

    add("a batch nacked after max_in_flight was lowered waits for its turn", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 3);
        s.publish("orders", 3);
        const auto leases = s.acquire().leases;
        expect_equal(leases.size(), 3U, "deliveries under way");
        s.subscribe("billing", {"orders"}, {.max_in_flight = 1});
        for (const auto& lease : leases) s.perform(NackJob{lease, s.now()});
        expect_equal(begin_all(s), std::vector<std::string>{"orders 1"},
                     "events of the deliveries under way");
        s.expect_idle_until(never);
    });

    add("the next due time that an acquisition returns ignores blocked batches", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{100}});
        s.publish("orders");
        s.advance(Duration{100});
        const auto [lease, start] = s.begin_next();
        s.publish("orders");
        s.advance(Duration{100});
        s.expect_idle_until(never);
        expect_equal(s.queue(delivery_queue), QueueStatus{.ready = 1, .pending = 1},
                     "delivery jobs");
    });
}

}  // namespace routemaster::testing
