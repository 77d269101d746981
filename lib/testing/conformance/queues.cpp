#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"
#include "routemaster/job_status.hpp"
#include "threads.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

void pause(const Scenario& s) { s.perform(PauseQueue{work_queue, true}); }
void resume(const Scenario& s) { s.perform(PauseQueue{work_queue, false}); }

std::string acquire_all(const Scenario& s) {
    std::string all;
    for (const auto& lease : s.acquire({.queue = work_queue}).leases) all += lease.job;
    return all;
}

}  // namespace

void add_queue_cases(StoreCases& add) {
    add("no job of a paused queue is acquired until the queue is resumed", [](Scenario& s) {
        s.push("a");
        s.push("d", Duration{5});
        s.push_with("x", {.expires_at = s.now() + Duration{20}});
        pause(s);
        const QueueStatus before{.scheduled = 1, .ready = 2, .paused = true};
        expect_equal(s.queue(work_queue), before, "jobs");
        s.expect_idle_until(never, work_queue);
        s.advance(Duration{10});
        s.expect_idle_until(never, work_queue);
        expect_equal(s.push("a"), PushOutcome::duplicate, "outcome of a push of an existing job");
        expect_equal(s.push("b"), PushOutcome::pushed, "outcome of the push");
        s.push("c");
        s.perform(DeleteJob{work_queue, s.jobs(State::ready).back().id});
        s.advance(Duration{10});
        s.expect_idle_until(never, work_queue);
        const QueueStatus paused{.ready = 4, .paused = true};
        expect_equal(s.queue(work_queue), paused, "jobs in the paused queue, where no job expires");
        s.perform(PushJob{"other", "o", s.now()});
        expect_equal(s.acquire({.queue = "other"}).leases.size(), 1U,
                     "jobs acquired from another queue");
        resume(s);
        // Jobs that became due during the pause become READY now, behind the jobs that were READY
        // before.
        expect_equal(acquire_all(s), std::string{"abd"}, "jobs acquired");
        expect_equal(s.queue(work_queue), QueueStatus{.pending = 3}, "jobs");
    });

    add("leased jobs go on while their queue is paused", [](Scenario& s) {
        for (const char* name : {"a", "b", "c", "d"}) s.push(name);
        const auto leases = s.acquire({.queue = work_queue}).leases;
        pause(s);
        const AcquireJobs lost{.queue = work_queue, .worker = Scenario::worker(1), .known = 0};
        expect_equal(s.perform(lost).leases, leases, "leases returned by the repeated acquisition");
        expect_equal(s.perform(AckJob{leases[0]}), Settlement::settled, "settlement of the ack");
        expect_equal(s.perform(NackJob{leases[1], s.now()}), Settlement::settled,
                     "settlement of the nack");
        const FailJob failed{.lease = leases[2], .error = "broken", .run_at = s.now()};
        expect_equal(s.perform(failed), Settlement::settled, "settlement of the failure");
        s.perform(RetireWorker{Scenario::worker(1)});
        const QueueStatus after{.ready = 3, .paused = true};
        expect_equal(s.queue(work_queue), after, "jobs");
        s.expect_idle_until(never, work_queue);
        resume(s);
        expect_equal(acquire_all(s), std::string{"bcd"}, "jobs acquired");
    });

    add("BURIED jobs of a paused queue can be kicked (made READY), and then wait", [](Scenario& s) {
        s.push("a");
        s.bury_next();
        pause(s);
        expect_equal(s.perform(KickJobs{.queue = work_queue}), Count{1}, "jobs kicked");
        s.expect_idle_until(never, work_queue);
        resume(s);
        expect_equal(acquire_all(s), std::string{"a"}, "jobs acquired");
    });

    add("a queue can be paused before its first job and after its last job", [](Scenario& s) {
        pause(s);
        expect_equal(s.queue(work_queue), QueueStatus{.paused = true}, "jobs in the paused queue");
        s.expect_idle_until(never, work_queue);
        s.push("a");
        s.expect_idle_until(never, work_queue);
        pause(s);
        resume(s);
        const auto lease = s.take_work();
        pause(s);
        s.perform(AckJob{lease});
        // When another queue becomes empty, the paused queue without jobs must not be removed.
        s.perform(PushJob{"other", "o", s.now()});
        s.perform(AckJob{s.take({.queue = "other"})});
        expect_equal(s.queue(work_queue), QueueStatus{.paused = true}, "jobs in the paused queue");
        expect_equal(s.queue("other"), QueueStatus{}, "jobs in another queue");
        s.push("a");
        s.expect_idle_until(never, work_queue);
        resume(s);
        resume(s);
        expect_equal(acquire_all(s), std::string{"a"}, "jobs acquired");
    });

    add("resuming a queue wakes its workers", [](Scenario& s) {
        Signal signal;
        const auto watch = s.store().watch(work_queue, [&] { signal.raise(); });
        const auto expect_woken = [&](const std::string& when) {
            const auto seen = signal.count();
            resume(s);
            expect(signal.wait_beyond(seen, s.traits().timeout), "no worker was woken " + when);
        };
        s.push("a");
        pause(s);
        s.expect_idle_until(never, work_queue);
        expect_woken("by a queue that had jobs before the pause");
        const auto lease = s.take_work();
        s.expect_idle_until(never, work_queue);
        pause(s);
        s.push("b");
        expect_woken("by a queue that got a job during the pause");
        s.take_work();
        pause(s);
        s.expect_idle_until(never, work_queue);
        s.perform(NackJob{lease, s.now()});
        expect_woken("by a queue that got a nacked job during the pause");
    });

    add("queues with jobs, and paused queues, are listed by name, page by page", [](Scenario& s) {
        const auto list = [&](const std::string& after, std::uint32_t limit) {
            std::string names;
            const ListQueues step{{.after = after, .limit = limit}};
            for (const auto& queue : s.perform(step)) names += queue.name + " ";
            return names;
        };
        expect_equal(list("", 10), std::string{}, "queues of an empty store");
        for (const char* queue : {"z", "b", "a", "gone"}) {
            s.perform(PushJob{queue, "x", s.now()});
        }
        s.perform(AckJob{s.take({.queue = "gone"})});
        s.perform(PauseQueue{"paused", true});
        expect_equal(list("", 10), std::string{"a b paused z "}, "queues");
        expect_equal(list("", 2), std::string{"a b "}, "queues on the first page");
        expect_equal(list("b", 1), std::string{"paused "}, "queues on the second page");
        expect_equal(list("paused", 2), std::string{"z "}, "queues on the last page");
        expect_equal(list("a queue that is gone", 1), std::string{"b "},
                     "queues on a page after an unknown name");
        s.perform(PauseQueue{"paused", false});
        s.subscribe("billing", {"orders"});
        s.publish("orders");
        expect_equal(list("", 10), std::string{"a b main z "}, "queues");
        expect_equal(list("", 3), std::string{"a b main "}, "queues on the first page");
        expect_equal(list("b", 1), std::string{"main "}, "queues on the second page");
        s.expect_refused(ListQueues{{.after = {}, .limit = 0}}, "limit");
    });

    add("a queue is listed until its last job is done or removed", [](Scenario& s) {
        const auto expect_listed = [&](const QueueStatus& status, Where at = Where::here()) {
            const auto queues = s.perform(ListQueues{});
            expect_equal(queues.size(), 1U, "number of listed queues", at);
            expect_equal(queues.at(0).name, std::string{work_queue}, "name of the listed queue",
                         at);
            expect_equal(queues.at(0).status, status, "jobs", at);
        };
        const auto expect_gone = [&](const char* how, Where at = Where::here()) {
            expect_equal(s.perform(ListQueues{}), ListQueues::Reply{}, how, at);
        };
        const auto id = s.push_with("a", {});
        expect_listed({.ready = 1});
        s.bury_next();
        expect_listed({.buried = 1});
        s.perform(DeleteJob{work_queue, id});
        expect_gone("queues listed after a deletion");
        s.perform(CancelJob{work_queue, s.push_with("a", {.key = {.text = "k"}})});
        expect_gone("queues listed after a cancellation");
        s.push("a", Duration{10});
        expect_listed({.scheduled = 1});
        s.advance(Duration{10});
        auto lease = s.take_work();
        expect_listed({.pending = 1});
        s.perform(CancelJob{work_queue, lease.id});
        s.perform(NackJob{lease, s.now()});
        expect_gone("queues listed after the nack of a cancelled job");
        s.push("a");
        lease = s.take_work();
        s.perform(CancelJob{work_queue, lease.id});
        s.perform(RetireWorker{lease.worker});
        expect_gone("queues listed after the worker of a cancelled job has retired");
        s.push_with("a", {.expires_at = s.now() + Duration{5}});
        s.advance(Duration{5});
        s.expect_idle_until(never, work_queue);
        expect_gone("queues listed after a job has expired");
        s.push("a");
        s.perform(AckJob{s.take_work()});
        expect_gone("queues listed after an ack");
    });

    add("a queue shows for how long its jobs have waited", [](Scenario& s) {
        const auto expect_due = [&](std::optional<TimePoint> since, const char* when,
                                    Where at = Where::here()) {
            for (const auto& queue : s.perform(ListQueues{})) {
                const bool is_own = queue.name == work_queue;
                expect_equal(queue.due_since, is_own ? since : std::nullopt, when, at);
            }
        };
        s.subscribe("billing", {"orders"}, {.max_events = 1});
        s.publish("orders");
        const auto began = s.now();
        s.push("later", Duration{100});
        expect_due({}, "start of the longest wait before any job is due");
        s.advance(Duration{10});
        s.push("a");
        s.advance(Duration{10});
        const auto b = s.push_with("b", {.key = {.text = "k"}});
        s.push("c");
        s.advance(Duration{10});
        expect_due(began + Duration{10}, "start of the longest wait with three READY jobs");
        auto lease = s.take_work();
        expect_due(began + Duration{20},
                   "start of the longest wait after the first job is PENDING");
        s.perform(NackJob{lease, s.now()});
        s.perform(CancelJob{work_queue, b});
        expect_due(began + Duration{20},
                   "start of the longest wait after the second job is cancelled");
        lease = s.take_work();
        expect_equal(lease.job, std::string{"c"}, "next job acquired");
        expect_due(began + Duration{30}, "start of the longest wait after a nacked job is next");
        s.perform(DeleteJob{work_queue, s.jobs(State::ready).front().id});
        expect_due({}, "start of the longest wait with no READY job");
        s.advance(Duration{70});
        expect_due(began + Duration{100}, "start of the longest wait after a job fell due");
        s.advance(Duration{1});
        s.push("d");
        s.advance(Duration{5});
        expect_due(began + Duration{100}, "start of the longest wait after one more push");
        s.perform(RetireWorker{lease.worker});
        expect_due(began + Duration{100}, "start of the longest wait after a job was released");
        expect_equal(acquire_all(s), std::string{"dclater"}, "jobs acquired");
        expect_due({}, "start of the longest wait with only PENDING jobs");
    });

    add("Ruby's queues cannot be paused, nor queues with invalid names", [](Scenario& s) {
        for (const char* name : {delivery_queue, "aux", "", "a queue"}) {
            s.expect_refused(PauseQueue{name, true}, "queue");
            s.expect_refused(PauseQueue{name, false}, "queue");
        }
    });
}

}  // namespace routemaster::testing
