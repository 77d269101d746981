#include <string>
#include <vector>

#include "cases.hpp"
#include "limit_steps.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::testing {
namespace {

constexpr Duration silence{30'000};

/// All workers fall silent, and are taken for dead. Returns how many jobs were released.
std::uint64_t let_workers_die(Scenario& s) {
    std::uint64_t released = 0;
    for (int i = 0; i < 3; ++i) {
        s.advance(silence / 3);
        released += s.perform(ScrubWorkers{silence}).jobs;
    }
    return released;
}

/// The worker dies twice, each time with all jobs that there are.
void let_die_twice(Scenario& s, std::uint64_t jobs) {
    for (int i = 0; i < 2; ++i) {
        expect_equal(lease_what_may(s).size(), jobs, "jobs acquired");
        expect_equal(let_workers_die(s), jobs, "jobs released");
    }
}

/// The name of the next job, which is done at once; empty when none may begin.
std::string do_next(const Scenario& s) {
    const auto leases = lease_what_may(s, 1);
    if (leases.empty()) return {};
    s.perform(AckJob{leases[0]});
    return leases[0].job;
}

}  // namespace

void add_isolation_cases(StoreCases& add) {
    add("a worker has one job at a time whose last two attempts ended with their workers",
        [](Scenario& s) {
            push_all(s, "abc");
            let_die_twice(s, 3);
            push_all(s, "xy");
            const auto leases = lease_what_may(s);
            expect_equal(leases.size(), 3U, "jobs acquired");
            expect_equal(leases[0].job, std::string{"a"}, "the first");
            expect_equal(leases[1].job + leases[2].job, std::string{"xy"},
                         "those that ended no worker");
            expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 2, .pending = 3}, "jobs");
            expect_wait(s, Duration{1'000});
            s.advance(Duration{1'000});
            expect_wait(s, Duration{1'000});
            s.perform(AckJob{leases[0]});
            s.advance(Duration{1'000});
            expect_equal(take_all(s), std::string{"b"}, "the next, once the first is done");
        });

    add("a job whose last attempt was reported on needs no isolation", [](Scenario& s) {
        push_all(s, "ab");
        let_die_twice(s, 2);
        auto lease = s.take_work();
        expect_equal(lease.job, std::string{"a"}, "the first");
        s.perform(FailJob{.lease = lease, .error = "broken", .run_at = s.now()});
        expect_equal(take_all(s), std::string{"ba"}, "jobs acquired");
        expect_equal(let_workers_die(s), 2U, "jobs released");
        expect_equal(take_all(s), std::string{"ba"}, "after a's first death since then");
        expect_equal(let_workers_die(s), 2U, "jobs released");
        expect_equal(take_all(s), std::string{"b"}, "after its second");
    });

    add("a job that was BURIED and kicked needs no isolation", [](Scenario& s) {
        const auto first = s.push_with("a", {.attempts_max = 3});
        s.push("b");
        let_die_twice(s, 2);
        expect_equal(take_all(s), std::string{"a"}, "jobs acquired");
        let_workers_die(s);
        expect_equal(s.perform(KickJobs{.queue = work_queue, .id = first}), Count{1}, "kicked");
        expect_equal(take_all(s).size(), 2U, "jobs acquired");
    });

    add("a job that was released once it was isolated is isolated again", [](Scenario& s) {
        push_all(s, "ab");
        let_die_twice(s, 2);
        s.perform(ReleaseJob{s.take_work(), s.now()});
        expect_equal(take_all(s).size(), 1U, "jobs acquired");
        s.perform(RetireWorker{Scenario::worker(1)});
        s.advance(one_second);
        expect_equal(take_all(s).size(), 1U, "jobs acquired by the next worker");
    });

    add("a job that is put off, to be isolated, keeps its place in its group", [](Scenario& s) {
        s.push("a");
        push_limited(s, "1", "g", 1);
        push_limited(s, "p", "h", 1, -3);
        let_die_twice(s, 3);
        push_limited(s, "2", "g", 1);
        auto leases = lease_what_may(s);
        expect_equal(leases.size(), 1U, "jobs acquired");
        expect_equal(leases[0].job, std::string{"a"}, "the first");
        s.perform(AckJob{leases[0]});
        s.advance(one_second);
        expect_equal(do_next(s), std::string{"1"}, "the first of the group");
        expect_equal(do_next(s), std::string{"2"}, "the second");
        expect_equal(do_next(s), std::string{"p"}, "the one of the lowest priority");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
    });

    add("a job that is put off, to be isolated, takes no token", [](Scenario& s) {
        push_all(s, "a");
        push_limited(s, "1", "g");
        let_die_twice(s, 2);
        limit(s, {.queue = RateLimit{.jobs = 2, .per = Duration{60'000}},
                  .each_group = RateLimit{.jobs = 1, .per = Duration{60'000}}});
        const auto leases = lease_what_may(s);
        expect_equal(leases.size(), 1U, "jobs acquired");
        expect_equal(leases[0].job, std::string{"a"}, "the first");
        s.perform(AckJob{leases[0]});
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"1"}, "with the second token of the queue");
    });
}

}  // namespace routemaster::testing
