#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

std::string names(const std::vector<JobStatus>& jobs) {
    std::string all;
    for (const auto& job : jobs) all += job.job;
    return all;
}

std::string run_all(Scenario& s) {
    std::string all;
    for (const auto& lease : s.acquire({.queue = work_queue}).leases) {
        all += lease.job;
        s.perform(AckJob{lease});
    }
    return all;
}

}  // namespace

void add_job_list_cases(StoreCases& add) {
    add("a job is found by its id in every state", [](Scenario& s) {
        const auto pushed =
            s.perform(PushJob{work_queue, "a", s.now() + Duration{10}, {.attempts_max = 3}});
        const auto expect_job = [&](const JobStatus& expected, const char* when) {
            expect_equal(s.perform(FindJob{work_queue, pushed.id}), std::optional{expected}, when);
            expect_equal(s.jobs(expected.state), std::vector<JobStatus>{expected}, when);
        };
        JobStatus job{.id = pushed.id, .state = State::scheduled, .job = "a"};
        job.options.attempts_max = 3;
        job.run_at = s.now() + Duration{10};
        expect_job(job, "job that is SCHEDULED");
        s.advance(Duration{10});
        job.state = State::ready;
        job.run_at = {};
        expect_job(job, "job that is due");
        auto lease = s.take_work(4);
        job.state = State::pending;
        job.worker = Scenario::worker(4);
        job.attempts = 1;
        expect_job(job, "job that is PENDING");
        s.perform(FailJob{.lease = lease, .error = "broken", .run_at = s.now()});
        job.state = State::ready;
        job.worker.reset();
        job.errors.push_back({1, s.now(), "broken"});
        expect_job(job, "job that is READY after a failure");
        s.perform(FailJob{.lease = s.take_work(), .error = "again", .run_at = {}, .bury = true});
        job.state = State::buried;
        job.attempts = 2;
        job.errors.push_back({2, s.now(), "again"});
        job.buried_at = s.now();
        expect_job(job, "job that is BURIED");
        s.perform(KickJobs{.queue = work_queue});
        lease = s.take_work();
        s.perform(AckJob{lease});
        expect_equal(s.perform(FindJob{work_queue, pushed.id}), FindJob::Reply{},
                     "job found after it is done");
        expect_equal(s.perform(FindJob{"other", pushed.id}), FindJob::Reply{},
                     "job found in another queue");
    });

    add("pages of jobs are in the order of ids, and list all jobs of a state", [](Scenario& s) {
        std::vector<JobId> ids;
        for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
            ids.push_back(s.perform(PushJob{work_queue, name, s.now() + Duration{9}}).id);
        }
        ListJobs step{.queue = work_queue, .state = State::scheduled, .limit = 4};
        const auto first = s.perform(step);
        expect_equal(names(first.jobs), std::string{"abcd"}, "jobs on the first page");
        expect_equal(first.next, ids[3], "start of the second page");
        // If the last job of a page was deleted, the next page must still be found.
        s.perform(DeleteJob{work_queue, ids[3]});
        step.after = first.next;
        const auto last = s.perform(step);
        expect_equal(names(last.jobs), std::string{"ef"}, "jobs on the second page");
        expect_equal(last.next, 0U, "start of a third page");
        s.advance(Duration{9});
        expect_equal(names(s.jobs(State::ready)), std::string{"abcef"}, "READY jobs");
        expect_equal(names(s.jobs(State::scheduled)), std::string{}, "SCHEDULED jobs");
        for (const std::uint32_t limit : {0U, jobs_looked_at_max + 1}) {
            s.expect_refused(ListJobs{.queue = work_queue, .limit = limit}, "limit");
            s.expect_refused(ListJobs{.queue = work_queue, .state = JobStatus::State{4}}, "state");
            s.expect_refused(KickJobs{.queue = work_queue, .limit = limit}, "limit");
        }
    });

    add("a page visits a bounded number of jobs, and names the start of the next page",
        [](Scenario& s) {
            for (std::uint32_t i = 0; i < jobs_looked_at_max; ++i) {
                s.push(std::to_string(i), Duration{1});
            }
            s.push("a");
            const ListJobs step{.queue = work_queue, .state = State::ready};
            const auto page = s.perform(step);
            expect_equal(page.jobs.size(), 0U, "jobs on the first page");
            expect(page.next != 0, "the page must name the start of the next page");
            expect_equal(names(s.jobs(State::ready)), std::string{"a"}, "READY jobs");
        });

    add("pages of jobs are filtered by name or by group", [](Scenario& s) {
        const auto push = [&](const std::string& name, std::int64_t number, JobOptions options) {
            const auto job = encode_job({name, {number}});
            return s.perform(PushJob{work_queue, job, s.now(), std::move(options)}).id;
        };
        JobOptions in_group;
        in_group.group = "account:42";
        const auto a = push("a", 1, {});
        const auto b = push("b", 2, in_group);
        const auto grouped = push("a", 3, in_group);
        const auto keyed = push("a", 4, {.key = {.text = "k"}});
        push("ab", 5, {});
        const auto list = [&](const std::string& name, const std::string& group) {
            std::vector<JobId> ids;
            ListJobs step{.queue = work_queue, .state = State::ready, .limit = 1};
            step.name = name;
            step.group = group;
            do {
                const auto page = s.perform(step);
                for (const auto& job : page.jobs) ids.push_back(job.id);
                step.after = page.next;
            } while (step.after != 0);
            return ids;
        };
        expect(list("a", "") == std::vector<JobId>{a, grouped, keyed},
               "ids of the jobs with the name");
        expect(list("", "account:42") == std::vector<JobId>{b, grouped},
               "ids of the jobs of the group");
        expect(list("a", "account:42") == std::vector<JobId>{grouped},
               "ids of the jobs with the name in the group");
        expect(list("c", "").empty(), "no job has an unknown name");
        expect(list("", "account:4").empty(), "no job is in an unknown group");
        s.perform(
            FailJob{.lease = s.take_work(), .error = "broken", .run_at = s.now(), .bury = true});
        ListJobs buried{.queue = work_queue, .state = State::buried};
        buried.name = "a";
        expect_equal(s.perform(buried).jobs.size(), 1U, "BURIED jobs with the name");
        buried.name = "b";
        expect_equal(s.perform(buried).jobs.size(), 0U, "BURIED jobs with another name");
    });

    add("BURIED jobs are kicked (restarted) in the order of their burial", [](Scenario& s) {
        for (const char* name : {"a", "b", "c"}) {
            s.push_with(name, {.attempts_max = 1, .expires_at = s.now() + Duration{5}});
        }
        const auto leases = s.acquire({.queue = work_queue}).leases;
        for (const std::size_t at : {1U, 2U, 0U}) {
            s.advance(Duration{1});
            s.perform(FailJob{.lease = leases[at], .error = "broken", .run_at = s.now()});
        }
        expect_equal(names(s.jobs(State::buried)), std::string{"abc"},
                     "BURIED jobs in the order of their ids");
        s.advance(Duration{10});
        expect_equal(s.perform(KickJobs{.queue = work_queue, .limit = 2}), Count{2}, "jobs kicked");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .buried = 1}, "jobs");
        expect_equal(s.job(leases[1].id).attempts, 0U, "attempts of the kicked job");
        expect_equal(s.job(leases[1].id).errors.size(), 1U, "errors");
        expect_equal(run_all(s), std::string{"bc"}, "kicked jobs acquired after their expiry time");
        expect_equal(s.perform(KickJobs{.queue = work_queue}), Count{1}, "jobs kicked");
        expect_equal(s.perform(KickJobs{.queue = work_queue}), Count{0},
                     "jobs kicked when none is BURIED");
        s.perform(FailJob{.lease = s.take_work(), .error = "broken", .run_at = s.now()});
        expect_equal(s.queue(work_queue), QueueStatus{.buried = 1},
                     "jobs in the queue after one failed attempt");
    });

    add("a single BURIED job is kicked (started again) by its id", [](Scenario& s) {
        for (const char* name : {"a", "b"}) {
            s.push(name);
            s.bury_next();
        }
        s.push("c");
        const auto buried = s.jobs(State::buried);
        const auto kick = [&](JobId id) {
            return s.perform(KickJobs{.queue = work_queue, .id = id}).value;
        };
        expect_equal(kick(buried.at(1).id), 1U, "jobs kicked");
        expect_equal(kick(buried.at(1).id), 0U, "jobs kicked by a second request");
        expect_equal(kick(s.jobs(State::ready).back().id), 0U,
                     "jobs kicked by the id of a READY job");
        expect_equal(kick(UINT32_MAX), 0U, "jobs kicked by an unknown id");
        expect_equal(run_all(s), std::string{"cb"}, "jobs in the order of their acquisition");
        expect_equal(names(s.jobs(State::buried)), std::string{"a"}, "BURIED jobs");
    });

    add("kicking BURIED jobs (starting them again) wakes workers", [](Scenario& s) {
        s.push("a");
        s.bury_next();
        s.expect_idle_until(never, work_queue);
        s.perform(KickJobs{.queue = work_queue});
        expect_equal(s.acquire({.queue = work_queue}).leases.size(), 1U, "jobs acquired");
    });

    add("a job without a lease can be deleted, and pushed again", [](Scenario& s) {
        const auto remove = [&](JobId id) { return s.perform(DeleteJob{work_queue, id}); };
        const auto scheduled = s.perform(PushJob{work_queue, "a", s.now() + Duration{9}}).id;
        expect_equal(remove(scheduled), Deletion::deleted, "deletion of a SCHEDULED job");
        expect_equal(remove(scheduled), Deletion::unknown, "second deletion of the job");
        s.push("b");
        const auto buried = s.bury_next();
        expect_equal(s.perform(DeleteJob{"other", buried}), Deletion::unknown,
                     "deletion of a job of another queue");
        expect_equal(remove(buried), Deletion::deleted, "deletion of a BURIED job");
        const auto pending = s.push_with("c", {});
        const auto lease = s.take_work();
        expect_equal(remove(pending), Deletion::pending, "deletion of a PENDING job");
        expect_equal(s.perform(AckJob{lease}), Settlement::settled, "settlement of the ack");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
        s.expect_idle_until(never, work_queue);
        for (const char* name : {"a", "b", "c"}) {
            expect_equal(s.push(name), PushOutcome::pushed, "outcome of a push after the deletion");
        }
    });

    add("deleted READY jobs run only when they are pushed again", [](Scenario& s) {
        const auto remove = [&](const char* name) {
            for (const auto& job : s.jobs(State::ready)) {
                if (job.job != name) continue;
                expect_equal(s.perform(DeleteJob{work_queue, job.id}), Deletion::deleted, name);
            }
        };
        for (const char* name : {"a", "b", "c", "d"}) s.push(name);
        remove("a");
        remove("c");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 2}, "jobs");
        s.push("c");
        remove("c");
        s.push("c");
        s.push("a");
        remove("d");
        expect_equal(names(s.jobs(State::ready)), std::string{"bca"}, "READY jobs");
        const auto first = s.acquire({.limit = 1, .queue = work_queue});
        expect_equal(first.leases.at(0).job, std::string{"b"}, "first job acquired");
        expect_equal(first.next_due, s.now(), "time of the next acquisition");
        expect_equal(run_all(s), std::string{"ca"}, "jobs in the order of their acquisition");
        s.push("e");
        remove("e");
        expect_equal(s.queue(work_queue), QueueStatus{.pending = 1}, "jobs");
        s.expect_idle_until(never, work_queue);
        s.push("e");
        expect_equal(run_all(s), std::string{"e"}, "jobs in the order of their acquisition");
    });

    add("of more than 10,000 BURIED jobs the first to be BURIED are dropped and counted",
        [](Scenario& s) {
            constexpr std::uint32_t beyond = 3;
            for (std::uint32_t done = 0; done < buried_max + beyond;) {
                std::vector<Step> steps;
                for (int n = 0; n < 500 && done < buried_max + beyond; ++n) {
                    PushJob step{work_queue, std::to_string(done++), s.now()};
                    if (done == 1) step.options.key.text = "k";
                    steps.emplace_back(std::move(step));
                }
                for (const auto& one : perform_all(s.store(), steps, s.now())) {
                    expect(one.has_value(), "each push must succeed");
                }
                steps.clear();
                for (const auto& lease : s.acquire({.limit = 500, .queue = work_queue}).leases) {
                    steps.emplace_back(
                        FailJob{.lease = lease, .error = "x", .run_at = {}, .bury = true});
                }
                for (const auto& one : perform_all(s.store(), steps, s.now())) {
                    expect(one.has_value(), "each burial must succeed");
                }
                s.advance(Duration{1});
            }
            expect_equal(s.queue(work_queue), QueueStatus{.buried = buried_max}, "jobs");
            expect_equal(s.counter({"jobs.forgotten", {{"queue", work_queue}}}),
                         std::optional<std::int64_t>{beyond}, "forgotten jobs");
            expect_equal(
                s.perform(ListJobs{.queue = work_queue, .state = State::buried, .limit = 1})
                    .jobs.at(0)
                    .job,
                std::to_string(beyond), "oldest BURIED job left");
            expect_equal(s.push("1"), PushOutcome::pushed, "outcome of a push of a forgotten job");
            s.push_with("0", {.key = {.text = "k"}});
        });
}

}  // namespace routemaster::testing
