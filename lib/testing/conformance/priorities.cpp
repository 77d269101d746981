#include <cstdint>
#include <string>
#include <vector>

#include "cases.hpp"
#include "routemaster/job_status.hpp"
#include "threads.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

constexpr Duration minute{60'000};

JobId push_ranked(const Scenario& s, const std::string& job, std::int32_t priority,
                  Duration delay = {}) {
    return s.perform(PushJob{work_queue, job, s.now() + delay, {.priority = priority}}).id;
}

std::string next_jobs(const Scenario& s, std::uint32_t limit = 100) {
    std::string all;
    for (const auto& lease : s.acquire({.limit = limit, .queue = work_queue}).leases) {
        all += lease.job;
    }
    return all;
}

std::string next_jobs_singly(const Scenario& s) {
    std::string all;
    for (auto next = next_jobs(s, 1); !next.empty(); next = next_jobs(s, 1)) all += next;
    return all;
}

void add_order_cases(StoreCases& add) {
    add("jobs that became due together run by priority, and by due time at equal priority",
        [](Scenario& s) {
            for (const bool singly : {true, false}) {
                s.push("m");
                push_ranked(s, "x", -1);
                push_ranked(s, "c", 1);
                push_ranked(s, "a", 100);
                s.push("n");
                push_ranked(s, "d", 1);
                push_ranked(s, "b", 2);
                push_ranked(s, "y", -1);
                push_ranked(s, "z", -100);
                expect_equal(s.queue(work_queue), QueueStatus{.ready = 9}, "jobs");
                expect_equal(singly ? next_jobs_singly(s) : next_jobs(s), std::string{"abcdmnxyz"},
                             "jobs acquired");
                for (const auto& job : s.jobs(State::pending)) {
                    s.perform(CancelJob{work_queue, job.id});
                }
                s.perform(RetireWorker{Scenario::worker(1)});
            }
        });

    add("one level of priority counts as one minute of waiting", [](Scenario& s) {
        push_ranked(s, "c", -2);
        s.advance(minute);
        push_ranked(s, "d", -1);
        s.push("a");
        s.advance(2 * minute - Duration{1});
        push_ranked(s, "b", 2);
        s.advance(Duration{1});
        push_ranked(s, "e", 1);
        s.push("f");
        // The ranks are the push time minus one minute for each level of priority: a minute less 1
        // ms, a minute, three times two minutes, and three minutes.
        expect_equal(next_jobs_singly(s), std::string{"bacdef"}, "jobs acquired");
    });

    add("no job starves, whatever jobs are pushed later", [](Scenario& s) {
        push_ranked(s, "z", -100);
        s.push("a");
        int done = 0;
        int middle = 0;
        for (std::string next; next != "z"; ++done) {
            expect(done < 1'000, "the job with the lowest priority must run");
            push_ranked(s, "x" + std::to_string(done), 100);
            next = next_jobs(s, 1);
            if (next == "a") middle = done;
            s.advance(minute);
        }
        expect_equal(middle, 100, "minutes until the job without a priority ran");
        expect_equal(done - 1, 201, "minutes until the job with the lowest priority ran");
    });

    add("over several acquisitions, many jobs come in the order of priority", [](Scenario& s) {
        constexpr int each = 700;
        for (int i = 0; i < each; ++i) {
            s.push("n" + std::to_string(i));
            push_ranked(s, "p" + std::to_string(i), 1);
            s.advance(Duration{200});
        }
        // A priority of 1 equals one minute. In a minute, 300 jobs are pushed, one each 200 ms. The
        // first 300 jobs with the priority therefore precede all jobs without.
        std::vector<std::string> expected;
        for (int i = 0; i < each; ++i) {
            if (i < 300) expected.push_back("p" + std::to_string(i));
        }
        for (int i = 0; i < each; ++i) {
            expected.push_back("n" + std::to_string(i));
            if (i + 300 < each) expected.push_back("p" + std::to_string(i + 300));
        }
        std::vector<std::string> acquired;
        for (std::uint32_t limit : {900U, 1U, 7U, 1'000U}) {
            const auto got = s.acquire({.limit = limit, .queue = work_queue});
            for (const auto& lease : got.leases) acquired.push_back(lease.job);
            const bool left = acquired.size() < expected.size();
            expect_equal(got.next_due, left ? s.now() : never, "time of the next acquisition");
        }
        expect_equal(acquired, expected, "jobs acquired");
    });

    add("a delayed job with a priority runs first when it is due", [](Scenario& s) {
        s.push("b", Duration{5});
        push_ranked(s, "a", 1, Duration{10});
        push_ranked(s, "c", -1, Duration{5});
        s.expect_idle_until(s.now() + Duration{5}, work_queue);
        expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 3}, "jobs");
        s.advance(Duration{5});
        expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 1, .ready = 2}, "jobs");
        s.advance(Duration{5});
        expect_equal(next_jobs(s), std::string{"abc"}, "jobs acquired");
    });
}

void add_life_cases(StoreCases& add) {
    add("a job keeps its priority after a nack, a release and a kick", [](Scenario& s) {
        const auto id = push_ranked(s, "a", 5);
        s.push("b");
        const auto expect_first = [&](const char* when) {
            expect_equal(s.job(id).options.priority, 5, std::string{"priority of the job "} + when);
            auto lease = s.take_work();
            expect_equal(lease.job, std::string{"a"}, std::string{"next job acquired "} + when);
            return lease;
        };
        s.perform(NackJob{expect_first("after its push"), s.now() + Duration{1}});
        s.advance(Duration{1});
        s.perform(NackJob{expect_first("after a nack with a delay"), s.now()});
        s.perform(ReleaseJob{expect_first("after a nack without a delay"), s.now()});
        s.perform(FailJob{
            .lease = expect_first("after a release"), .error = "broken", .run_at = s.now()});
        expect_first("after a failure");
        s.perform(RetireWorker{Scenario::worker(1)});
        expect_first("after its worker has retired");
        s.advance(Duration{30'000});
        s.perform(ScrubWorkers{Duration{30'000}});
        s.perform(FailJob{.lease = expect_first("after the death of its worker"),
                          .error = "broken",
                          .run_at = s.now(),
                          .bury = true});
        s.perform(KickJobs{.queue = work_queue});
        expect_first("after a kick");
        expect_equal(next_jobs(s), std::string{"b"}, "jobs acquired then");
    });

    add("a job with a priority can be cancelled, deleted, and can expire", [](Scenario& s) {
        const auto ready = push_ranked(s, "a", 3);
        const auto later = push_ranked(s, "b", 3, minute);
        push_ranked(s, "c", 3);
        s.push("d");
        s.perform(PushJob{
            work_queue, "e", s.now(), {.priority = 9, .expires_at = s.now() + Duration{1}}});
        expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 1, .ready = 4}, "jobs");
        expect_equal(s.perform(DeleteJob{work_queue, ready}), Deletion::deleted,
                     "reply to the deletion");
        expect_equal(s.perform(CancelJob{work_queue, later}), Cancellation::cancelled,
                     "reply to the cancellation");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 3}, "jobs");
        s.advance(Duration{1});
        expect_equal(next_jobs(s), std::string{"cd"}, "jobs acquired");
        expect_equal(s.counter({"jobs.expired", {{"queue", work_queue}}}), 1, "expired jobs");
        // A job that is pushed again does not inherit its earlier priority.
        s.push("b");
        push_ranked(s, "a", -3);
        s.push("f");
        expect_equal(next_jobs(s), std::string{"bfa"}, "jobs acquired");
    });

    add("deleting jobs does not change the order of jobs with a priority", [](Scenario& s) {
        push_ranked(s, "a", 0, -5 * minute);
        const auto deleted = push_ranked(s, "b", 0);
        push_ranked(s, "c", 0, -3 * minute);
        push_ranked(s, "d", 1);
        push_ranked(s, "f", -1);
        push_ranked(s, "e", 0);
        s.perform(DeleteJob{work_queue, deleted});
        expect_equal(next_jobs(s), std::string{"acdef"}, "jobs acquired");
        expect_equal(s.queue(work_queue), QueueStatus{.pending = 5}, "jobs");
    });

    add("a replaced job has the priority of the last push", [](Scenario& s) {
        const auto push_keyed = [&](const std::string& job, std::int32_t priority) {
            PushJob step{work_queue, job, s.now(), {.priority = priority}};
            step.options.key.text = "k";
            step.on_duplicate = OnDuplicate::replace;
            return s.perform(step);
        };
        s.push("m");
        const auto id = push_keyed("a", 0).id;
        expect_equal(push_keyed("b", 1), Pushed{PushOutcome::replaced, id},
                     "reply to the replacing push");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 2}, "jobs");
        expect_equal(next_jobs(s, 1), std::string{"b"},
                     "jobs acquired after the priority was raised");
        s.perform(RetireWorker{Scenario::worker(1)});
        s.push("n");
        push_keyed("c", 0);
        expect_equal(s.job(id).options.priority, 0, "priority of the replaced job");
        push_keyed("d", -1);
        push_keyed("e", 0);
        s.push("o");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 4}, "jobs");
        expect_equal(next_jobs(s), std::string{"mneo"},
                     "jobs acquired after the priority was lowered");
    });

    add("a replaced job keeps its place among jobs of its priority", [](Scenario& s) {
        PushJob step{work_queue, "a", s.now(), {.priority = 2}};
        step.options.key.text = "k";
        step.on_duplicate = OnDuplicate::replace;
        s.perform(step);
        s.advance(Duration{1});
        push_ranked(s, "c", 2);
        step.job = "b";
        step.run_at = s.now();
        expect_equal(s.perform(step).outcome, PushOutcome::replaced, "reply to the replacing push");
        expect_equal(next_jobs(s), std::string{"bc"}, "jobs acquired");
    });
}

void add_rest_cases(StoreCases& add) {
    add("a job with a priority wakes an idle worker, and waits while its queue is paused",
        [](Scenario& s) {
            Signal signal;
            const auto watch = s.store().watch(work_queue, [&] { signal.raise(); });
            const auto expect_woken = [&](auto act, const std::string& what) {
                s.expect_idle_until(never, work_queue);
                const auto seen = signal.count();
                act();
                expect(signal.wait_beyond(seen, s.traits().timeout),
                       "no worker was woken by " + what);
            };
            expect_woken([&] { push_ranked(s, "a", -7); }, "the push of a job with a low priority");
            s.perform(AckJob{s.take_work()});
            expect_woken([&] { push_ranked(s, "a", 7); }, "the push of a job with a high priority");
            s.perform(PauseQueue{work_queue, true});
            s.expect_idle_until(never, work_queue);
            const QueueStatus paused{.ready = 1, .paused = true};
            expect_equal(s.queue(work_queue), paused, "jobs");
            s.perform(PauseQueue{work_queue, false});
            expect_equal(next_jobs(s), std::string{"a"}, "jobs acquired");
        });

    add("lists show priorities, and how long the next jobs have waited", [](Scenario& s) {
        const auto since = [&] { return s.perform(ListQueues{}).at(0).due_since; };
        push_ranked(s, "a", 2);
        const auto first = s.now();
        expect_equal(since(), std::optional{first}, "start of the longest wait with one READY job");
        s.advance(Duration{1});
        s.push("b");
        push_ranked(s, "c", 90, minute);
        expect_equal(since(), std::optional{first},
                     "start of the longest wait with two READY jobs");
        next_jobs(s, 1);
        expect_equal(since(), std::optional{s.now()},
                     "start of the longest wait after the first job is PENDING");
        expect_equal(s.jobs(State::pending).at(0).options.priority, 2,
                     "priority of the PENDING job");
        expect_equal(s.jobs(State::ready).at(0).options.priority, 0, "priority of the READY job");
        expect_equal(s.jobs(State::scheduled).at(0).options.priority, 90,
                     "priority of the SCHEDULED job");
    });

    add("an invalid priority is refused and changes nothing", [](Scenario& s) {
        push_ranked(s, "a", priority_max);
        push_ranked(s, "b", -priority_max);
        for (const auto bad : {priority_max + 1, -priority_max - 1, INT32_MIN, INT32_MAX}) {
            s.expect_refused(PushJob{work_queue, "c", s.now(), {.priority = bad}}, "priority");
        }
        s.expect_refused(PushJob{"aux", "c", s.now(), {.priority = 1}}, "options");
    });
}

}  // namespace

void add_priority_cases(StoreCases& add) {
    add_order_cases(add);
    add_life_cases(add);
    add_rest_cases(add);
}

}  // namespace routemaster::testing
