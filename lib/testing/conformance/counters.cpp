#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/codec/msgpack.hpp"

namespace routemaster::testing {
namespace {

/// A counter of the subscriber `billing`, and its expected value. Nothing: the counter must not
/// exist.
struct BillingCounter {
    const char* name;
    const char* status;
    std::optional<std::int64_t> value;
};

void expect_billing(Scenario& s, const std::vector<BillingCounter>& counters,
                    Where at = Where::here()) {
    for (const auto& [name, status, value] : counters) {
        const auto what = status == nullptr ? std::string{name} : std::string{name} + " " + status;
        expect_equal(s.counter_of("billing", name, status, at), value, what, at);
    }
}

}  // namespace

void add_counter_cases(StoreCases& add) {
    add("publications are counted by topic, and by the public part of the publisher's token",
        [](Scenario& s) {
            s.publish_message("a", "12345", {.publisher = "shop--secret"});
            s.publish_message("a", "123", {.publisher = "shop--secret"});
            s.expect_forbidden(s.publication("a", "no", {.publisher = "other--secret"}), "topic");
            s.publish_message("b", "1", {.publisher = "plain"});
            s.publish_message("c", "12", {.publisher = std::nullopt});
            s.publish_message("d", "1", {.publisher = "--secret"});
            const auto counted = [&](const char* topic, const char* publisher, std::int64_t events,
                                     std::int64_t bytes, Where at = Where::here()) {
                const std::vector<CounterKey::Tag> tags{{"publisher", publisher}, {"topic", topic}};
                expect_equal(s.counter({"events.published", tags}), std::optional{events},
                             "events.published", at);
                expect_equal(s.counter({"events.bytes", tags}), std::optional{bytes},
                             "events.bytes", at);
            };
            counted("a", "shop", 2, 8);
            counted("b", "malformed", 1, 1);
            counted("c", "null", 1, 2);
            counted("d", "", 1, 1);
            expect_equal(s.counters().size(), 8U, "counters");
        });

    add("counters are listed in pages, each counter once", [](Scenario& s) {
        AddToCounters add_many;
        for (int i = 0; i < 25; ++i) {
            add_many.increments.push_back({{"n", {{"tag", std::to_string(i)}}}, i});
        }
        s.perform(add_many);
        const auto all = s.counters();
        std::vector<Counter> listed;
        for (Page page{.limit = 10};;) {
            const auto some = s.perform(ListCounters{page});
            listed.insert(listed.end(), some.begin(), some.end());
            if (some.size() < page.limit) break;
            page.after = encode_counter_key(some.back().key);
        }
        expect_equal(listed.size(), 25U, "counters");
        expect_equal(listed, all, "counters");
        s.expect_refused(ListCounters{{.after = "", .limit = 0}}, "limit");
        expect_equal(s.perform(ListCounters{{.after = encode_counter_key(all.back().key)}}),
                     std::vector<Counter>{}, "counters after the last page");
    });

    add("publications are counted for the publisher that owns the topic at that time",
        [](Scenario& s) {
            s.publish("a", 1, {.publisher = std::nullopt});
            s.publish("a", 2, {.publisher = "shop--key"});
            s.perform(RemoveTopic{"a", std::nullopt});
            s.publish("a", 4, {.publisher = "other--key"});
            for (const auto& [publisher, events] :
                 std::vector<std::pair<const char*, int>>{{"null", 1}, {"shop", 2}, {"other", 4}}) {
                expect_equal(
                    s.counter({"events.published", {{"publisher", publisher}, {"topic", "a"}}}),
                    std::optional{events}, publisher);
            }
        });

    add("events are counted into and out of the queue of each subscriber", [](Scenario& s) {
        s.subscribe("audit", {"orders"});
        s.subscribe("billing", {"orders", "refunds"}, {.timeout = Duration{0}});
        s.publish("orders", 2);
        s.publish("refunds");
        expect_billing(s, {{"events.added", nullptr, 3}, {"events.removed", nullptr, {}}});
        s.drain();
        expect_billing(s, {{"events.added", nullptr, 3}, {"events.removed", nullptr, 3}});
        expect_equal(s.counter_of("audit", "events.added"), std::optional{2},
                     "counter of the other subscriber");
        expect_equal(s.counter_of("audit", "events.removed"), std::optional<std::int64_t>{},
                     "counter of the other subscriber");
    });

    add("deliveries are counted by outcome, and their durations are added up", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        s.publish("orders", 3);
        for (const std::int64_t took : {10, 20}) {
            const auto [lease, start] = s.begin_next();
            s.advance(Duration{took});
            s.settle(lease,
                     {.delivered = false, .retry_after = Duration{0}, .took = Duration{took}});
        }
        expect_billing(s, {{"delivery.batches", "failure", 2},
                           {"delivery.events", "failure", 6},
                           {"delivery.time", "failure", 30},
                           {"delivery.time2", "failure", 500},
                           {"delivery.batches", "success", {}}});
        const auto [lease, start] = s.begin_next();
        s.advance(Duration{7});
        s.settle(lease, {.took = Duration{7}});
        expect_billing(s, {{"delivery.batches", "success", 1},
                           {"delivery.events", "success", 3},
                           {"delivery.time", "success", 7},
                           {"delivery.time2", "success", 49},
                           {"delivery.batches", "failure", 2}});
    });

    add("throttled deliveries are counted as throttled, without a duration", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        s.publish("orders", 2);
        s.fail_next(-100);
        s.begin(s.take());
        expect_billing(s, {{"delivery.batches", "throttled", 1},
                           {"delivery.events", "throttled", 2},
                           {"delivery.time", "throttled", {}},
                           {"delivery.time2", "throttled", {}},
                           {"delivery.batches", "failure", 1}});
    });

    add("latency is counted at the first attempt and at the successful attempt", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{100}});
        s.publish("orders");
        s.advance(Duration{150});
        const auto [lease, start] = s.begin_next();
        s.advance(Duration{8});
        s.settle(lease, {.delivered = false, .retry_after = Duration{1'000}, .took = Duration{8}});
        expect_billing(s, {{"latency.batches.count", nullptr, 1},
                           {"latency.batches.first_attempt", nullptr, 150},
                           {"latency.batches.last_attempt", nullptr, {}}});
        s.advance(Duration{1'000});
        const auto [again, second] = s.begin_next();
        s.advance(Duration{3});
        s.settle(again, {.took = Duration{3}});
        expect_billing(s, {{"latency.batches.count", nullptr, 1},
                           {"latency.batches.first_attempt", nullptr, 150},
                           {"latency.batches.last_attempt", nullptr, 1'158}});
    });

    add("counters remain after the removal of their topic and their subscriber", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        s.publish("orders");
        s.drain();
        s.perform(RemoveSubscriber{"billing"});
        s.perform(RemoveTopic{"orders", std::nullopt});
        const auto before = s.counters();
        expect(!before.empty(), "counters exist after the delivery");
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        expect_equal(s.counters(), before, "counters");
        s.publish("orders");
        expect_billing(s, {{"events.added", nullptr, 2}});
    });

    add("a program may add to a counter of any name", [](Scenario& s) {
        const CounterKey plain{"process", {}};
        const CounterKey tagged{"process", {{"status", "start"}, {"type", std::nullopt}}};
        s.perform(AddToCounters{{{plain, 2}, {tagged, 5}}});
        s.perform(AddToCounters{{{tagged, 1}, {tagged, -3}, {plain, 0}}});
        s.perform(AddToCounters{});
        expect_equal(s.counters(), std::vector<Counter>{{plain, 2}, {tagged, 3}}, "counters");
    });

    add("counters are listed by their encoded keys, and counters with different tags differ",
        [](Scenario& s) {
            const std::vector<CounterKey> keys{{"a", {}},
                                               {"a", {{"queue", ""}}},
                                               {"a", {{"queue", "a"}}},
                                               {"a", {{"queue", std::nullopt}}},
                                               {"a", {{"topic", "a"}}},
                                               {"a", {{"queue", "a"}, {"status", "x"}}},
                                               {"b", {}}};
            for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
                s.perform(AddToCounters{{{*key, 1}}});
            }
            std::vector<Counter> expected;
            for (const auto& key : keys) expected.push_back({key, 1});
            expect_equal(s.counters(), expected, "counters");
        });
}

}  // namespace routemaster::testing
