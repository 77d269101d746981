// The keys of rate limits, and their cost.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "redis_scene.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/await.hpp"
#include "support/recorded_log.hpp"
#include "support/sleepy_store.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

constexpr Duration second{1'000};

struct Limits : RedisScene {
    void limit(const RateLimits& limits) { perform(LimitQueue{"work", limits}); }
    void push(const std::string& job, const std::string& group = {}) {
        PushJob push{"work", job, now};
        push.options.group = group;
        push.options.concurrency = group.empty() ? 1 : 10;
        perform(push);
    }
    std::size_t begin(std::uint32_t limit = 100) {
        return perform(AcquireJobs{.queue = "work", .worker = worker, .limit = limit})
            .leases.size();
    }
    bool exists(const std::string& key) { return other({"EXISTS", key}).number == 1; }
};

}  // namespace

TEST_CASE("redis: the server stores the number of tokens only for as long as it matters") {
    Limits s;
    s.limit({.queue = RateLimit{.jobs = 3, .per = second},
             .each_group = RateLimit{.jobs = 2, .per = 10 * second}});
    for (const char* job : {"a", "b", "c"}) s.push(job, "g");
    CHECK(s.begin() == 2);
    CHECK(s.exists("routemaster:bucket:work"));
    const auto left = s.other({"PTTL", "routemaster:bucket:work:g"}).number;
    CHECK(left > 600'000);
    CHECK(left <= 610'000);
    // A second store, as after a restart.
    RedisStore again{{.addresses = {s.server.address()}}};
    const auto acquired =
        perform(again, AcquireJobs{.queue = "work", .worker = Uid{1, 1}}, s.now).value();
    CHECK(acquired.leases.empty());
    CHECK(acquired.next_due == s.now + 5 * second);
    s.other({"SET", "routemaster:bucket:work:g", "what nobody can read"});
    s.now += 5 * second;
    CHECK(s.begin() == 1);
}

TEST_CASE("redis: removed rate limits leave a single field in routemaster:limits") {
    Limits s;
    s.limit({.each_group = RateLimit{.jobs = 1, .per = 60 * second}});
    s.push("a", "g");
    s.push("b", "g");
    CHECK(s.begin() == 1);
    CHECK(s.exists("routemaster:throttled:work"));
    CHECK(s.exists("routemaster:throttled_since:work"));
    CHECK(s.exists("routemaster:opens:work"));
    s.limit({});
    CHECK(s.begin() == 1);
    CHECK(!s.exists("routemaster:throttled:work"));
    CHECK(!s.exists("routemaster:throttled_since:work"));
    CHECK(!s.exists("routemaster:opens:work"));
    CHECK(!s.exists("routemaster:paused"));
    CHECK(s.other({"HLEN", "routemaster:limits"}).number == 1);
}

TEST_CASE("redis: rate limits without throttled jobs are removed at once") {
    Limits s;
    s.limit({.each_group = RateLimit{.jobs = 1, .per = 60 * second}});
    SUBCASE("no job has been pushed") {}
    SUBCASE("the throttled jobs have been deleted") {
        s.push("a", "g");
        s.push("b", "g");
        CHECK(s.begin() == 1);
        s.limit({.each_group = RateLimit{.jobs = 1, .per = second}});
        CHECK(s.other({"HEXISTS", "routemaster:limits", "work:"}).number == 1);
        s.perform(DeleteJob{"work", 2});
    }
    s.limit({});
    CHECK(!s.exists("routemaster:paused"));
    CHECK(s.other({"HLEN", "routemaster:limits"}).number == 1);
}

TEST_CASE("redis: a job that waits for a token is skipped once another program took the job") {
    Limits s;
    s.limit({.each_group = RateLimit{.jobs = 1, .per = second}});
    for (const char* job : {"a", "b", "c"}) s.push(job, "g");
    CHECK(s.begin() == 1);
    s.other({"ZREM", "routemaster:ids:work", "b"});
    s.now += 3 * second;
    CHECK(s.begin() == 1);
    CHECK(!s.exists("routemaster:throttled:work"));
    CHECK(!s.exists("routemaster:throttled_since:work"));
    CHECK(!s.exists("routemaster:opens:work"));
}

TEST_CASE(
    "redis: a group without throttled jobs delays no group, and is removed with the rate limits") {
    Limits s;
    s.limit({.each_group = RateLimit{.jobs = 1, .per = second}});
    for (const char* job : {"a", "b"}) s.push(job, "g");
    CHECK(s.begin() == 1);
    s.other({"ZADD", "routemaster:opens:work", "0", "empty"});
    s.now += second;
    CHECK(s.begin() == 1);
    CHECK(!s.exists("routemaster:opens:work"));
    s.other({"ZADD", "routemaster:opens:work", "0", "empty"});
    SUBCASE("no job is throttled") {}
    SUBCASE("a job is throttled") {
        s.push("c", "g");
        CHECK(s.begin() == 0);
        s.other({"ZADD", "routemaster:opens:work", "0", "empty"});
    }
    s.limit({});
    s.begin();
    CHECK(!s.exists("routemaster:opens:work"));
    CHECK(!s.exists("routemaster:paused"));
}

TEST_CASE("redis: the rate limits and the paused state of a queue are read in a single command") {
    Limits s;
    s.push("job");
    s.other({"CONFIG", "RESETSTAT"});
    CHECK(s.begin() == 1);
    CHECK(s.server.info("cmdstat_smismember").starts_with("calls=1,"));
    CHECK(s.server.info("cmdstat_sismember").empty());
}

TEST_CASE("redis: a job whose wake-up was lost is run within about a second, and counted") {
    RedisScene s;
    test::SleepyStore sleepy{s.store};
    const test::RecordedLog log;
    WorkerPoolOptions options{.queues = {"work"}, .threads = 1};
    options.log = log.sink();
    WorkerPool pool{sleepy, options};
    std::atomic<int> ran{0};
    pool.handle("resize", [&](JobContext&) { ++ran; });
    pool.start();
    std::this_thread::sleep_for(std::chrono::milliseconds{300});
    JobQueue jobs{s.store, "work"};
    const auto began = std::chrono::steady_clock::now();
    CHECK(jobs.push(Job{"resize"}));
    REQUIRE(test::await([&] { return ran == 1; }));
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::milliseconds{4'000});
    const auto missed = [&] {
        for (const auto& counter : perform(s.store, ListCounters{}, s.now).value()) {
            if (counter.key == CounterKey{"wakeups.missed", {{"queue", "work"}}}) return true;
        }
        return false;
    };
    CHECK(test::await(missed));
    CHECK(log.count(LogLevel::warning,
                    "queue 'work' had 1 READY jobs and an idle worker, but the worker was not "
                    "woken; job 1: it is READY for attempt 1 of 25") == 1);
}
