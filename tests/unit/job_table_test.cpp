#include "core/jobs/state/acquisition.hpp"
#include "core/state/machine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/random.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using namespace routemaster::detail;

namespace {

constexpr TimePoint start = from_milliseconds(1'000);

/// A job table with one queue.
struct Table {
    NoChangeLog changes;
    CounterTable counters{changes};
    JobTable jobs{changes, counters};
    QueueState& queue = jobs.queues().open("aux");
    Uid worker{1U << 8U, 0};

    JobState& push(std::string job, OrderingGroup* group = nullptr, TimePoint run_at = start) {
        return jobs.push(queue, std::move(job), run_at, jobs.next_order(), group, start);
    }

    Acquired acquisition(const AcquireJobs& step, TimePoint now) {
        return Acquisition{jobs, queue, step, now, [](const JobState&) {}}.run();
    }

    /// Acquires up to `limit` jobs and returns their names.
    std::string acquire(TimePoint now = start, std::uint32_t limit = 100) {
        std::string names;
        for (const auto& lease : acquisition({queue.name, worker, limit}, now).leases) {
            names += lease.job;
        }
        return names;
    }
};

/// An empty group.
OrderingGroup group_of(std::uint32_t concurrency) {
    OrderingGroup group;
    group.concurrency = concurrency;
    return group;
}

}  // namespace

TEST_CASE("a group admits jobs up to its concurrency, and the next job when a job ends") {
    Table t;
    auto group = group_of(2);
    std::map<std::string, JobState*> jobs;
    for (const auto* name : {"a", "b", "c", "d"}) jobs[name] = &t.push(name, &group);
    CHECK(t.acquire() == "ab");
    CHECK(t.acquire().empty());
    t.jobs.remove(*jobs["b"]);
    CHECK(t.acquire() == "c");
    t.jobs.remove(*jobs["d"]);
    t.jobs.remove(*jobs["a"]);
    t.jobs.remove(*jobs["c"]);
    CHECK(group.jobs.empty());
    CHECK(group.eligible == 0);
    CHECK(group.first_blocked == nullptr);
    CHECK(t.queue.jobs.empty());
}

TEST_CASE("jobs without a group are not blocked by groups") {
    Table t;
    auto group = group_of(1);
    t.push("a", &group);
    t.push("b", &group);
    t.push("x");
    CHECK(t.acquire() == "ax");
    CHECK(JobReports::count(t.queue, start) == QueueStatus{.ready = 1, .pending = 2});
}

TEST_CASE("a released job keeps its place in its group") {
    Table t;
    auto group = group_of(1);
    auto& a = t.push("a", &group);
    t.push("b", &group);
    CHECK(t.acquire() == "a");
    t.jobs.release(a, start + Duration{10}, start);
    CHECK(t.acquire().empty());
    CHECK(t.acquire(start + Duration{10}) == "a");
}

TEST_CASE("lowering the concurrency of a group blocks its last jobs that are not under way") {
    Table t;
    auto group = group_of(4);
    for (const auto* name : {"a", "b", "c", "d", "e"}) t.push(name, &group);
    CHECK(t.acquire(start, 2) == "ab");
    t.jobs.groups().set_concurrency(group, 1);
    CHECK(group.eligible == 1);
    CHECK(t.acquire().empty());
    t.jobs.groups().set_concurrency(group, 3);
    CHECK(t.acquire() == "c");
    t.jobs.groups().set_concurrency(group, 1);
    t.jobs.release(*t.jobs.find(t.queue, "a"), start, start);
    // `a` comes first: it was pushed first.
    CHECK(t.acquire() == "a");
    for (const auto* name : {"c", "b", "a"}) {
        t.jobs.release(*t.jobs.find(t.queue, name), start, start);
    }
    CHECK(group.eligible == 1);
    CHECK(t.acquire() == "a");
    CHECK(JobReports::count(t.queue, start) == QueueStatus{.ready = 4, .pending = 1});
}

TEST_CASE("a scheduled job waits in its group like any job") {
    Table t;
    auto group = group_of(1);
    t.push("a", &group, start + Duration{50});
    t.push("b", &group);
    CHECK(t.acquisition({.queue = "aux", .worker = t.worker}, start).next_due ==
          start + Duration{50});
    CHECK(t.acquire(start + Duration{50}) == "a");
}

TEST_CASE("a job can be rescheduled until it is acquired") {
    Table t;
    auto& a = t.push("a", nullptr, start + Duration{100});
    t.push("b", nullptr, start + Duration{50});
    t.jobs.reschedule(a, start + Duration{10}, start);
    CHECK(t.acquire(start + Duration{10}) == "a");
    t.jobs.reschedule(*t.jobs.find(t.queue, "b"), start, start + Duration{10});
    CHECK(t.acquire(start + Duration{10}) == "b");
}

TEST_CASE("queues without jobs take no memory in a job table") {
    NoChangeLog changes;
    Machine machine{changes};
    const Uid worker{1U << 8U, 0};
    const auto perform = [&](auto step) {
        Step any{std::move(step)};
        return std::get<typename decltype(step)::Reply>(machine.perform(any, start).value());
    };
    for (int i = 0; i < 10'000; ++i) {
        const auto name = "q" + std::to_string(i);
        CHECK(perform(CountJobs{name}) == QueueStatus{});
        CHECK(perform(AcquireJobs{name, worker}).leases.empty());
    }
    CHECK(machine.jobs().queues().size() == 1);
    for (int i = 0; i < 10'000; ++i) {
        const auto name = "q" + std::to_string(i);
        perform(PushJob{name, "a", start});
        CHECK(perform(AckJob{perform(AcquireJobs{name, worker}).leases.at(0)}) ==
              Settlement::settled);
    }
    CHECK(machine.jobs().queues().size() == 2);
    perform(PushJob{"mail", "a", start});
    perform(PushJob{"mail", "b", start});
    CHECK(machine.jobs().queues().size() == 3);
    // A worker that found no job in a forgotten queue is woken when the queue gets a job.
    static_cast<void>(machine.jobs().take_woken());
    perform(AcquireJobs{"images", worker});
    perform(PushJob{"images", "a", start});
    CHECK(machine.jobs().take_woken() == std::vector<std::string>{"images"});
}

TEST_CASE("a queue wakes its workers once for all changes since the last acquisition") {
    Table t;
    // Acquisitions before the first job are forgotten.
    t.push("a");
    CHECK(t.jobs.take_woken() == std::vector<std::string>{"aux"});
    t.acquire();
    t.push("b");
    t.push("c");
    CHECK(t.jobs.take_woken() == std::vector<std::string>{"aux"});
    CHECK(t.jobs.take_woken().empty());
    t.acquire();
    t.push("d", nullptr, start + Duration{100});
    CHECK(t.jobs.take_woken() == std::vector<std::string>{"aux"});
    t.acquire();
    t.push("e", nullptr, start + Duration{200});
    CHECK(t.jobs.take_woken().empty());
    t.push("f", nullptr, start + Duration{50});
    CHECK(t.jobs.take_woken() == std::vector<std::string>{"aux"});
}

TEST_CASE("jobs restored from a file keep their places, and their leases can be restored") {
    Table t;
    auto group = group_of(1);
    t.jobs.restore(t.queue, "b", start, 2, &group);
    t.jobs.restore(t.queue, "x", start, 3, nullptr);
    t.jobs.restore(t.queue, "a", start, 1, &group);
    t.jobs.unrestore(t.jobs.restore(t.queue, "gone", start, 4, nullptr));
    t.jobs.settle_restored();
    CHECK(t.jobs.next_order() == 5);
    const Lease lease{"aux", "a", t.worker, 77};
    t.jobs.reinstate(lease, start);
    t.jobs.reinstate({"aux", "gone", t.worker, 78}, start);
    t.jobs.leases().skip_fences(77);
    CHECK(t.jobs.leases().all() == std::vector<Lease>{lease});
    CHECK(t.jobs.leased(lease) == t.jobs.find(t.queue, "a"));
    CHECK(t.acquire() == "x");
    CHECK(t.jobs.leases().fence() == 78);
    t.jobs.remove(*t.jobs.leased(lease));
    CHECK(t.acquire() == "b");
}

TEST_CASE("the queue and its groups stay consistent over many random operations") {
    const auto number = test::seed(3);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    Table t;
    OrderingGroup groups[3]{group_of(1), group_of(2), group_of(3)};
    std::vector<Lease> leases;
    auto now = start;
    for (int step = 0; step < 5'000; ++step) {
        const auto pick = random.below(4);
        auto* group = pick < 3 ? &groups[pick] : nullptr;
        switch (random.below(6)) {
            case 0:
            case 1:
                t.jobs.push(t.queue, std::to_string(step), now + Duration{random.below(20)},
                            t.jobs.next_order(), group, now);
                break;
            case 2: {
                auto acquired =
                    t.acquisition({.queue = "aux", .worker = t.worker, .limit = 3}, now).leases;
                leases.insert(leases.end(), acquired.begin(), acquired.end());
                break;
            }
            case 3:
                if (group != nullptr)
                    t.jobs.groups().set_concurrency(
                        *group, static_cast<std::uint32_t>(1 + random.below(4)));
                break;
            case 4: now += Duration{random.below(10)}; break;
            default:
                if (leases.empty()) break;
                std::swap(leases[random.below(leases.size())], leases.back());
                auto& job = *t.jobs.leased(leases.back());
                leases.pop_back();
                if (random.below(2) == 0) {
                    t.jobs.remove(job);
                } else {
                    t.jobs.release(job, now + Duration{random.below(20)}, now);
                }
        }
        const auto status = JobReports::count(t.queue, now);
        REQUIRE(status.pending == leases.size());
        REQUIRE(status.scheduled + status.ready + status.pending == t.queue.jobs.size());
        for (auto& one : groups) {
            std::size_t eligible = 0;
            JobState* first_blocked = nullptr;
            for (auto* job = one.jobs.front(); job != nullptr; job = one.jobs.next(*job)) {
                if (job->eligible) {
                    REQUIRE(first_blocked == nullptr);
                    ++eligible;
                } else if (first_blocked == nullptr) {
                    first_blocked = job;
                }
            }
            REQUIRE(one.eligible == eligible);
            REQUIRE(one.first_blocked == first_blocked);
            REQUIRE((first_blocked == nullptr || eligible >= one.concurrency));
        }
    }
}
