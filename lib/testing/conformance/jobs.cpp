#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cases.hpp"
#include "threads.hpp"

namespace routemaster::testing {
namespace {

std::vector<std::string> jobs_of(const std::vector<Lease>& leases) {
    std::vector<std::string> jobs;
    for (const auto& lease : leases) jobs.push_back(lease.job);
    return jobs;
}

}  // namespace

void add_push_cases(StoreCases& add) {
    add("an equal job is never twice in a queue, whatever its state", [](Scenario& s) {
        const auto push = [&](const char* state, Where at = Where::here()) {
            expect_equal(s.push("a"), PushOutcome::duplicate,
                         std::string{"outcome of a push while the job is "} + state, at);
            expect_equal(s.push("a", Duration{9}), PushOutcome::duplicate,
                         std::string{"outcome of a push for later while the job is "} + state, at);
        };
        expect_equal(s.push("a", Duration{100}), PushOutcome::pushed, "outcome of the push");
        push("SCHEDULED");
        s.expect_idle_until(s.now() + Duration{100}, work_queue);
        s.advance(Duration{100});
        push("due");
        auto lease = s.take_work();
        push("PENDING");
        s.perform(NackJob{lease, s.now() + Duration{100}});
        push("SCHEDULED after a nack");
        s.advance(Duration{100});
        s.take_work();
        s.perform(RetireWorker{Scenario::worker(1)});
        push("READY after its worker has retired");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 1}, "jobs");
        lease = s.take_work();
        s.advance(Duration{30'000});
        s.perform(ScrubWorkers{Duration{30'000}});
        push("READY after a scrub");
        s.perform(AckJob{s.take_work()});
        expect_equal(s.push("a"), PushOutcome::pushed, "outcome of a push after the job is done");
    });

    add("a duplicate push changes nothing", [](Scenario& s) {
        s.push("a", Duration{100});
        const auto before = s.snapshot();
        s.push("a");
        s.push("a", Duration{1});
        expect_unchanged(s.snapshot(), before);
        s.expect_idle_until(s.now() + Duration{100}, work_queue);
    });

    add("equal jobs in two queues are two jobs", [](Scenario& s) {
        for (const char* queue : {"one", "two"}) {
            expect_equal(s.perform(PushJob{queue, "a", s.now()}), PushOutcome::pushed,
                         std::string{"outcome of a push into queue "} + queue);
        }
        s.perform(AckJob{s.take({.queue = "one"})});
        expect_equal(s.queue("one"), QueueStatus{}, "jobs of the first queue");
        expect_equal(s.queue("two"), QueueStatus{.ready = 1}, "jobs of the second queue");
    });

    add("jobs with one different byte are different jobs", [](Scenario& s) {
        const std::vector<std::string> jobs{std::string(1, '\0'), std::string(2, '\0'), "\xff",
                                            std::string(100'000, 'x'),
                                            std::string(99'999, 'x') + 'y'};
        for (const auto& job : jobs)
            expect_equal(s.push(job), PushOutcome::pushed, "outcome of the push");
        expect_equal(jobs_of(s.acquire({.queue = work_queue}).leases), jobs, "jobs acquired");
    });

    add("a job is SCHEDULED before its due time, and READY from its due time on", [](Scenario& s) {
        s.push("past", Duration{-1});
        s.push("now");
        s.push("later", Duration{1});
        expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 1, .ready = 2}, "jobs");
        s.advance(Duration{1});
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 3},
                     "jobs in the queue a millisecond later");
        s.take_work();
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .pending = 1},
                     "jobs in the queue after one is acquired");
        expect_equal(s.queue("empty"), QueueStatus{}, "jobs in a queue that does not exist");
    });

    add("an invalid job or queue name is refused and changes nothing", [](Scenario& s) {
        s.push("a");
        s.expect_refused(PushJob{"", "a", s.now()}, "queue");
        s.expect_refused(PushJob{std::string(65, 'q'), "a", s.now()}, "queue");
        s.expect_refused(PushJob{work_queue, "", s.now()}, "job");
        auto lease = s.take_work();
        for (const std::string& name :
             {std::string{}, std::string(65, 'q'), std::string{"a:b"}, std::string{"a b"},
              std::string{"\xc3\xa9"}, std::string{"a\0", 2}, std::string{".."}}) {
            lease.queue = name;
            s.expect_refused(PushJob{name, "a", s.now()}, "queue");
            s.expect_refused(AcquireJobs{.queue = name, .worker = Scenario::worker(1)}, "queue");
            s.expect_refused(CountJobs{name}, "queue");
            s.expect_refused(AckJob{lease}, "queue");
            s.expect_refused(NackJob{lease, s.now()}, "queue");
            s.expect_refused(BeginDelivery{lease, backoff_max, 0}, "queue");
            s.expect_refused(SettleDelivery{.lease = lease, .begun_at = s.now()}, "queue");
        }
        s.expect_refused(
            AcquireJobs{.queue = work_queue, .worker = Scenario::worker(1), .limit = 0}, "limit");
        expect_equal(s.perform(PushJob{std::string(64, 'q'), "a", s.now()}), PushOutcome::pushed,
                     "outcome of a push into a queue with a name of 64 characters");
    });
}

void add_acquire_cases(StoreCases& add) {
    add("scheduled jobs are acquired in the order of their due times", [](Scenario& s) {
        s.push("30", Duration{30});
        s.push("10", Duration{10});
        s.push("20 first", Duration{20});
        s.push("20 second", Duration{20});
        s.push("31", Duration{31});
        s.advance(Duration{30});
        expect_equal(jobs_of(s.acquire({.queue = work_queue}).leases),
                     std::vector<std::string>{"10", "20 first", "20 second", "30"},
                     "jobs acquired");
    });

    add("READY jobs are acquired first in first out", [](Scenario& s) {
        for (const char* job : {"c", "a", "b"}) s.push(job);
        s.perform(NackJob{s.take_work(), s.now()});
        s.push("d");
        std::vector<std::string> jobs;
        for (int i = 0; i < 4; ++i) jobs.push_back(s.take_work().job);
        expect_equal(jobs, std::vector<std::string>{"a", "b", "c", "d"}, "jobs acquired");
    });

    add("a job that became due is acquired before later pushes", [](Scenario& s) {
        s.push("scheduled", Duration{10});
        s.advance(Duration{10});
        s.expect_idle_until(never);
        expect_equal(s.acquire({.worker = 2, .limit = 1, .queue = work_queue}).leases.size(), 1U,
                     "jobs acquired when due");
        s.perform(RetireWorker{Scenario::worker(2)});
        s.push("pushed");
        expect_equal(s.take_work().job, std::string{"scheduled"}, "first job acquired");
    });

    add("an acquisition returns at most its limit of jobs, and if there are more", [](Scenario& s) {
        for (const char* job : {"a", "b", "c"}) s.push(job);
        auto acquired = s.acquire({.limit = 2, .queue = work_queue});
        expect_equal(acquired.leases.size(), 2U, "jobs acquired");
        expect_equal(acquired.next_due, s.now(),
                     "time of the next acquisition while a job is READY");
        acquired = s.acquire({.limit = 2, .queue = work_queue});
        expect_equal(acquired.leases.size(), 1U, "jobs acquired");
        expect_equal(acquired.next_due, never, "time of the next acquisition in an empty queue");
    });

    add("an acquisition returns exactly when the next job falls due", [](Scenario& s) {
        s.expect_idle_until(never, work_queue);
        s.push("later", Duration{1'000});
        s.push("soon", Duration{10});
        s.expect_idle_until(s.now() + Duration{10}, work_queue);
        s.advance(Duration{9});
        s.expect_idle_until(s.now() + Duration{1}, work_queue);
        s.advance(Duration{1});
        const auto acquired = s.acquire({.queue = work_queue});
        expect_equal(jobs_of(acquired.leases), std::vector<std::string>{"soon"}, "jobs acquired");
        expect_equal(acquired.next_due, s.now() + Duration{990}, "due time of the next job");
    });

    add("a lease names its queue, job and worker, and each lease is different", [](Scenario& s) {
        s.push("a");
        const auto first = s.take_work(7);
        expect_equal(first.queue, work_queue, "queue");
        expect_equal(first.job, "a", "job");
        expect_equal(first.worker, Scenario::worker(7), "worker");
        s.perform(NackJob{first, s.now()});
        expect(s.take_work(7).fence != first.fence, "each lease must have its own fence");
    });

    add("a PENDING job is not acquired by a second worker", [](Scenario& s) {
        s.push("a");
        s.take_work(1);
        for (const unsigned worker : {1U, 2U}) {
            expect_equal(s.acquire({.worker = worker, .queue = work_queue}).leases,
                         std::vector<Lease>{}, "jobs acquired");
        }
        expect_equal(s.queue(work_queue), QueueStatus{.pending = 1}, "jobs");
    });

    add("a worker may lease jobs of several queues", [](Scenario& s) {
        s.push("a");
        s.push("b");
        s.perform(PushJob{"other", "a", s.now()});
        auto leases = s.acquire({.queue = work_queue}).leases;
        leases.push_back(s.take({.queue = "other"}));
        expect_equal(leases.size(), 3U, "jobs leased");
        for (const auto& lease : leases) {
            expect_equal(s.perform(AckJob{lease}), Settlement::settled, "settlement of the ack");
        }
    });

    add("a nacked job (returned by its worker) runs again at its due time", [](Scenario& s) {
        s.push("a");
        s.perform(NackJob{s.take_work(), s.now() + Duration{50}});
        expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 1}, "jobs");
        s.expect_idle_until(s.now() + Duration{50}, work_queue);
        s.advance(Duration{50});
        s.perform(NackJob{s.take_work(), s.now() - Duration{1}});
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 1}, "jobs");
        s.take_work();
    });

    add("an acknowledged job is deleted", [](Scenario& s) {
        s.push("a");
        expect_equal(s.perform(AckJob{s.take_work()}), Settlement::settled,
                     "settlement of the ack");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
        s.advance(Duration{60'000});
        expect_equal(s.perform(ScrubWorkers{Duration{1}}), ReleasedJobs{0}, "jobs released");
        s.expect_idle_until(never, work_queue);
    });

    add("each job goes to exactly one of eight competing workers", [](Scenario& s) {
        constexpr unsigned threads = 8;
        constexpr unsigned jobs = 400;
        for (unsigned i = 0; i < jobs; ++i) s.push(std::to_string(i));
        std::vector<std::vector<std::string>> done(threads);
        in_threads(threads, [&](unsigned thread) {
            for (;;) {
                const auto leases =
                    s.acquire({.worker = thread + 1, .limit = 3, .queue = work_queue}).leases;
                if (leases.empty()) return;
                for (const auto& lease : leases) {
                    done[thread].push_back(lease.job);
                    expect_equal(s.perform(AckJob{lease}), Settlement::settled,
                                 "settlement of the ack");
                }
            }
        });
        std::set<std::string> distinct;
        std::size_t total = 0;
        for (const auto& mine : done) {
            total += mine.size();
            distinct.insert(mine.begin(), mine.end());
        }
        expect_equal(total, jobs, "jobs acknowledged");
        expect_equal(distinct.size(), jobs, "different jobs acknowledged");
    });
}

}  // namespace routemaster::testing
