#include <string>
#include <vector>

#include "cases.hpp"
#include "limit_steps.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::testing {
namespace {

constexpr Duration silence{30'000};

/// Lets all workers be silent until they are declared dead. Returns the number of released jobs.
std::uint64_t let_workers_die(Scenario& s) {
    std::uint64_t released = 0;
    for (int i = 0; i < 3; ++i) {
        s.advance(silence / 3);
        released += s.perform(ScrubWorkers{silence}).jobs;
    }
    return released;
}

/// Lets the worker die twice with all jobs leased. Then lets the backoff pass.
void let_die_twice(Scenario& s, std::uint64_t jobs) {
    for (int i = 0; i < 2; ++i) {
        expect_equal(lease_what_may(s).size(), jobs, "jobs acquired");
        expect_equal(let_workers_die(s), jobs, "jobs released by the scrubs");
    }
    expect_wait(s, one_second);
    s.advance(one_second);
}

/// Expects that no job may begin, although all jobs are due.
void expect_kept_apart(Scenario& s) {
    s.advance(one_second);
    expect_equal(take_all(s), std::string{}, "jobs acquired beside the isolated job");
}

/// Runs the next job, and returns its name. Empty when no job may begin.
std::string do_next(const Scenario& s) {
    const auto leases = lease_what_may(s, 1);
    if (leases.empty()) return {};
    s.perform(AckJob{leases[0]});
    return leases[0].job;
}

}  // namespace

void add_isolation_cases(StoreCases& add) {
    add("jobs whose workers died twice are isolated: leased one at a time", [](Scenario& s) {
        push_all(s, "abc");
        let_die_twice(s, 3);
        push_all(s, "xy");
        const auto leases = lease_what_may(s);
        expect_equal(leases.size(), 3U, "jobs acquired");
        expect_equal(leases[0].job + leases[1].job + leases[2].job, std::string{"xya"},
                     "jobs whose workers did not die, and one isolated job");
        expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 2, .pending = 3}, "jobs");
        expect_kept_apart(s);
        expect_kept_apart(s);
        s.perform(AckJob{leases[2]});
        s.advance(one_second);
        expect_equal(take_all(s).size(), 1U, "jobs acquired after the isolated job is done");
    });

    add("a job whose workers died is leased alone even after a later failure", [](Scenario& s) {
        push_all(s, "ab");
        let_die_twice(s, 2);
        const auto lease = s.take_work();
        s.perform(FailJob{.lease = lease, .error = "broken", .run_at = s.now()});
        expect_equal(take_all(s), std::string{"b"}, "jobs acquired");
        expect_kept_apart(s);
    });

    add("over all queues and workers, isolated jobs are leased one at a time", [](Scenario& s) {
        s.push("a");
        s.perform(PushJob{"other", "b", s.now()});
        const auto take_both = [&] {
            return lease_what_may(s).size() +
                   s.acquire({.worker = 2, .queue = "other"}).leases.size();
        };
        for (int i = 0; i < 2; ++i) {
            expect_equal(take_both(), std::size_t{2}, "jobs acquired");
            let_workers_die(s);
        }
        s.advance(one_second);
        expect_equal(take_both(), std::size_t{1}, "jobs acquired after two deaths");
    });

    add("a BURIED job that was kicked (started again) is no longer isolated", [](Scenario& s) {
        const auto first = s.push_with("a", {.attempts_max = 3});
        s.push("b");
        let_die_twice(s, 2);
        expect_equal(take_all(s), std::string{"a"}, "jobs acquired");
        let_workers_die(s);
        expect_equal(s.perform(KickJobs{.queue = work_queue, .id = first}), Count{1},
                     "jobs kicked");
        s.advance(one_second);
        expect_equal(take_all(s).size(), 2U, "jobs acquired");
    });

    add("a job waits longer each time its worker dies, but not for more than a minute",
        [](Scenario& s) {
            const auto id = s.push_with("a", {});
            for (const int seconds : {0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60}) {
                s.take_work();
                let_workers_die(s);
                const auto job = s.job(id);
                expect_equal(job.state,
                             seconds == 0 ? JobStatus::State::ready : JobStatus::State::scheduled,
                             "state");
                if (seconds > 0) {
                    expect_equal(job.run_at, s.now() + seconds * one_second, "due time of the job");
                }
                s.advance(seconds * one_second);
            }
        });

    add("a job that is released during its isolation is isolated again", [](Scenario& s) {
        push_all(s, "ab");
        let_die_twice(s, 2);
        s.perform(ReleaseJob{s.take_work(), s.now()});
        expect_equal(take_all(s).size(), 1U, "jobs acquired");
        s.perform(RetireWorker{Scenario::worker(1)});
        s.advance(one_second);
        expect_equal(take_all(s).size(), 1U, "jobs acquired after the worker has retired");
    });

    add("a job that waits for isolation keeps its place in its group", [](Scenario& s) {
        s.push("a");
        push_limited(s, "g1", "g", 1);
        push_limited(s, "p", "h", 1, -3);
        let_die_twice(s, 3);
        push_limited(s, "g2", "g", 1);
        auto leases = lease_what_may(s);
        expect_equal(leases.size(), 1U, "jobs acquired");
        expect_equal(leases[0].job, std::string{"a"}, "first job acquired");
        s.perform(AckJob{leases[0]});
        s.advance(one_second);
        expect_equal(do_next(s), std::string{"g1"}, "next job acquired");
        expect_equal(do_next(s), std::string{"g2"}, "next job acquired");
        expect_equal(do_next(s), std::string{"p"}, "next job acquired");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
    });

    add("a job that waits for isolation takes no rate-limit token", [](Scenario& s) {
        push_all(s, "a");
        push_limited(s, "g1", "g");
        let_die_twice(s, 2);
        limit(s, {.queue = RateLimit{.jobs = 2, .per = Duration{60'000}},
                  .each_group = RateLimit{.jobs = 1, .per = Duration{60'000}}});
        const auto leases = lease_what_may(s);
        expect_equal(leases.size(), 1U, "jobs acquired");
        expect_equal(leases[0].job, std::string{"a"}, "first job acquired");
        s.perform(AckJob{leases[0]});
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"g1"},
                     "jobs acquired with the second token of the queue");
    });
}

}  // namespace routemaster::testing
