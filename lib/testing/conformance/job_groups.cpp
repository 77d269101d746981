#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"
#include "routemaster/job_status.hpp"
#include "threads.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

JobOptions in_group(const std::string& group, std::uint32_t concurrency = 1,
                    std::int32_t priority = 0) {
    JobOptions options{.priority = priority};
    options.group = group;
    options.concurrency = concurrency;
    return options;
}

JobId push_grouped(const Scenario& s, const std::string& job, const std::string& group,
                   std::uint32_t concurrency = 1, Duration delay = {}) {
    return s.perform(PushJob{work_queue, job, s.now() + delay, in_group(group, concurrency)}).id;
}

std::vector<Lease> lease_all(const Scenario& s, std::uint32_t limit = 100) {
    return s.acquire({.limit = limit, .queue = work_queue}).leases;
}

std::string names_of(const std::vector<Lease>& leases) {
    std::string all;
    for (const auto& lease : leases) all += lease.job;
    return all;
}

/// Acquires and acknowledges jobs one by one until no job is READY. Returns their names in order.
std::string run_singly(const Scenario& s) {
    std::string all;
    for (auto next = lease_all(s, 1); !next.empty(); next = lease_all(s, 1)) {
        all += names_of(next);
        s.perform(AckJob{next.front()});
    }
    return all;
}

/// Expects that no job can be acquired until `due`.
void expect_none(const Scenario& s, TimePoint due = never, Where at = Where::here()) {
    s.expect_idle_until(due, work_queue, at);
}

void add_concurrency_cases(StoreCases& add) {
    add("jobs of a group run one at a time, in the order of their pushes", [](Scenario& s) {
        for (const auto* job : {"a", "b", "c"}) push_grouped(s, job, "account:42");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 3}, "jobs");
        for (const auto* job : {"a", "b", "c"}) {
            const auto leases = lease_all(s);
            expect_equal(names_of(leases), std::string{job}, "jobs acquired");
            expect_none(s);
            s.perform(AckJob{leases.at(0)});
        }
        expect_none(s);
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
    });

    add("as many jobs of a group run at once as its concurrency allows", [](Scenario& s) {
        for (const auto* job : {"a", "b", "c", "d", "e"}) push_grouped(s, job, "g", 3);
        const auto leases = lease_all(s);
        expect_equal(names_of(leases), std::string{"abc"}, "jobs acquired first");
        expect_none(s);
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .pending = 3}, "jobs");
        s.perform(AckJob{leases[1]});
        expect_equal(names_of(lease_all(s)), std::string{"d"}, "jobs acquired after one is done");
        s.perform(AckJob{leases[2]});
        expect_equal(names_of(lease_all(s)), std::string{"e"},
                     "jobs acquired after another is done");
    });

    add("the last job of a group sets the concurrency of the group", [](Scenario& s) {
        push_grouped(s, "a", "g");
        push_grouped(s, "b", "g");
        push_grouped(s, "c", "g");
        expect_equal(names_of(lease_all(s)), std::string{"a"},
                     "jobs acquired at a concurrency of 1");
        push_grouped(s, "d", "g", 3);
        auto leases = lease_all(s);
        expect_equal(names_of(leases), std::string{"bc"}, "jobs acquired at a concurrency of 3");
        const auto last = push_grouped(s, "e", "g", 1);
        for (const auto& lease : leases) s.perform(AckJob{lease});
        expect_none(s);
        s.perform(DeleteJob{work_queue, last});
        expect_equal(names_of(lease_all(s)), std::string{"d"},
                     "jobs acquired after the deletion of the last job");
    });

    add("a job that raises the concurrency of its group is acquired only once", [](Scenario& s) {
        push_grouped(s, "a", "g");
        s.perform(PushJob{work_queue, "b", s.now(), in_group("g", 2, 1)});
        push_grouped(s, "c", "g", 3);
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 3}, "jobs");
        expect_equal(names_of(lease_all(s)), std::string{"bac"}, "jobs acquired");
        expect_equal(s.queue(work_queue), QueueStatus{.pending = 3}, "jobs");
        expect_none(s);
    });

    add("a lower concurrency of a group blocks its jobs without a lease", [](Scenario& s) {
        for (const auto* job : {"a", "b", "c"}) push_grouped(s, job, "g", 4);
        s.perform(PushJob{work_queue, "d", s.now(), in_group("g", 4, 5)});
        s.push("x");
        push_grouped(s, "e", "g", 2);
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 6}, "jobs");
        auto leases = lease_all(s);
        expect_equal(names_of(leases), std::string{"abx"}, "jobs acquired");
        expect_none(s);
        s.perform(AckJob{leases[0]});
        expect_equal(names_of(lease_all(s)), std::string{"c"},
                     "jobs acquired after the first is done");
        s.perform(AckJob{leases[1]});
        expect_equal(names_of(lease_all(s)), std::string{"d"},
                     "jobs acquired after the second is done");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 1, .pending = 3}, "jobs");
    });

    add("eight competing workers never hold two jobs of one group, and keep the order of the group",
        [](Scenario& s) {
            constexpr unsigned threads = 8;
            constexpr unsigned groups = 3;
            constexpr unsigned each = 40;
            for (unsigned i = 0; i < groups * each; ++i) {
                const std::string group = "g" + std::to_string(i % groups);
                push_grouped(s, group + " " + std::to_string(i), group);
            }
            std::mutex mutex;  // Guards `order` and `under_way`.
            std::map<std::string, std::vector<unsigned>> order;
            std::map<std::string, unsigned> under_way;
            in_threads(threads, [&](unsigned thread) {
                for (;;) {
                    const auto leases =
                        s.acquire({.worker = thread + 1, .limit = 2, .queue = work_queue}).leases;
                    for (const auto& lease : leases) {
                        const std::lock_guard lock{mutex};
                        const auto group = lease.job.substr(0, 2);
                        expect_equal(++under_way[group], 1U, "PENDING jobs of " + group);
                        order[group].push_back(
                            static_cast<unsigned>(std::stoul(lease.job.substr(3))));
                    }
                    for (const auto& lease : leases) {
                        {
                            const std::lock_guard lock{mutex};
                            --under_way[lease.job.substr(0, 2)];
                        }
                        s.perform(AckJob{lease});
                    }
                    if (leases.empty() && s.queue(work_queue).ready == 0) return;
                }
            });
            for (const auto& [group, numbers] : order) {
                expect_equal(numbers.size(), std::size_t{each}, "jobs run of " + group);
                for (std::size_t i = 1; i < numbers.size(); ++i) {
                    expect(numbers[i - 1] < numbers[i], "jobs of " + group + " are out of order");
                }
            }
        });

    add("a group with many jobs does not delay others: groups take turns", [](Scenario& s) {
        for (const auto* job : {"1", "2", "3", "4"}) push_grouped(s, job, "noisy");
        push_grouped(s, "a", "quiet");
        s.push("x");
        push_grouped(s, "b", "quiet");
        expect_equal(run_singly(s), std::string{"1ax2b34"},
                     "jobs in the order of their acquisition");
    });

    add("groups of jobs with a priority take turns, too", [](Scenario& s) {
        const auto push = [&](const std::string& job, const std::string& group) {
            s.perform(PushJob{work_queue, job, s.now(), in_group(group, 1, 5)});
        };
        for (const auto* job : {"1", "2", "3", "4"}) push(job, "noisy");
        push("a", "quiet");
        s.push_with("x", {.priority = 5});
        push("b", "quiet");
        std::string all;
        for (auto next = lease_all(s, 1); !next.empty(); next = lease_all(s, 1)) {
            all += names_of(next);
            s.advance(Duration{1});
            s.perform(AckJob{next.front()});
        }
        expect_equal(all, std::string{"1ax2b34"}, "jobs in the order of their acquisition");
    });

    add("a job whose turn comes after the clock was set back is READY", [](Scenario& s) {
        for (const auto* job : {"a", "b"}) s.push_with(job, in_group("g", 1, 5));
        const auto lease = lease_all(s).at(0);
        s.advance(Duration{-3'600'000});
        s.perform(AckJob{lease});
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 1}, "jobs");
        expect_equal(names_of(lease_all(s)), std::string{"b"}, "next job acquired");
    });

    add("groups with one name in two queues are separate, and jobs without a group are not limited",
        [](Scenario& s) {
            push_grouped(s, "a", "g");
            s.perform(PushJob{"other", "b", s.now(), in_group("g")});
            s.push("c");
            push_grouped(s, "d", "G");
            expect_equal(names_of(lease_all(s)), std::string{"acd"},
                         "jobs acquired from the first queue");
            expect_equal(names_of(s.acquire({.queue = "other"}).leases), std::string{"b"},
                         "jobs acquired from the other queue");
        });
}

void add_place_cases(StoreCases& add) {
    add("a job keeps its place in its group after a failure, a release or a dead worker",
        [](Scenario& s) {
            push_grouped(s, "a", "g");
            push_grouped(s, "b", "g");
            const Duration wait{1'000};
            s.perform(NackJob{s.take_work(), s.now() + wait});
            expect_none(s, s.now() + wait);
            s.advance(wait);
            s.perform(FailJob{.lease = s.take_work(), .error = "e", .run_at = s.now() + wait});
            push_grouped(s, "c", "g");
            expect_none(s, s.now() + wait);
            expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 1, .ready = 2}, "jobs");
            s.advance(wait);
            s.perform(ReleaseJob{s.take_work(), s.now()});
            s.take_work(2);
            s.perform(RetireWorker{Scenario::worker(2)});
            s.take_work(3);
            expect_none(s);
            s.advance(Duration{30'000});
            s.perform(ScrubWorkers{Duration{30'000}});
            expect_equal(run_singly(s), std::string{"abc"},
                         "jobs in the order of their acquisition");
        });

    add("a job that is not yet due blocks no job, and joins the end of its group when due",
        [](Scenario& s) {
            push_grouped(s, "a", "g", 1, Duration{10});
            push_grouped(s, "b", "g");
            auto lease = s.take_work();
            expect_equal(lease.job, std::string{"b"}, "job acquired before the due time");
            push_grouped(s, "c", "g");
            s.advance(Duration{10});
            expect_none(s);
            push_grouped(s, "d", "g");
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 3, .pending = 1}, "jobs");
            s.perform(AckJob{lease});
            expect_equal(run_singly(s), std::string{"cad"},
                         "jobs in the order of their acquisition");
        });

    add("jobs of a group that become due run in the order of their due times", [](Scenario& s) {
        push_grouped(s, "c", "g", 1, Duration{30});
        push_grouped(s, "a", "g", 1, Duration{10});
        push_grouped(s, "b", "g", 1, Duration{20});
        s.advance(Duration{40});
        expect_equal(run_singly(s), std::string{"abc"}, "jobs in the order of their acquisition");
    });

    add("priorities decide between groups, and not between the jobs of one group", [](Scenario& s) {
        push_grouped(s, "a", "g");
        s.perform(PushJob{work_queue, "b", s.now(), in_group("g", 1, 100)});
        s.push("x");
        s.perform(PushJob{work_queue, "c", s.now(), in_group("h", 1, 50)});
        s.perform(PushJob{work_queue, "d", s.now(), in_group("h", 1, -50)});
        expect_equal(run_singly(s), std::string{"cabxd"}, "jobs in the order of their acquisition");
    });

    add("a group of a paused queue waits, and then continues in order", [](Scenario& s) {
        push_grouped(s, "a", "g");
        push_grouped(s, "b", "g");
        push_grouped(s, "c", "g", 1, Duration{5});
        const auto lease = s.take_work();
        s.perform(PauseQueue{work_queue, true});
        s.advance(Duration{5});
        push_grouped(s, "d", "g");
        s.perform(AckJob{lease});
        expect_none(s);
        s.perform(PauseQueue{work_queue, false});
        // While the queue was paused, no due jobs became READY.
        expect_equal(run_singly(s), std::string{"bdc"}, "jobs in the order of their acquisition");
    });
}

void add_leaving_cases(StoreCases& add) {
    add("a BURIED job lets the next job run, and joins the end of its group when kicked",
        [](Scenario& s) {
            const auto first = push_grouped(s, "a", "g");
            push_grouped(s, "b", "g");
            push_grouped(s, "c", "g");
            expect_equal(s.bury_next(), first, "id of the BURIED job");
            const auto lease = s.take_work();
            expect_equal(lease.job, std::string{"b"}, "next job acquired");
            s.perform(KickJobs{.queue = work_queue, .id = first});
            expect_none(s);
            s.perform(AckJob{lease});
            expect_equal(run_singly(s), std::string{"ca"},
                         "jobs in the order of their acquisition");
        });

    add("a job that expires, or has no attempts left, lets the next job run", [](Scenario& s) {
        auto options = in_group("g");
        options.attempts_max = 1;
        s.push_with("a", options);
        options = in_group("g");
        options.expires_at = s.now() + Duration{1'000};
        s.push_with("b", options);
        push_grouped(s, "c", "g");
        s.take_work();
        s.advance(Duration{30'000});
        s.perform(ScrubWorkers{Duration{30'000}});
        expect_equal(run_singly(s), std::string{"c"}, "jobs acquired then");
        expect_equal(s.jobs(State::buried).size(), 1U, "BURIED jobs");
        expect_equal(s.counter({"jobs.expired", {{"queue", work_queue}}}), 1, "expired jobs");
    });

    add("deleting or cancelling a job lets the next job run", [](Scenario& s) {
        const auto first = push_grouped(s, "a", "g");
        push_grouped(s, "b", "g");
        const auto third = push_grouped(s, "c", "g");
        push_grouped(s, "d", "g");
        expect_equal(s.perform(DeleteJob{work_queue, first}), Deletion::deleted,
                     "reply to the deletion");
        const auto lease = s.take_work();
        expect_equal(lease.job, std::string{"b"}, "next job acquired");
        expect_equal(s.perform(CancelJob{work_queue, third}), Cancellation::cancelled,
                     "reply to the cancellation of a READY job");
        expect_equal(s.perform(CancelJob{work_queue, lease.id}), Cancellation::requested,
                     "reply to the cancellation of a PENDING job");
        expect_none(s);
        s.perform(NackJob{lease, s.now() + Duration{60'000}});
        expect_equal(run_singly(s), std::string{"d"}, "jobs acquired then");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
    });

    add("a job that waits for its retry keeps its place until it is deleted", [](Scenario& s) {
        const auto first = push_grouped(s, "a", "g");
        push_grouped(s, "b", "g");
        s.perform(NackJob{s.take_work(), s.now() + Duration{60'000}});
        expect_none(s, s.now() + Duration{60'000});
        s.perform(DeleteJob{work_queue, first});
        expect_equal(run_singly(s), std::string{"b"}, "jobs acquired then");
    });

    add("a replaced job keeps its place in its group unless its due time moves later or its group "
        "changes",
        [](Scenario& s) {
            const auto push_keyed = [&](const std::string& job, const std::string& group,
                                        Duration delay = {}) {
                PushJob step{work_queue, job, s.now() + delay, {}};
                if (!group.empty()) step.options = in_group(group);
                step.options.key.text = "k";
                step.on_duplicate = OnDuplicate::replace;
                return s.perform(step);
            };
            const auto id = push_keyed("a", "g").id;
            push_grouped(s, "b", "g");
            expect_equal(push_keyed("A", "g"), Pushed{PushOutcome::replaced, id},
                         "reply to the replacing push");
            auto lease = s.take_work();
            expect_equal(lease.job, std::string{"A"},
                         "job acquired from the place of the replaced job");
            s.perform(ReleaseJob{lease, s.now()});
            push_keyed("c", "g", Duration{10});
            expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 1, .ready = 1}, "jobs");
            lease = s.take_work();
            expect_equal(lease.job, std::string{"b"},
                         "job acquired while the replaced job is not due");
            push_keyed("d", "");
            expect_equal(names_of(lease_all(s)), std::string{"d"},
                         "jobs acquired after the job left its group");
            s.perform(RetireWorker{Scenario::worker(1)});
            push_keyed("e", "h");
            push_grouped(s, "f", "h");
            push_keyed("E", "g");
            expect_equal(s.job(id).options.group, std::string{"g"}, "group of the replaced job");
            expect_equal(run_singly(s), std::string{"bfE"},
                         "jobs in the order of their acquisition");
            expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
        });

    add("replacing a READY job with another concurrency raises or lowers the limit of its group",
        [](Scenario& s) {
            const auto push_keyed = [&](const std::string& job, std::uint32_t concurrency) {
                PushJob step{work_queue, job, s.now(), in_group("g", concurrency)};
                step.options.key.text = "k";
                step.on_duplicate = OnDuplicate::replace;
                return s.perform(step);
            };
            for (const auto* job : {"a", "b", "c"}) push_grouped(s, job, "g");
            const auto id = push_keyed("d", 1).id;
            expect_equal(push_keyed("D", 3), Pushed{PushOutcome::replaced, id},
                         "reply to a push with a higher concurrency");
            expect_equal(s.job(id).options.concurrency, 3U, "concurrency of the replaced job");
            auto leases = lease_all(s);
            expect_equal(names_of(leases), std::string{"abc"},
                         "jobs acquired at a concurrency of 3");
            expect_equal(push_keyed("E", 2), Pushed{PushOutcome::replaced, id},
                         "reply to a push with a lower concurrency");
            s.perform(AckJob{leases[0]});
            expect_none(s);
            s.perform(AckJob{leases[1]});
            expect_equal(names_of(lease_all(s)), std::string{"E"},
                         "job acquired beside one PENDING job");
            expect_equal(s.queue(work_queue), QueueStatus{.pending = 2}, "jobs");
        });

    add("replacing a READY job with a lower concurrency makes READY jobs wait again",
        [](Scenario& s) {
            for (const auto* job : {"a", "b", "c"}) push_grouped(s, job, "g", 4);
            PushJob step{work_queue, "d", s.now(), in_group("g", 4)};
            step.options.key.text = "k";
            step.on_duplicate = OnDuplicate::replace;
            s.perform(step);
            step.job = "D";
            step.options.concurrency = 1;
            s.perform(step);
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 4}, "jobs");
            expect_equal(names_of(lease_all(s)), std::string{"a"},
                         "jobs acquired at a concurrency of 1");
            expect_none(s);
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 3, .pending = 1}, "jobs");
        });
}

void add_other_cases(StoreCases& add) {
    add("a job that may begin when a job of its group ends wakes a worker", [](Scenario& s) {
        push_grouped(s, "a", "g");
        push_grouped(s, "b", "g");
        s.perform(PushJob{work_queue, "c", s.now(), in_group("g", 1, 3)});
        Signal signal;
        const auto watch = s.store().watch(work_queue, [&] { signal.raise(); });
        for (const auto* job : {"a", "b"}) {
            const auto lease = s.take_work();
            expect_equal(lease.job, std::string{job}, "next job acquired");
            expect_none(s);
            const auto seen = signal.count();
            s.perform(AckJob{lease});
            expect(signal.wait_beyond(seen, s.traits().timeout),
                   "the end of a job must wake a worker");
        }
    });

    add("job lists show groups, and show jobs that wait in their group as READY", [](Scenario& s) {
        const auto first = push_grouped(s, "a", "g", 2);
        const auto second = push_grouped(s, "b", "g");
        expect_equal(s.job(first).options, in_group("g", 2), "options");
        expect_equal(s.job(second).options, in_group("g"), "options");
        lease_all(s);
        expect_equal(s.jobs(State::ready).size(), 1U, "READY jobs");
        expect_equal(s.job(second).state, State::ready, "state of the job that waits in its group");
        expect_equal(s.perform(ListQueues{}).at(0).due_since, std::optional<TimePoint>{},
                     "start of the longest wait of the queue");
    });

    add("the follow-up job of a job may join the group of this job", [](Scenario& s) {
        push_grouped(s, "a", "g");
        push_grouped(s, "b", "g");
        const auto lease = s.take_work();
        s.perform(CompleteJob{lease, {{work_queue, "c", s.now(), in_group("g")}}});
        expect_equal(run_singly(s), std::string{"bc"}, "jobs in the order of their acquisition");
    });

    add("an invalid group or concurrency is refused and changes nothing", [](Scenario& s) {
        const auto longest = std::string(job_group_max, 'g');
        push_grouped(s, "a", longest, group_concurrency_max);
        push_grouped(s, "b", longest, group_concurrency_max);
        expect_equal(names_of(lease_all(s)), std::string{"ab"}, "jobs acquired");
        push_grouped(s, "c", "{g}:ü \n\x01*");
        expect_equal(run_singly(s), std::string{"c"},
                     "job acquired from a group with an unusual name");
        const auto refuse = [&](const JobOptions& options, const char* field) {
            s.expect_refused(PushJob{work_queue, "c", s.now(), options}, field);
        };
        refuse(in_group(longest + "g"), "group");
        refuse(in_group(std::string{"g\0", 2}), "group");
        refuse(in_group("\xff"), "group");
        refuse(in_group("g", 0), "concurrency");
        refuse(in_group("g", group_concurrency_max + 1), "concurrency");
        refuse(in_group("", 2), "concurrency");
        s.expect_refused(PushJob{"aux", "c", s.now(), in_group("g")}, "options");
    });
}

}  // namespace

void add_job_group_cases(StoreCases& add) {
    add_concurrency_cases(add);
    add_place_cases(add);
    add_leaving_cases(add);
    add_other_cases(add);
}

}  // namespace routemaster::testing
