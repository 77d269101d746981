#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "cases.hpp"
#include "threads.hpp"

namespace routemaster::testing {
namespace {

/// Expects that `change` calls a watch of `queue`. The queue must be empty before.
void expect_woken(Scenario& s, const std::string& queue, const std::string& what,
                  const std::function<void()>& change, Where at = Where::here()) {
    Signal signal;
    const auto watch = s.store().watch(queue, [&] { signal.raise(); });
    const auto left = s.acquire({.worker = 99, .queue = queue}, at);
    expect(left.leases.empty(), "no job exists before " + what, at);
    const auto seen = signal.count();
    change();
    expect(signal.wait_beyond(seen, s.traits().timeout), "no worker was woken by " + what, at);
}

}  // namespace

void add_watch_cases(StoreCases& add) {
    add("a push wakes an idle worker", [](Scenario& s) {
        expect_woken(s, work_queue, "a push", [&] { s.push("a"); });
        s.take_work();
        expect_woken(s, work_queue, "a second push", [&] { s.push("b"); });
    });

    add("a push wakes a worker if the job is due before the next known job", [](Scenario& s) {
        s.push("a", Duration{1'000});
        expect_woken(s, work_queue, "the push of an earlier job",
                     [&] { s.push("b", Duration{999}); });
        expect_woken(s, work_queue, "the push of a still earlier job",
                     [&] { s.push("c", Duration{10}); });
    });

    add("a nacked job wakes a worker", [](Scenario& s) {
        s.push("a");
        auto lease = s.take_work();
        expect_woken(s, work_queue, "a nack", [&] { s.perform(NackJob{lease, s.now()}); });
        lease = s.take_work();
        expect_woken(s, work_queue, "a nack with a delay", [&] {
            s.perform(NackJob{lease, s.now() + Duration{10}});
        });
        s.advance(Duration{10});
        lease = s.take_work();
        expect_woken(s, work_queue, "the retirement of a worker",
                     [&] { s.perform(RetireWorker{lease.worker}); });
        lease = s.take_work();
        s.advance(Duration{30'000});
        expect_woken(s, work_queue, "the death of a worker",
                     [&] { s.perform(ScrubWorkers{Duration{30'000}}); });
    });

    add("events wake the workers that deliver events", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 3});
        expect_woken(s, delivery_queue, "the first event", [&] { s.publish("orders"); });
        expect_woken(s, delivery_queue, "a full batch", [&] { s.publish("orders", 2); });
    });

    add("a request to deliver a batch at once wakes the workers", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{60'000}});
        s.publish("orders");
        const auto uid = s.batches("billing").at(0).uid;
        expect_woken(s, delivery_queue, "the request for a batch", [&] {
            expect_equal(s.perform(DeliverBatch{"billing", uid}), BatchAction::done,
                         "reply to the request for a delivery now");
        });
    });

    add("the end of a delivery wakes a worker for the next batch of this subscriber",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"}, {.max_events = 1});
            s.publish("orders", 4);
            auto lease = s.begin_next().first;
            expect_woken(s, delivery_queue, "a success", [&] { s.settle(lease); });
            lease = s.begin_next().first;
            expect_woken(s, delivery_queue, "a failure", [&] {
                s.settle(lease, {.delivered = false, .retry_after = Duration{100}});
            });
            s.advance(Duration{100});
            lease = s.take();
            expect_woken(s, delivery_queue, "a higher max_in_flight",
                         [&] { s.subscribe("billing", {"orders"}, {.max_in_flight = 2}); });
            s.perform(RemoveSubscriber{"billing"});
            expect_woken(s, delivery_queue, "a vanished batch", [&] { s.begin(lease); });
        });

    add("a push wakes every watch of its queue", [](Scenario& s) {
        Signal first;
        Signal other;
        const auto one = s.store().watch(work_queue, [&] { first.raise(); });
        const auto two = s.store().watch(work_queue, [&] { other.raise(); });
        s.expect_idle_until(never, work_queue);
        s.push("a");
        expect(first.wait_beyond(0, s.traits().timeout), "the first watch must be woken");
        expect(other.wait_beyond(0, s.traits().timeout), "the second watch must be woken");
    });

    add("a watch that has ended is not woken", [](Scenario& s) {
        Signal ended;
        Signal lasting;
        auto watch = s.store().watch(work_queue, [&] { ended.raise(); });
        const auto other = s.store().watch(work_queue, [&] { lasting.raise(); });
        s.expect_idle_until(never, work_queue);
        watch = Watch{};
        const auto count = ended.count();
        s.push("a");
        expect(lasting.wait_beyond(0, s.traits().timeout), "the watch that remains must be woken");
        expect_equal(ended.count(), count, "wake-ups of the ended watch");
    });

    add("no wake-up comes after the end of a watch, even while jobs keep coming", [](Scenario& s) {
        std::atomic<bool> late = false;
        const auto work_off = [&](unsigned worker) {
            for (const auto& lease : s.acquire({.worker = worker, .queue = work_queue}).leases) {
                s.perform(AckJob{lease});
            }
        };
        in_threads(2, [&](unsigned thread) {
            for (int i = 0; i < 200; ++i) {
                if (thread == 0) {
                    s.push("a");
                    work_off(1);
                    continue;
                }
                // Shared, because a store that calls a destroyed watch must fail the case and not
                // crash it.
                const auto ended = std::make_shared<std::atomic<bool>>(false);
                auto watch = s.store().watch(work_queue, [&late, ended] {
                    if (*ended) late = true;
                });
                work_off(2);
                watch = Watch{};
                *ended = true;
            }
        });
        expect(!late, "an ended watch must not be woken");
    });
}

}  // namespace routemaster::testing
