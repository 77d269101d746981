// Jobs with a priority, in a deployment with versions that do not know priorities, and their cost.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "redis_scene.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

struct Ranks : RedisScene {
    JobId push(const std::string& job, std::int32_t priority, Duration delay = {}) {
        return perform(PushJob{"work", job, now + delay, {.priority = priority}}).id;
    }
    std::string acquire_work(std::uint32_t limit = 100) {
        std::string all;
        const AcquireJobs step{.queue = "work", .worker = worker, .limit = limit};
        for (const auto& lease : perform(step).leases) all += lease.job;
        return all;
    }
    std::int64_t ranks() { return other({"ZCARD", "routemaster:ranks:work"}).number; }
};

}  // namespace

TEST_CASE("redis: only jobs with a priority have a rank, and only while they wait") {
    Ranks s;
    s.push("a", 0);
    s.push("b", 0, Duration{5});
    CHECK(s.ranks() == 0);
    s.push("c", 1);
    s.push("d", -1, Duration{5});
    CHECK(s.ranks() == 2);
    CHECK(s.other({"LLEN", "jobs:instant:work"}).number == 1);
    s.now += Duration{5};
    CHECK(s.acquire_work() == "cabd");
    CHECK(s.ranks() == 0);
}

TEST_CASE(
    "redis: an older version without priorities may promote, run and return jobs with a priority") {
    Ranks s;
    s.push("a", 0);
    s.push("b", 5, Duration{5});
    s.push("c", 5);
    s.now += Duration{5};
    // The earlier version promotes one of the jobs.
    s.other({"ZREM", "jobs:scheduled:work", "b"});
    s.other({"LPUSH", "jobs:instant:work", "b"});
    CHECK(s.perform(CountJobs{"work"}).ready == 3);
    // The list does not contain due times: jobs that were pushed by it come first.
    CHECK(s.acquire_work(1) == "a");
    CHECK(s.acquire_work() == "bc");
    CHECK(s.ranks() == 0);
}

TEST_CASE("redis: a job deleted by an older version without priorities leaves no rank behind") {
    Ranks s;
    const auto id = s.push("a", 5, Duration{5});
    s.push("b", 1, Duration{5});
    s.now += Duration{5};
    CHECK(s.perform(AcquireJobs{.queue = "work", .worker = s.worker, .limit = 1}).leases.at(0).id ==
          id);
    s.perform(RetireWorker{s.worker});
    s.other({"SREM", "jobs:index:work", "a"});
    s.other({"ZREM", "routemaster:ids:work", "a"});
    s.other({"HDEL", "routemaster:job:work", "a"});
    CHECK(s.acquire_work() == "b");
    CHECK(s.ranks() == 0);
}

TEST_CASE("redis: a job with a priority that an older version has delayed can be deleted") {
    Ranks s;
    const auto id = s.push("a", 5);
    s.push("b", 0);
    s.other({"ZREM", "routemaster:ranks:work", "0000000000000001"});
    s.other({"LPUSH", "jobs:instant:work", "a"});
    CHECK(s.perform(DeleteJob{"work", id}) == Deletion::deleted);
    CHECK(s.acquire_work() == "b");
    CHECK(s.perform(CountJobs{"work"}) == QueueStatus{.pending = 1});
}
