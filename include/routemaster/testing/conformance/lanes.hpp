/// @file
/// Conformance: the batches of a subscriber wait for each other, and for nobody else's.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/testing/conformance/case.hpp"

namespace routemaster::testing {

/// Subscribes `token` to `orders` with full batches of one event each.
inline void subscribe_one_by_one(Scenario& s, const std::string& token,
                                 std::uint32_t max_in_flight = 1) {
    s.subscribe(token, {"orders"}, {.max_events = 1, .max_in_flight = max_in_flight});
}

/// The messages of all deliveries that can begin now, without ending any.
inline std::vector<std::string> begin_all(Scenario& s, Where at = Where::here()) {
    std::vector<std::string> messages;
    for (const auto& lease : s.acquire({}, at).leases) {
        const auto start = s.begin(lease, 0, at);
        expect_equal(start.verdict, Verdict::deliver, "beginning a delivery", at);
        for (const auto message : start.messages) messages.emplace_back(message);
    }
    return messages;
}

/// Adds the cases about the order of a subscriber's batches.
inline void add_lane_cases(StoreCases& add) {
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
                "the batch under way");
            s.expect_idle_until(never);
            s.settle(lease);
        }
        s.expect_idle_until(never);
    });

    add("max_in_flight batches of a subscriber are under way at a time", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 3);
        s.publish("orders", 5);
        auto leases = s.acquire().leases;
        expect_equal(leases.size(), 3U, "batches under way");
        s.expect_idle_until(never);
        s.begin(leases[1]);
        s.settle(leases[1]);
        expect_equal(begin_all(s), std::vector<std::string>{"orders 4"}, "the next under way");
        s.expect_idle_until(never);
    });

    add("a batch that failed holds the ones behind it until it is retried", [](Scenario& s) {
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

    add("a batch whose job was given back keeps its place", [](Scenario& s) {
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

    add("a throttled batch holds the ones behind it", [](Scenario& s) {
        subscribe_one_by_one(s, "billing");
        s.publish("orders", 2);
        s.fail_next(-99);
        expect_equal(s.begin(s.take()).verdict, Verdict::throttled, "beginning again");
        s.expect_idle_until(s.now() + Duration{30'000});
        s.advance(Duration{30'000});
        s.expect_delivered("billing", {{"orders 1"}});
        s.advance(Duration{30'000});
        s.expect_delivered("billing", {{"orders 2"}});
    });

    add("a subscriber whose batches are stuck holds nobody else up", [](Scenario& s) {
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

    add("a subscriber whose delivery never ends holds nobody else up", [](Scenario& s) {
        subscribe_one_by_one(s, "audit");
        subscribe_one_by_one(s, "billing");
        s.publish("orders", 2);
        const auto [lease, start] = s.begin_next();
        expect_equal(start.subscription.token, "audit", "the subscriber that began first");
        s.expect_delivered("billing", {{"orders 1"}, {"orders 2"}});
        s.expect_delivered("audit", {});
    });

    add("a higher max_in_flight lets waiting batches begin", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 1);
        s.publish("orders", 4);
        expect_equal(begin_all(s), std::vector<std::string>{"orders 1"}, "under way at first");
        s.subscribe("billing", {"orders"}, {.max_in_flight = 3});
        expect_equal(begin_all(s), std::vector<std::string>{"orders 2", "orders 3"},
                     "begun after the change");
        s.expect_idle_until(never);
    });

    add("a lower max_in_flight holds back the batches that are not under way", [](Scenario& s) {
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
        expect_equal(begin_all(s), std::vector<std::string>{"orders 2"}, "the next under way");
        s.expect_idle_until(never);
    });

    add("a batch given back after max_in_flight was lowered waits for its turn", [](Scenario& s) {
        subscribe_one_by_one(s, "billing", 3);
        s.publish("orders", 3);
        const auto leases = s.acquire().leases;
        expect_equal(leases.size(), 3U, "batches under way");
        s.subscribe("billing", {"orders"}, {.max_in_flight = 1});
        for (const auto& lease : leases) s.perform(NackJob{lease, s.now()});
        expect_equal(begin_all(s), std::vector<std::string>{"orders 1"}, "under way");
        s.expect_idle_until(never);
    });

    add("batches that are due but wait for others do not say when to come", [](Scenario& s) {
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
