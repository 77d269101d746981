#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "threads.hpp"

namespace routemaster::testing {
namespace {

using Destinations = std::vector<std::string>;
using Tokens = std::vector<std::string>;

/// The destinations of a worker that can deliver to URLs only, as most workers.
const Destinations urls{""};

std::vector<Lease> acquire(Scenario& s, Destinations destinations, std::uint32_t limit = 100,
                           unsigned by = 1, Where at = Where::here()) {
    return s
        .perform(AcquireJobs{.queue = delivery_queue,
                             .worker = Scenario::worker(by),
                             .limit = limit,
                             .destinations = std::move(destinations)},
                 at)
        .leases;
}

std::vector<Lease> take(Scenario& s, Destinations destinations, Where at = Where::here()) {
    auto leases = acquire(s, std::move(destinations), 100, 1, at);
    expect_equal(leases.size(), 1U, "number of deliveries acquired", at);
    return leases;
}

/// Begins all deliveries that a worker with these destinations can acquire. Appends their leases,
/// and returns their tokens, in order.
Tokens begin(Scenario& s, Destinations destinations, std::vector<Lease>& leases,
             std::uint32_t limit = 100, Where at = Where::here()) {
    Tokens tokens;
    for (auto& lease : acquire(s, std::move(destinations), limit, 1, at)) {
        const auto start = s.begin(lease, 0, at);
        expect_equal(start.verdict, Verdict::deliver, "verdict of the first attempt", at);
        tokens.push_back(start.subscription.token);
        leases.push_back(std::move(lease));
    }
    return tokens;
}

/// As `begin` above, without the leases.
Tokens begin(Scenario& s, Destinations destinations, Where at = Where::here()) {
    std::vector<Lease> leases;
    return begin(s, std::move(destinations), leases, 100, at);
}

/// Settings with a callback inside a process. Each event is due at once, with up to five batches
/// under delivery.
SubscriberSettings called(const std::string& name) {
    return {.callback = "local:" + name, .max_events = 1, .max_in_flight = 5};
}

const Tokens no_token{};

void add_cases_of_waiting_destinations(StoreCases& add) {
    add("a delivery to a callback waits for a worker that serves the callback", [](Scenario& s) {
        s.subscribe("audit", {"orders"}, called("audit"));
        s.subscribe("billing", {"orders"}, {.max_events = 1});
        s.publish("orders");
        expect_equal(begin(s, {"other", "aud", ""}), Tokens{"billing"},
                     "subscribers served by a worker for URLs");
        expect_equal(s.acquire().leases, std::vector<Lease>{},
                     "leases of a worker that does not name its destinations");
        expect_equal(begin(s, {}), no_token, "subscribers served by a worker without destinations");
        expect_equal(s.queue(delivery_queue), QueueStatus{.ready = 1, .pending = 1},
                     "delivery jobs");
        expect_equal(s.subscriber("audit").batches_queued, 1U,
                     "queued batches of the subscriber with a callback");
        expect_equal(s.subscriber("audit").health_points, 100,
                     "health of the subscriber before its first attempt");
        expect_equal(begin(s, {"audit"}), Tokens{"audit"},
                     "subscribers served by a worker with the callback");
    });

    add("a delivery to a callback stays with its callback through all attempts", [](Scenario& s) {
        s.subscribe("audit", {"orders"}, called("audit"));
        s.publish("orders");
        std::vector<Lease> leases;
        expect_equal(begin(s, {"audit"}, leases), Tokens{"audit"},
                     "subscribers served by a worker with the callback");
        s.settle(leases.back(), {.delivered = false, .retry_after = Duration{100}});
        expect_equal(s.queue(delivery_queue), QueueStatus{.scheduled = 1},
                     "delivery jobs after the failure");
        s.advance(Duration{100});
        expect_equal(begin(s, urls), no_token, "subscribers served for URLs after the backoff");
        leases = take(s, {"audit"});
        s.perform(NackJob{leases[0], s.now()});
        expect_equal(begin(s, urls), no_token, "subscribers served for URLs after a nack");
        leases = take(s, {"audit"});
        expect_equal(s.perform(RetireWorker{leases[0].worker}).jobs, 1U,
                     "delivery jobs released by the retired worker");
        expect_equal(begin(s, urls), no_token,
                     "subscribers served for URLs after the worker has retired");
        leases = take(s, {"audit"});
        s.advance(Duration{30'000});
        expect_equal(s.perform(ScrubWorkers{Duration{30'000}}).jobs, 1U,
                     "jobs released by the scrub");
        expect_equal(s.counter({"jobs.scrubbed", {{"queue", delivery_queue}}}), 1, "jobs.scrubbed");
        expect_equal(begin(s, urls), no_token,
                     "subscribers served for URLs after the death of the worker");
        leases.clear();
        expect_equal(begin(s, {"audit"}, leases), Tokens{"audit"},
                     "subscribers served by a worker with the callback");
        expect_equal(s.settle(leases.back()), Settlement::settled, "settlement of the delivery");
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs left");
    });

    add("batches for a callback keep their order and their limits", [](Scenario& s) {
        auto one_by_one = called("audit");
        one_by_one.max_in_flight = 1;
        s.subscribe("audit", {"orders"}, one_by_one);
        s.publish("orders", 3);
        for (const char* message : {"orders 1", "orders 2", "orders 3"}) {
            const auto leases = take(s, {"audit"});
            const auto start = s.begin(leases[0]);
            expect_equal(start.messages.size(), 1U, "events of the batch");
            expect_equal(std::string{*start.messages.begin()}, message, "event of the next batch");
            expect_equal(acquire(s, {"", "audit"}).size(), 0U, "leases beside the batch under way");
            s.settle(leases[0]);
        }
    });

    add("even an acquisition of few deliveries serves each callback, and URLs", [](Scenario& s) {
        for (const char* name : {"a", "b"}) s.subscribe(name, {"orders"}, called(name));
        s.subscribe("u", {"orders"}, {.max_events = 1, .max_in_flight = 5});
        s.publish("orders", 5);
        std::vector<Lease> leases;
        expect_equal(begin(s, {"b", "", "a"}, leases, 1), Tokens{"b"},
                     "subscribers served by an acquisition of one");
        expect_equal(begin(s, {"a", "b", ""}, leases, 3), Tokens{"a", "b", "u"},
                     "subscribers served by an acquisition of three");
        expect_equal(begin(s, {"a", "b"}, leases, 6), Tokens{"a", "a", "a", "b", "b", "b"},
                     "subscribers served by an acquisition of six");
        expect_equal(begin(s, {"", "a", "b"}, leases, 100), Tokens{"u", "u", "u", "u", "a"},
                     "subscribers served by the last acquisition");
    });
}

void add_moving_cases(StoreCases& add) {
    add("queued batches follow their subscriber when it moves from a URL to a callback and back",
        [](Scenario& s) {
            const SubscriberSettings by_url{.max_events = 2, .max_in_flight = 3};
            auto by_call = called("audit");
            by_call.max_events = 2;
            by_call.max_in_flight = 3;
            s.subscribe("audit", {"orders"}, by_url);
            s.publish("orders", 9);
            std::vector<Lease> leases;
            expect_equal(begin(s, urls, leases, 1), Tokens{"audit"}, "subscribers served for URLs");
            // Now one batch is PENDING, two are READY, one is blocked in its group, and one is
            // CURRENT.
            s.subscribe("audit", {"orders"}, by_call);
            expect_equal(begin(s, urls), no_token,
                         "subscribers served for URLs after the change to a callback");
            expect_equal(begin(s, {"audit"}, leases).size(), 2U,
                         "deliveries begun for the callback");
            s.settle(leases[0], {.delivered = false, .retry_after = Duration{0}});
            expect_equal(begin(s, urls), no_token, "subscribers served for URLs after a failure");
            expect_equal(begin(s, {"audit"}, leases).size(), 1U,
                         "deliveries begun for the callback after a failure");
            s.settle(leases[3]);
            s.settle(leases[1], {.delivered = false, .retry_after = Duration{50}});
            s.settle(leases[2], {.delivered = false, .retry_after = Duration{0}});

            s.subscribe("audit", {"orders"}, by_url);
            s.advance(Duration{500});
            expect_equal(begin(s, {"audit"}), no_token,
                         "subscribers served for the callback after the change to a URL");
            leases.clear();
            expect_equal(begin(s, urls, leases).size(), 3U,
                         "deliveries begun for URLs after the change");
            for (const auto& lease : leases) s.settle(lease);
            s.drain();
            expect_equal(s.subscriber("audit").batches_queued, 0U, "queued batches left");
            expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs left");
        });

    add("queued batches follow their subscriber from one callback to another", [](Scenario& s) {
        s.subscribe("audit", {"orders"}, called("old"));
        s.subscribe("other", {"orders"}, called("old"));
        s.publish("orders", 2);
        s.subscribe("audit", {"orders"}, called("new"));
        expect_equal(begin(s, {"new"}), Tokens{"audit", "audit"},
                     "subscribers served for the new callback");
        expect_equal(begin(s, {"old"}), Tokens{"other", "other"},
                     "subscribers served for the old callback");
    });

    add("any worker may end the deliveries to a removed subscriber", [](Scenario& s) {
        for (const char* callback : {"", "local:audit"}) {
            s.subscribe("audit", {"orders"}, {.callback = callback, .max_events = 1});
            s.publish("orders", 3);
            s.perform(RemoveSubscriber{"audit"});
            for (int batch = 0; batch < 3; ++batch) {
                const auto leases = take(s, {});
                expect_equal(s.begin(leases[0]).verdict, Verdict::vanished,
                             "verdict for a batch of the removed subscriber");
            }
            expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs left");
        }
    });

    add("queued batches of a subscriber that was removed and returns go to its new callback",
        [](Scenario& s) {
            s.subscribe("audit", {"orders"}, called("audit"));
            s.publish("orders", 2);
            s.perform(RemoveSubscriber{"audit"});
            s.subscribe("audit", {"orders"}, called("audit"));
            expect_equal(begin(s, urls), no_token, "subscribers served by a worker for URLs");
            expect_equal(begin(s, {"audit"}), Tokens{"audit", "audit"},
                         "subscribers served by a worker with the callback");
        });

    add("a DEAD batch of a callback is redelivered to the callback", [](Scenario& s) {
        auto mortal = called("audit");
        mortal.attempts_max = 1;
        s.subscribe("audit", {"orders"}, mortal);
        s.publish("orders");
        std::vector<Lease> leases;
        expect_equal(begin(s, {"audit"}, leases), Tokens{"audit"},
                     "subscribers served by a worker with the callback");
        expect_equal(s.settle(leases[0], {.delivered = false}), Settlement::dead,
                     "settlement of the delivery");
        expect_equal(s.perform(RedeliverDeadBatches{"audit"}).value, 1U, "batches redelivered");
        expect_equal(begin(s, urls), no_token, "subscribers served by a worker for URLs");
        expect_equal(begin(s, {"audit"}), Tokens{"audit"},
                     "subscribers served by a worker with the callback");
    });

    add("batches that wait for a callback can be dropped", [](Scenario& s) {
        s.subscribe("audit", {"orders"}, called("audit"));
        s.publish("orders", 2);
        expect_equal(s.perform(DropOldestBatches{1}), Dropped{1, 1}, "batches and events dropped");
        expect_equal(s.queue(delivery_queue), QueueStatus{.ready = 1}, "delivery jobs");
        const auto leases = take(s, {"audit"});
        const auto start = s.begin(leases[0]);
        expect_equal(start.messages.size(), 1U, "events of the batch that is left");
        expect_equal(std::string{*start.messages.begin()}, "orders 2",
                     "event of the batch that is left");
    });
}

void add_waking_cases(StoreCases& add) {
    add("a delivery to a callback wakes a worker that serves the callback", [](Scenario& s) {
        const auto expect_woken = [&](const std::string& what, auto change) {
            Signal signal;
            const auto watch = s.store().watch(callback_watch, [&] { signal.raise(); });
            expect_equal(acquire(s, {"audit"}, 100, 9).size(), 0U, "leases before " + what);
            const auto seen = signal.count();
            change();
            expect(signal.wait_beyond(seen, s.traits().timeout), "no worker was woken by " + what);
        };
        expect_woken("the subscription", [&] {
            s.subscribe("audit", {"orders"}, {.callback = "local:audit", .timeout = Duration{50}});
        });
        expect_woken("the first event", [&] { s.publish("orders"); });
        expect_woken("a worker for URLs that makes the delivery READY", [&] {
            s.advance(Duration{50});
            acquire(s, urls);
        });
        const auto leases = take(s, {"audit"});
        expect_woken("the nack of a delivery", [&] { s.perform(NackJob{leases[0], s.now()}); });
    });
}

}  // namespace

void add_destination_cases(StoreCases& add) {
    add_cases_of_waiting_destinations(add);
    add_moving_cases(add);
    add_waking_cases(add);
}

}  // namespace routemaster::testing
