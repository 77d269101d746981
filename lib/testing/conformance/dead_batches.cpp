#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "core/store/delivery_job.hpp"

namespace routemaster::testing {
namespace {

/// Subscribes `billing` to `orders`, with one event and one attempt per batch.
void subscribe_mortal(Scenario& s, std::uint32_t dead_max = 1'000) {
    s.subscribe("billing", {"orders"},
                {.timeout = Duration{0}, .max_events = 1, .attempts_max = 1, .dead_max = dead_max});
}

/// Makes the next `count` batches DEAD, one per millisecond. Returns their ids.
std::vector<Uid> kill_some(Scenario& s, unsigned count) {
    std::vector<Uid> ids;
    for (unsigned i = 0; i < count; ++i) {
        s.advance(Duration{1});
        ids.push_back(s.kill_next());
    }
    return ids;
}

std::vector<Uid> dead_ids(const Scenario& s, const std::string& token) {
    std::vector<Uid> ids;
    for (const auto& batch : s.dead(token)) ids.push_back(batch.uid);
    return ids;
}

}  // namespace

void add_death_cases(StoreCases& add) {
    add("a batch is DEAD after its last attempt, and then the next begins", [](Scenario& s) {
        s.subscribe("billing", {"orders"},
                    {.timeout = Duration{0}, .max_events = 1, .attempts_max = 3});
        s.publish("orders", 2);
        s.fail_next(0);
        s.fail_next(0);
        expect_equal(s.dead("billing"), std::vector<DeadBatchStatus>{}, "DEAD batches");
        const auto poison = s.kill_next();
        expect_equal(dead_ids(s, "billing"), std::vector{poison}, "DEAD batches");
        s.expect_delivered("billing", {{"orders 2"}});
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
        s.advance(Duration{3'600'000});
        s.perform(ScrubWorkers{Duration{30'000}});
        s.expect_idle_until(never);
    });

    add("batches become DEAD only for subscribers that limit attempts or age", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}, .dead_max = 1});
        s.publish("orders");
        for (int i = 0; i < 50; ++i) {
            const auto [lease, start] = s.begin_next();
            const Attempt failed{.delivered = false,
                                 .retry_after = Duration{1'000'000'000},
                                 .permanent = true,
                                 .error = "HTTP 410"};
            expect_equal(s.settle(lease, failed), Settlement::settled,
                         "settlement of the failed delivery");
            s.advance(Duration{1'000'000'000});
        }
        expect_equal(s.subscriber("billing").batches_dead, 0U, "DEAD batches");
        s.expect_delivered("billing", {{"orders 1"}});
    });

    add("a batch that fails at the age age_max becomes DEAD, and not one millisecond sooner",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"},
                        {.timeout = Duration{0}, .age_max = Duration{5'000}});
            s.publish("orders");
            s.advance(Duration{4'999});
            s.fail_next(0);
            s.advance(Duration{1});
            s.kill_next();
            expect_equal(s.subscriber("billing").batches_dead, 1U, "DEAD batches");
        });

    add("a batch delivered successfully after age_max does not become DEAD", [](Scenario& s) {
        s.subscribe("billing", {"orders"},
                    {.timeout = Duration{0}, .attempts_max = 2, .age_max = Duration{1'000}});
        s.publish("orders");
        s.fail_next(0);
        s.advance(Duration{60'000});
        s.expect_delivered("billing", {{"orders 1"}});
        expect_equal(s.subscriber("billing").batches_dead, 0U, "DEAD batches");
    });

    add("a permanent failure makes a batch DEAD if its subscriber limits the attempts or the age",
        [](Scenario& s) {
            for (const auto& settings :
                 {SubscriberSettings{.timeout = Duration{0}, .attempts_max = 1'000},
                  SubscriberSettings{
                      .timeout = Duration{0}, .attempts_max = 0, .age_max = Duration{1'000'000}}}) {
                s.subscribe("billing", {"orders"}, settings);
                s.publish("orders");
                const auto [lease, start] = s.begin_next();
                expect_equal(s.settle(lease, {.delivered = false, .permanent = true}),
                             Settlement::dead, "settlement of a permanent failure");
            }
            expect_equal(s.subscriber("billing").batches_dead, 2U, "DEAD batches");
        });

    add("settings for DEAD batches are kept until a subscription changes them", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        const auto settings = [&] { return s.subscriber("billing").subscription; };
        expect_equal(settings().attempts_max, 0U, "attempts_max");
        expect_equal(settings().age_max, Duration{0}, "age_max");
        expect_equal(settings().dead_max, 1'000U, "dead_max");
        s.subscribe(
            "billing", {"orders"},
            {.attempts_max = 1'000'000, .age_max = Duration{31'536'000'000}, .dead_max = 7});
        s.subscribe("billing", {"orders"});
        expect_equal(settings().attempts_max, 1'000'000U, "attempts_max");
        expect_equal(settings().age_max, Duration{31'536'000'000}, "age_max");
        expect_equal(settings().dead_max, 7U, "dead_max");
        s.subscribe("billing", {"orders"}, {.attempts_max = 0, .age_max = Duration{0}});
        expect_equal(settings().attempts_max, 0U, "attempts_max");
        expect_equal(settings().age_max, Duration{0}, "age_max");
        expect_equal(settings().dead_max, 7U, "dead_max");
    });

    add("invalid settings for DEAD batches are refused and change nothing", [](Scenario& s) {
        const auto refused = [&](const char* field, SubscribeOptions options) {
            options.callback = "https://b.example/";
            s.expect_refused(Subscribe{"billing", {"orders"}, std::move(options)}, field);
        };
        s.subscribe("billing", {"orders"});
        refused("attempts_max", {.callback = {}, .attempts_max = 1'000'001});
        refused("age_max", {.callback = {}, .age_max = Duration{-1}});
        refused("age_max", {.callback = {}, .age_max = Duration{31'536'000'001}});
        refused("dead_max", {.callback = {}, .dead_max = 0});
        refused("dead_max", {.callback = {}, .dead_max = 10'001});
        s.expect_refused(ListDeadBatches{"billing", 0}, "limit");
    });

    add("with max_in_flight=2, a batch that becomes DEAD lets another begin", [](Scenario& s) {
        s.subscribe(
            "billing", {"orders"},
            {.timeout = Duration{0}, .max_events = 1, .max_in_flight = 2, .attempts_max = 1});
        s.publish("orders", 4);
        const auto [first, first_start] = s.begin_next();
        const auto [second, second_start] = s.begin_next();
        expect_equal(s.acquire().leases.size(), 0U, "leases for a third delivery");
        expect_equal(s.settle(second, {.delivered = false}), Settlement::dead,
                     "settlement of the delivery");
        const auto third = s.begin_next().second;
        expect_equal(third.messages.size(), 1U, "events of the third batch");
        expect_equal(s.acquire().leases.size(), 0U, "leases for a fourth delivery");
        expect_equal(s.settle(first), Settlement::settled, "settlement of the first delivery");
        expect_equal(s.acquire().leases.size(), 1U,
                     "leases for the fourth delivery after the first is settled");
    });

    add("a delivery whose lease is lost makes no batch DEAD", [](Scenario& s) {
        subscribe_mortal(s);
        s.publish("orders");
        const auto [lease, start] = s.begin_next(1);
        s.advance(Duration{60'000});
        s.perform(ScrubWorkers{Duration{30'000}});
        const auto [heir, again] = s.begin_next(2);
        const auto before = s.snapshot();
        expect_equal(s.settle(lease, {.delivered = false, .permanent = true}),
                     Settlement::lease_lost, "settlement with a lost lease");
        expect_unchanged(s.snapshot(), before);
        expect_equal(s.settle(heir), Settlement::settled, "settlement of the delivery");
    });

    add("a CURRENT batch that becomes DEAD takes no more events", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}, .attempts_max = 5});
        s.publish("orders");
        const auto lease = s.take();
        expect_equal(s.settle(lease, {.delivered = false, .permanent = true}), Settlement::dead,
                     "settlement of a delivery that never began");
        s.publish("orders");
        expect_equal(s.batches("billing").size(), 1U, "batches");
        expect_equal(s.dead("billing").at(0).events, 1U, "events of the DEAD batch");
        s.expect_delivered("billing", {{"orders 2"}});
    });
}

void add_dead_letter_cases(StoreCases& add) {
    add("a DEAD batch keeps its events, its number of attempts and its error", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}, .attempts_max = 2});
        const auto created_at = s.now();
        s.publish("orders", 2);
        s.advance(Duration{10});
        s.fail_next(0);
        s.advance(Duration{10});
        const auto uid = s.kill_next("HTTP 500");
        const DeadBatchStatus expected{.uid = uid,
                                       .subscriber = "billing",
                                       .created_at = created_at,
                                       .died_at = s.now(),
                                       .attempts = 2,
                                       .events = 2,
                                       .error = "HTTP 500"};
        expect_equal(s.dead("billing"), std::vector{expected}, "DEAD batches");
        MessageList messages;
        messages.append("orders 1");
        messages.append("orders 2");
        expect_equal(s.perform(FindDeadBatch{"billing", uid}),
                     std::optional{DeadMessages{expected, messages}}, "DEAD batch found by its id");
        expect_equal(s.perform(FindDeadBatch{"audit", uid}), std::optional<DeadMessages>{},
                     "DEAD batch found for another subscriber");
        expect_equal(s.perform(FindDeadBatch{"billing", s.uid()}), std::optional<DeadMessages>{},
                     "DEAD batch found by an unknown id");
    });

    add("the beginning of a long error is kept, cut between characters", [](Scenario& s) {
        subscribe_mortal(s);
        s.publish("orders");
        // 499 bytes, followed by characters of two bytes each.
        std::string error(499, 'e');
        for (int i = 0; i < 1'000; ++i) error += "\xc3\xa9";
        s.kill_next(error);
        expect_equal(s.dead("billing").at(0).error, std::string(499, 'e'),
                     "stored error of the DEAD batch");
    });

    add("DEAD batches are counted, and are not in the list of queued batches", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}, .attempts_max = 1});
        s.publish("orders", 3);
        s.kill_next();
        s.publish("orders", 2);
        const auto now = s.subscriber("billing");
        expect_equal(now.batches_dead, 1U, "DEAD batches");
        expect_equal(now.batches_queued, 1U, "batches queued");
        expect_equal(now.events_queued, 2U, "events queued");
        expect_equal(s.batches("billing").size(), 1U, "batches listed");
        expect_equal(s.counter_of("billing", "batches.dead"), 1, "batches.dead");
        expect_equal(s.counter_of("billing", "events.dead"), 3, "events.dead");
        expect_equal(s.counter_of("billing", "events.removed"), 3, "events.removed");
        expect_equal(s.counter_of("billing", "delivery.batches", "failure"), 1,
                     "failed deliveries");
    });

    add("DEAD batches are listed in the order in which they became DEAD", [](Scenario& s) {
        subscribe_mortal(s);
        s.publish("orders", 5);
        const auto ids = kill_some(s, 5);
        expect_equal(dead_ids(s, "billing"), ids, "DEAD batches");
        const auto two = s.perform(ListDeadBatches{"billing", 2});
        expect_equal(two.size(), 2U, "DEAD batches on a page of two");
        expect_equal(two.back().uid, ids[1], "id of the second batch on the page");
        const auto more = s.perform(ListDeadBatches{"billing", 2, ids[1]});
        expect_equal(more.size(), 2U, "DEAD batches after the second");
        expect_equal(more.front().uid, ids[2], "id of the third DEAD batch");
        expect_equal(s.perform(ListDeadBatches{"billing", 9, ids[4]}).size(), 0U,
                     "DEAD batches after the last");
        s.expect_refused(ListDeadBatches{"billing", 9, Uid{}}, "after");
        s.expect_refused(ListDeadBatches{"nobody", 9, ids[0]}, "after");
        s.perform(DropDeadBatches{"billing", ids[1]});
        s.expect_refused(ListDeadBatches{"billing", 9, ids[1]}, "after");
        expect_equal(s.perform(ListDeadBatches{"billing", 1, ids[0]}).front().uid, ids[2],
                     "id of the batch after the first when the second was dropped");
    });

    add("a redelivered batch joins the end of the queue, and its age counts from the redelivery",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"},
                        {.timeout = Duration{0},
                         .max_events = 1,
                         .attempts_max = 2,
                         .age_max = Duration{10'000}});
            s.publish("orders", 3);
            s.fail_next(0);
            const auto poison = s.kill_next();
            s.advance(Duration{20'000});
            expect_equal(s.perform(RedeliverDeadBatches{"billing", poison}), Count{1},
                         "batches redelivered");
            expect_equal(s.dead("billing"), std::vector<DeadBatchStatus>{}, "DEAD batches");
            const auto waiting = s.batches("billing").at(2);
            expect_equal(waiting.uid, poison, "id of the last queued batch");
            expect_equal(waiting.created_at, s.now(), "creation time of the redelivered batch");
            expect_equal(waiting.attempts, 0U, "attempts of the redelivered batch");
            expect_equal(waiting.current, false, "the redelivered batch is CURRENT");
            expect_equal(s.perform(RedeliverDeadBatches{"billing", poison}), Count{0},
                         "batches redelivered by a second request");
            for (const auto* message : {"orders 2", "orders 3"}) {
                const auto [lease, start] = s.begin_next();
                expect_equal(std::string{*start.messages.begin()}, std::string{message},
                             "first delivered event");
                s.settle(lease);
            }
            // The attempts and the age from before its death do not count.
            s.fail_next(0);
            const auto [lease, start] = s.begin_next();
            expect_equal(start.batch, poison, "id of the redelivered batch");
            expect_equal(start.attempt, 2U, "attempt");
            expect_equal(std::string{*start.messages.begin()}, std::string{"orders 1"},
                         "first delivered event");
            expect_equal(s.settle(lease), Settlement::settled, "settlement of the delivery");
            expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
        });

    add("a redelivered batch can become DEAD again", [](Scenario& s) {
        subscribe_mortal(s);
        s.publish("orders");
        const auto poison = s.kill_next("first");
        s.perform(RedeliverDeadBatches{"billing", poison});
        s.advance(Duration{1});
        expect_equal(s.kill_next("second"), poison, "id of the batch that died again");
        expect_equal(s.dead("billing").at(0).error, std::string{"second"},
                     "error of the second death");
        expect_equal(s.dead("billing").at(0).died_at, s.now(), "time of the second death");
        expect_equal(s.counter_of("billing", "batches.dead"), 2, "batches.dead");
    });

    add("all DEAD batches are redelivered in the order in which they became DEAD", [](Scenario& s) {
        subscribe_mortal(s);
        s.publish("orders", 4);
        kill_some(s, 3);
        s.advance(Duration{1});
        expect_equal(s.perform(RedeliverDeadBatches{"billing"}), Count{3}, "batches redelivered");
        const auto now = s.subscriber("billing");
        expect_equal(now.batches_dead, 0U, "DEAD batches");
        expect_equal(now.batches_queued, 4U, "batches queued");
        expect_equal(now.events_queued, 4U, "events queued");
        expect_equal(s.counter_of("billing", "events.redelivered"), 3, "events.redelivered");
        expect_equal(s.counter_of("billing", "events.added"), 7, "events.added");
        s.expect_delivered("billing", {{"orders 4"}, {"orders 1"}, {"orders 2"}, {"orders 3"}});
    });

    add("only batches of the named subscriber are redelivered or dropped", [](Scenario& s) {
        subscribe_mortal(s);
        s.publish("orders");
        const auto poison = s.kill_next();
        const auto before = s.snapshot();
        expect_equal(s.perform(RedeliverDeadBatches{"audit", poison}), Count{0},
                     "batches redelivered");
        expect_equal(s.perform(RedeliverDeadBatches{"audit"}), Count{0},
                     "batches redelivered for another subscriber");
        expect_equal(s.perform(RedeliverDeadBatches{"billing", s.uid()}), Count{0},
                     "batches redelivered by an unknown id");
        expect_equal(s.perform(DropDeadBatches{"audit", poison}), Dropped{},
                     "batches and events dropped");
        expect_equal(s.perform(DropDeadBatches{"audit"}), Dropped{},
                     "batches dropped for another subscriber");
        expect_equal(s.perform(DropDeadBatches{"billing", s.uid()}), Dropped{},
                     "batches dropped by an unknown id");
        expect_unchanged(s.snapshot(), before);
    });

    add("requests to redeliver or drop DEAD batches do not affect queued batches", [](Scenario& s) {
        subscribe_mortal(s);
        s.publish("orders");
        const auto waiting = s.batches("billing").at(0).uid;
        const auto before = s.snapshot();
        expect_equal(s.perform(FindDeadBatch{"billing", waiting}), std::optional<DeadMessages>{},
                     "DEAD batch found by the id of a queued batch");
        expect_equal(s.perform(RedeliverDeadBatches{"billing", waiting}), Count{0},
                     "batches redelivered");
        expect_equal(s.perform(DropDeadBatches{"billing", waiting}), Dropped{},
                     "batches and events dropped");
        expect_unchanged(s.snapshot(), before);
    });

    add("DEAD batches are dropped one at a time, or all at once, and counted", [](Scenario& s) {
        subscribe_mortal(s);
        s.publish("orders", 4);
        const auto ids = kill_some(s, 4);
        expect_equal(s.perform(DropDeadBatches{"billing", ids[1]}), Dropped{1, 1},
                     "batch and events dropped by an id");
        expect_equal(dead_ids(s, "billing"), std::vector{ids[0], ids[2], ids[3]}, "DEAD batches");
        expect_equal(s.perform(DropDeadBatches{"billing"}), Dropped{3, 3},
                     "batches and events dropped at once");
        expect_equal(s.subscriber("billing").batches_dead, 0U, "DEAD batches");
        expect_equal(s.counter_of("billing", "events.dead_dropped"), 4, "events.dead_dropped");
        expect_equal(s.counter_of("billing", "events.removed"), 4, "events.removed");
        expect_equal(s.perform(DropDeadBatches{"billing"}), Dropped{},
                     "batches dropped when none is DEAD");
    });

    add("beyond dead_max the oldest DEAD batches are dropped and counted", [](Scenario& s) {
        subscribe_mortal(s, 2);
        s.publish("orders", 4);
        const auto ids = kill_some(s, 4);
        expect_equal(dead_ids(s, "billing"), std::vector{ids[2], ids[3]}, "DEAD batches");
        expect_equal(s.counter_of("billing", "events.dead_dropped"), 2, "events.dead_dropped");
        expect_equal(s.perform(FindDeadBatch{"billing", ids[0]}), std::optional<DeadMessages>{},
                     "DEAD batch found by the id of the first that died");
        subscribe_mortal(s, 1);
        s.publish("orders");
        const auto last = kill_some(s, 1);
        expect_equal(dead_ids(s, "billing"), last, "DEAD batches with a lower dead_max");
    });

    add("the DEAD batches of a removed subscriber are dropped, and counted", [](Scenario& s) {
        subscribe_mortal(s);
        s.publish("orders", 2);
        const auto ids = kill_some(s, 2);
        s.perform(RemoveSubscriber{"billing"});
        expect_equal(s.dead("billing"), std::vector<DeadBatchStatus>{}, "DEAD batches");
        expect_equal(s.counter_of("billing", "events.dead_dropped"), 2, "events.dead_dropped");
        subscribe_mortal(s);
        expect_equal(s.subscriber("billing").batches_dead, 0U,
                     "DEAD batches of a new subscriber with the same token");
        expect_equal(s.perform(RedeliverDeadBatches{"billing", ids[0]}), Count{0},
                     "batches redelivered");
    });

    add("no batch of a removed subscriber becomes DEAD", [](Scenario& s) {
        subscribe_mortal(s);
        s.publish("orders");
        const auto [lease, start] = s.begin_next();
        s.perform(RemoveSubscriber{"billing"});
        expect_equal(s.settle(lease, {.delivered = false, .retry_after = Duration{0}}),
                     Settlement::settled, "settlement of the delivery");
        expect_equal(s.begin(s.take()).verdict, Verdict::vanished, "verdict of the next attempt");
        expect_equal(s.dead("billing"), std::vector<DeadBatchStatus>{}, "DEAD batches");
    });

    add("DEAD batches are dropped before queued batches, in the order in which they became DEAD",
        [](Scenario& s) {
            subscribe_mortal(s);
            s.subscribe("audit", {"orders"},
                        {.timeout = Duration{0}, .max_events = 1, .attempts_max = 1});
            s.publish("orders", 1);
            s.advance(Duration{1});
            s.kill_next();
            s.advance(Duration{1});
            s.kill_next();
            s.publish("orders", 1);
            expect_equal(s.perform(DropOldestBatches{1}), Dropped{1, 1},
                         "batches and events dropped first");
            expect_equal(s.subscriber("audit").batches_dead + s.subscriber("billing").batches_dead,
                         1U, "DEAD batches left");
            expect_equal(s.perform(DropOldestBatches{2}), Dropped{2, 2},
                         "batches and events dropped second");
            expect_equal(s.subscriber("audit").batches_dead + s.subscriber("billing").batches_dead,
                         0U, "DEAD batches left");
            expect_equal(
                s.subscriber("audit").batches_queued + s.subscriber("billing").batches_queued, 1U,
                "queued batches left");
            const auto sum = [&](const char* name) {
                return s.counter_of("audit", name).value_or(0) +
                       s.counter_of("billing", name).value_or(0);
            };
            expect_equal(sum("events.autodropped"), 3, "events.autodropped");
            expect_equal(sum("events.dead_dropped"), 2, "events.dead_dropped");
            expect_equal(sum("events.removed"), 3, "events.removed");
        });

    add("a DEAD batch counts towards the size of the store until it is dropped", [](Scenario& s) {
        subscribe_mortal(s);
        const auto before = s.perform(MeasureUse{}).bytes;
        s.publish_message("orders", std::string(1U << 20U, 'x'));
        s.kill_next();
        const auto dead = s.perform(MeasureUse{}).bytes;
        expect(dead >= before + (1U << 20U), "a DEAD event of 1 MiB must take at least 1 MiB");
        s.perform(DropDeadBatches{"billing"});
        expect(s.perform(MeasureUse{}).bytes < dead, "a dropped DEAD batch must free its space");
    });

    add("no later batch gets the id of a DEAD batch", [](Scenario& s) {
        subscribe_mortal(s);
        const PublishEvent event{.topic = "orders",
                                 .publisher = shop,
                                 .message = "one",
                                 .timestamp = s.now(),
                                 .uid = s.uid()};
        s.perform(event);
        const auto dead = s.kill_next();
        s.perform(event);
        expect(s.batches("billing").at(0).uid != dead,
               "a second batch must not get the id of the DEAD batch");
        expect_equal(dead_ids(s, "billing"), std::vector{dead}, "DEAD batches");
    });

    add("pushing a delivery job for a DEAD batch delivers nothing", [](Scenario& s) {
        subscribe_mortal(s);
        s.publish("orders");
        const auto dead = s.kill_next();
        s.perform(PushJob{delivery_queue, detail::delivery_job(dead), s.now()});
        expect_equal(s.perform(RedeliverDeadBatches{"billing", dead}), Count{0},
                     "batches redelivered");
        expect_equal(s.begin(s.take()).verdict, Verdict::vanished, "verdict of the attempt");
        expect_equal(dead_ids(s, "billing"), std::vector{dead}, "DEAD batches");
        expect_equal(s.perform(RedeliverDeadBatches{"billing", dead}), Count{1},
                     "batches redelivered after the delivery job is gone");
        s.expect_delivered("billing", {{"orders 1"}});
    });
}

}  // namespace routemaster::testing
