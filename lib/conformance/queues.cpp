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

/// Acquires everything of `work_queue`, and returns the names in their order.
std::string acquire_all(const Scenario& s) {
    std::string all;
    for (const auto& lease : s.acquire({.queue = work_queue}).leases) all += lease.job;
    return all;
}

}  // namespace

void add_queue_cases(StoreCases& add) {
    add("no job of a paused queue is acquired until it is resumed", [](Scenario& s) {
        s.push("a");
        s.push("d", Duration{5});
        s.push_with("x", {.expires_at = s.now() + Duration{20}});
        pause(s);
        const QueueStatus before{.scheduled = 1, .ready = 2, .paused = true};
        expect_equal(s.queue(work_queue), before, "jobs");
        s.expect_idle_until(never, work_queue);
        s.advance(Duration{10});
        s.expect_idle_until(never, work_queue);
        expect_equal(s.push("a"), PushOutcome::duplicate, "pushing what is there");
        expect_equal(s.push("b"), PushOutcome::pushed, "pushing");
        s.push("c");
        s.perform(DeleteJob{work_queue, s.jobs(State::ready).back().id});
        s.advance(Duration{10});
        s.expect_idle_until(never, work_queue);
        const QueueStatus paused{.ready = 4, .paused = true};
        expect_equal(s.queue(work_queue), paused, "jobs, of which none has expired");
        s.perform(PushJob{"other", "o", s.now()});
        expect_equal(s.acquire({.queue = "other"}).leases.size(), 1U, "jobs of another queue");
        resume(s);
        // What fell due meanwhile is promoted now, behind what was READY.
        expect_equal(acquire_all(s), std::string{"abd"}, "jobs acquired");
        expect_equal(s.queue(work_queue), QueueStatus{.pending = 3}, "jobs");
    });

    add("jobs that a worker has go on while their queue is paused", [](Scenario& s) {
        for (const char* name : {"a", "b", "c", "d"}) s.push(name);
        const auto leases = s.acquire({.queue = work_queue}).leases;
        pause(s);
        const AcquireJobs lost{.queue = work_queue, .worker = Scenario::worker(1), .known = 0};
        expect_equal(s.perform(lost).leases, leases, "leases whose reply was lost");
        expect_equal(s.perform(AckJob{leases[0]}), Settlement::settled, "ack");
        expect_equal(s.perform(NackJob{leases[1], s.now()}), Settlement::settled, "nack");
        const FailJob failed{.lease = leases[2], .error = "broken", .run_at = s.now()};
        expect_equal(s.perform(failed), Settlement::settled, "failing");
        s.perform(RetireWorker{Scenario::worker(1)});
        const QueueStatus after{.ready = 3, .paused = true};
        expect_equal(s.queue(work_queue), after, "jobs");
        s.expect_idle_until(never, work_queue);
        resume(s);
        expect_equal(acquire_all(s), std::string{"bcd"}, "jobs acquired");
    });

    add("BURIED jobs of a paused queue are kicked, and wait", [](Scenario& s) {
        s.push("a");
        s.bury_next();
        pause(s);
        expect_equal(s.perform(KickJobs{.queue = work_queue}), Count{1}, "kicked");
        s.expect_idle_until(never, work_queue);
        resume(s);
        expect_equal(acquire_all(s), std::string{"a"}, "jobs acquired");
    });

    add("a queue is paused before its first job, and after its last one", [](Scenario& s) {
        pause(s);
        expect_equal(s.queue(work_queue), QueueStatus{.paused = true}, "no jobs");
        s.expect_idle_until(never, work_queue);
        s.push("a");
        s.expect_idle_until(never, work_queue);
        pause(s);
        resume(s);
        const auto lease = s.take_work();
        pause(s);
        s.perform(AckJob{lease});
        // Another queue that runs out of jobs must not end the pause.
        s.perform(PushJob{"other", "o", s.now()});
        s.perform(AckJob{s.take({.queue = "other"})});
        expect_equal(s.queue(work_queue), QueueStatus{.paused = true}, "no jobs");
        expect_equal(s.queue("other"), QueueStatus{}, "another queue");
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
            expect(signal.wait_beyond(seen, s.traits().timeout), "nobody was woken " + when);
        };
        s.push("a");
        pause(s);
        s.expect_idle_until(never, work_queue);
        expect_woken("when it had jobs before the pause");
        const auto lease = s.take_work();
        s.expect_idle_until(never, work_queue);
        pause(s);
        s.push("b");
        expect_woken("when a job came during the pause");
        s.take_work();
        pause(s);
        s.expect_idle_until(never, work_queue);
        s.perform(NackJob{lease, s.now()});
        expect_woken("when a job came back after they found nothing");
    });

    add("Ruby's queues are not paused, nor what is none", [](Scenario& s) {
        for (const char* name : {delivery_queue, "aux", "", "a queue"}) {
            s.expect_refused(PauseQueue{name, true}, "queue");
            s.expect_refused(PauseQueue{name, false}, "queue");
        }
    });
}

}  // namespace routemaster::testing
