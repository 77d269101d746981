// The keys of ordering groups of jobs.

#include <doctest/doctest.h>

#include <string>

#include "redis_scene.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

struct Groups : RedisScene {
    JobId push(const std::string& job, Duration delay = {}) {
        PushJob step{"work", job, now + delay};
        step.options.group = "g";
        return perform(step).id;
    }
    std::string acquire_work(std::uint32_t limit = 100) {
        std::string all;
        const AcquireJobs step{.queue = "work", .worker = worker, .limit = limit};
        for (const auto& lease : perform(step).leases) all += lease.job;
        return all;
    }
    std::int64_t size(const char* key) { return other({"ZCARD", key}).number; }
};

constexpr const char* order = "routemaster:order:work:g";
constexpr const char* held = "routemaster:held:work";

}  // namespace

TEST_CASE("redis: the keys of a group and its waiting jobs exist only while the group has jobs") {
    Groups s;
    s.perform(PushJob{"work", "plain", s.now});
    CHECK(s.other({"EXISTS", order, held}).number == 0);
    const auto first = s.push("a");
    s.push("b");
    s.push("c", Duration{5});
    CHECK(s.size(order) == 2);
    CHECK(s.size(held) == 2);
    CHECK(s.acquire_work() == "plaina");
    s.now += Duration{5};
    CHECK(s.acquire_work().empty());
    CHECK(s.size(order) == 3);
    s.perform(RetireWorker{s.worker});
    s.perform(DeleteJob{"work", first});
    s.perform(DeleteJob{"work", first + 2});
    s.perform(DeleteJob{"work", first + 1});
    CHECK(s.perform(CountJobs{"work"}) == QueueStatus{.ready = 1});
    CHECK(s.other({"EXISTS", order, held}).number == 0);
}

TEST_CASE("redis: a group whose Redis key has the wrong type blocks no job") {
    Groups s;
    s.other({"SET", order, "spoilt"});
    s.push("a");
    s.push("b");
    CHECK(s.acquire_work() == "ab");
    s.perform(RetireWorker{s.worker});
    s.other({"DEL", order});
    CHECK(s.perform(CountJobs{"work"}) == QueueStatus{.ready = 2});
    CHECK(s.acquire_work() == "ab");
}
