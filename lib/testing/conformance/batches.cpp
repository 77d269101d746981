#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cases.hpp"
#include "core/store/delivery_job.hpp"
#include "threads.hpp"

namespace routemaster::testing {

void add_publishing_cases(StoreCases& add) {
    add("an event without subscribers is queued nowhere", [](Scenario& s) {
        s.subscribe("billing", {"refunds"});
        s.publish("orders");
        expect_equal(s.batches("billing"), std::vector<BatchStatus>{}, "batches");
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
    });

    add("an event goes to every subscriber of its topic, in a separate batch for each subscriber",
        [](Scenario& s) {
            for (const char* token : {"a", "b", "c"}) s.subscribe(token, {"orders"});
            s.subscribe("d", {"refunds"});
            s.publish("orders");
            std::set<Uid> uids;
            for (const char* token : {"a", "b", "c"}) uids.insert(s.batches(token).at(0).uid);
            expect_equal(uids.size(), 3U, "ids of the three batches");
            s.advance(Duration{500});
            for (const char* token : {"a", "b", "c"}) s.expect_delivered(token, {{"orders 1"}});
            s.expect_delivered("d", {});
        });

    add("an event for one subscriber reaches only this subscriber, whatever topics are subscribed "
        "to",
        [](Scenario& s) {
            s.subscribe("a", {"orders"}, {.timeout = Duration{0}});
            s.subscribe("b", {"refunds"}, {.timeout = Duration{0}});
            // The two publications claim both topics for their publisher.
            s.publish("refunds");
            s.publish("orders");
            auto event = s.publication("orders", "for b", {.publisher = {}});
            event.subscriber = "b";
            const auto topics = s.topics();
            s.perform(event);
            expect(s.topics() == topics, "an event for one subscriber must not change the topics");
            expect_equal(s.counter_of("b", "events.added"), 2, "events.added");
            s.expect_delivered("b", {{"refunds 1", "for b"}});
            s.expect_delivered("a", {{"orders 1"}});
            event.topic = "new";
            event.uid = s.uid();
            s.perform(event);
            s.expect_delivered("b", {{"for b"}});
            expect(s.topics() == topics, "an event for one subscriber must not create its topic");
        });

    add("an event for a subscriber that does not exist is refused and changes nothing",
        [](Scenario& s) {
            s.subscribe("a", {"orders"});
            s.subscribe("b", {"orders"});
            auto event = s.publication("orders", "event", {.publisher = {}});
            for (const char* token : {"c", "No Token"}) {
                event.subscriber = token;
                s.expect_refused(event, "subscriber");
            }
            event.subscriber = "a";
            event.publisher = shop;
            s.expect_refused(event, "publisher");
            event.publisher = std::nullopt;
            s.perform(RemoveSubscriber{"b"});
            event.subscriber = "b";
            s.expect_refused(event, "subscriber");
        });

    add("events of all topics of a subscriber share one batch, in publish order", [](Scenario& s) {
        s.subscribe("billing", {"orders", "refunds"});
        s.publish("refunds");
        s.publish("orders", 2);
        s.publish("refunds");
        s.advance(Duration{500});
        s.expect_delivered("billing", {{"refunds 1", "orders 1", "orders 2", "refunds 2"}});
    });

    add("messages arrive unchanged, byte for byte", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        std::string every_byte;
        for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
        const std::vector<std::string> messages{every_byte, std::string(1, '\0'),
                                                std::string(200'000, '\xff'), "\r\n", every_byte};
        for (const auto& message : messages) s.publish_message("orders", message);
        s.expect_delivered("billing", {messages});
    });

    add("a batch never gets an id that was used before", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 1});
        const auto uid = s.uid();
        // Another process may have pushed a delivery job with the same id.
        s.perform(PushJob{delivery_queue, detail::delivery_job(uid.sibling(1)), s.now()});
        for (const char* message : {"first", "second", "third"}) {
            s.perform(PublishEvent{.topic = "orders",
                                   .publisher = shop,
                                   .message = message,
                                   .timestamp = s.now(),
                                   .uid = uid});
        }
        s.expect_delivered("billing", {{"first"}, {"second"}, {"third"}});
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
    });
}

void add_due_cases(StoreCases& add) {
    add("a batch falls due after its subscriber's timeout, to the millisecond", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{1'234}});
        s.publish("orders");
        const auto due = s.now() + Duration{1'234};
        s.expect_idle_until(due);
        s.advance(Duration{1'233});
        s.expect_idle_until(due);
        s.advance(Duration{1});
        expect_equal(s.begin(s.take()).verdict, Verdict::deliver,
                     "verdict of the first attempt at the due time");
    });

    add("the timeout of each subscriber applies only to its own batch", [](Scenario& s) {
        s.subscribe("quick", {"orders"}, {.timeout = Duration{10}});
        s.subscribe("slow", {"orders"}, {.timeout = Duration{3'600'000}});
        s.publish("orders");
        s.advance(Duration{10});
        s.expect_delivered("quick", {{"orders 1"}});
        s.expect_idle_until(s.now() + Duration{3'599'990});
    });

    add("later events do not postpone the due time of a batch", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders");
        const auto due = s.now() + Duration{500};
        s.advance(Duration{499});
        s.publish("orders");
        s.expect_idle_until(due);
        s.advance(Duration{1});
        s.expect_delivered("billing", {{"orders 1", "orders 2"}});
    });

    add("a batch's timeout counts from the time of its first event", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders", 1, {.timestamp = s.now() - Duration{200}});
        s.expect_idle_until(s.now() + Duration{300});
    });

    add("a batch is due at once when its first event is old", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders", 1, {.timestamp = from_milliseconds(0)});
        expect_equal(s.queue(delivery_queue).ready, 1U, "READY delivery jobs");
        s.expect_delivered("billing", {{"orders 1"}});
        s.publish("orders", 1, {.timestamp = TimePoint::min()});
        s.expect_delivered("billing", {{"orders 2"}});
    });

    add("an event with a time in the future counts as happening now", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders", 1, {.timestamp = s.now() + Duration{3'600'000}});
        s.expect_idle_until(s.now() + Duration{500});
        s.subscribe("audit", {"refunds"});
        s.publish("refunds", 1, {.timestamp = never});
        s.expect_idle_until(s.now() + Duration{500});
    });

    add("a batch with a timeout of 0 is due at once", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        s.publish("orders");
        s.expect_delivered("billing", {{"orders 1"}});
    });

    add("batches of several subscribers begin in the order of their due times", [](Scenario& s) {
        s.subscribe("a", {"orders"}, {.timeout = Duration{30}});
        s.subscribe("b", {"orders"}, {.timeout = Duration{10}});
        s.subscribe("c", {"orders"}, {.timeout = Duration{20}});
        s.publish("orders");
        s.advance(Duration{30});
        std::string order;
        for (int i = 0; i < 3; ++i) order += s.begin_next().second.subscription.token;
        expect_equal(order, "bca", "subscribers in the order of their deliveries");
    });
}

void add_sealing_cases(StoreCases& add) {
    add("a batch takes further events until its delivery begins, however late", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders");
        s.advance(Duration{500});
        const auto lease = s.take();
        s.publish("orders");
        expect_equal(s.batches("billing").at(0).current, true,
                     "the batch is CURRENT before its delivery begins");
        const auto start = s.begin(lease);
        expect_equal(start.messages.size(), 2U, "events delivered");
        expect_equal(s.batches("billing").at(0).current, false,
                     "the batch is CURRENT after its delivery has begun");
        s.publish("orders");
        expect_equal(s.batches("billing").size(), 2U, "batches");
        expect_equal(s.settle(lease), Settlement::settled, "settlement of the delivery");
        s.advance(Duration{500});
        s.expect_delivered("billing", {{"orders 3"}});
    });

    add("with max_events=1, a batch of one event is full and READY at once", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 1});
        s.publish("orders", 3);
        for (const auto& batch : s.batches("billing")) {
            expect_equal(batch.current, false, "a full batch is CURRENT");
        }
        s.expect_delivered("billing", {{"orders 1"}, {"orders 2"}, {"orders 3"}});
    });

    add("a batch of max_events events is full and READY at once, and not one event sooner",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"}, {.max_events = 100});
            s.publish("orders", 99);
            expect_equal(s.batches("billing").at(0).current, true,
                         "the batch is CURRENT at 99 events");
            s.expect_idle_until(s.now() + Duration{500});
            s.publish("orders");
            expect_equal(s.batches("billing").at(0).current, false,
                         "the batch is CURRENT at 100 events");
            expect_equal(s.queue(delivery_queue), QueueStatus{.ready = 1}, "delivery jobs");
            const auto [lease, start] = s.begin_next();
            expect_equal(start.messages.size(), 100U, "events delivered");
        });

    add("a batch of batch_bytes_max bytes is READY at once, at any max_events", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 1'000'000});
        std::vector<std::string> messages;
        const auto publish = [&](std::size_t bytes) {
            messages.emplace_back(bytes, static_cast<char>('a' + messages.size()));
            s.publish_message("orders", messages.back());
            s.advance(Duration{1});  // Batches created at one instant may be in any order.
        };
        // Each event is large, because a store may overestimate the size of a batch by up to a
        // third.
        while (messages.size() < 7) publish(100'000);
        expect_equal(s.batches("billing").size(), 1U, "batches with 700,000 bytes in all");
        expect_equal(s.batches("billing").at(0).current, true,
                     "the batch is CURRENT at 700,000 bytes");
        while (messages.size() < 11) publish(100'000);
        const auto first = s.batches("billing").at(0);
        expect_equal(first.current, false, "the batch is CURRENT at 1,100,000 bytes");
        expect_equal(s.queue(delivery_queue).ready, 1U, "delivery jobs");
        publish(batch_bytes_max);
        s.advance(Duration{500});
        const auto [lease, start] = s.begin_next();
        expect_equal(start.messages.size(), first.events, "events delivered");
        s.settle(lease);
        std::vector<std::string> others{
            messages.begin() + static_cast<std::ptrdiff_t>(first.events), messages.end()};
        s.expect_delivered("billing", {others});

        for (int i = 0; i < 1'200; ++i) s.publish_message("orders", std::string(1'000, 'x'));
        expect_equal(s.queue(delivery_queue).ready, 1U,
                     "READY delivery jobs after 1,200,000 bytes of small events");
    });

    add("the event after a full batch begins a new batch with its own timeout", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 2});
        s.publish("orders", 2);
        s.advance(Duration{100});
        s.publish("orders");
        const auto batches = s.batches("billing");
        expect_equal(batches.size(), 2U, "batches");
        expect_equal(batches[1].current, true, "the second batch is CURRENT");
        expect_equal(batches[1].created_at, s.now(), "creation time of the second batch");
        s.expect_delivered("billing", {{"orders 1", "orders 2"}});
        s.expect_idle_until(s.now() + Duration{500});
    });

    add("lowering max_events also limits a batch that has already begun", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 10});
        s.publish("orders", 5);
        s.subscribe("billing", {"orders"}, {.max_events = 3});
        s.publish("orders", 2);
        s.expect_delivered(
            "billing", {{"orders 1", "orders 2", "orders 3", "orders 4", "orders 5", "orders 6"}});
        expect_equal(s.subscriber("billing").events_queued, 1U, "events queued");
    });

    add("a batch that becomes full during the lease of its job is READY once", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}, .max_events = 2});
        s.publish("orders");
        const auto lease = s.take();
        s.publish("orders");
        expect_equal(s.queue(delivery_queue), QueueStatus{.pending = 1}, "delivery jobs");
        expect_equal(s.begin(lease).messages.size(), 2U, "events delivered");
        s.settle(lease);
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
    });

    add("batches are listed in delivery order", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 2});
        const auto began = s.now();
        s.publish("orders", 2);
        s.advance(Duration{7});
        s.publish("orders", 3);
        s.fail_next(0);
        const auto batches = s.batches("billing");
        expect_equal(batches.size(), 3U, "batches");
        const auto is = [&](std::size_t i, TimePoint created_at, std::uint32_t attempts,
                            std::uint64_t events, bool current) {
            expect_equal(
                batches[i],
                BatchStatus{batches[i].uid, "billing", created_at, attempts, events, current},
                "batch " + std::to_string(i));
        };
        is(0, began, 1, 2, false);
        is(1, s.now(), 0, 2, false);
        is(2, s.now(), 0, 1, true);
        const auto page = s.perform(ListBatches{.token = "billing", .limit = 2});
        expect_equal(page.size(), 2U, "batches on the first page");
        expect_equal(page[1].status, batches[1], "second batch on the page");
        expect_equal(s.perform(ListBatches{.token = "nobody"}), std::vector<QueuedBatch>{},
                     "batches of an unknown subscriber");
        s.expect_refused(ListBatches{.token = "billing", .limit = 0}, "limit");
    });

    add("a subscriber has at most one CURRENT batch while eight threads publish", [](Scenario& s) {
        constexpr unsigned threads = 8;
        constexpr unsigned events = 200;
        constexpr std::uint32_t full = 7;
        s.subscribe("billing", {"orders"}, {.max_events = full});
        in_threads(threads, [&](unsigned thread) {
            UidSource uids{thread + 1, 42};
            for (unsigned i = 0; i < events; ++i) {
                s.perform(PublishEvent{.topic = "orders",
                                       .publisher = shop,
                                       .message = std::to_string(thread * events + i),
                                       .timestamp = s.now(),
                                       .uid = uids.next()});
                if (i % 50 != 0) continue;
                unsigned current = 0;
                for (const auto& batch : s.batches("billing")) current += batch.current ? 1 : 0;
                expect(current <= 1, std::to_string(current) + " batches are CURRENT");
            }
        });
        const auto batches = s.batches("billing");
        expect_equal(batches.size(), (threads * events + full - 1) / full, "batches");
        for (const auto& batch : batches) {
            const bool last = &batch == &batches.back();
            expect_equal(batch.events, last ? threads * events % full : full, "events of a batch");
            expect_equal(batch.current, last, "the batch is CURRENT");
        }
        s.advance(Duration{500});
        std::vector<unsigned> next(threads);
        s.drain();
        for (const auto& batch : s.take_delivered("billing")) {
            for (const auto& message : batch) {
                const auto number = static_cast<unsigned>(std::stoul(message));
                expect_equal(number % events, next[number / events]++,
                             "next event from thread " + std::to_string(number / events));
            }
        }
        expect_equal(next, std::vector<unsigned>(threads, events), "events from each thread");
    });
}

}  // namespace routemaster::testing
