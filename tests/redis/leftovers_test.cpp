// What a step must remove besides its own entity: entries that nothing reads again, and entries for
// entities that another program, or a loss of data, has removed.

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "dtimer_scene.hpp"
#include "redis_scene.hpp"

using namespace routemaster;
using test::DtimerScene;
using test::RedisScene;

namespace {

constexpr Duration one_second{1'000};

/// A scene with jobs of the queue `work`.
struct WorkScene : RedisScene {
    JobId push(const std::string& job) { return perform(PushJob{"work", job, now}).id; }
    /// Acquires up to `limit` jobs, and does them.
    std::string do_jobs(std::uint32_t limit) {
        std::string all;
        const AcquireJobs step{.queue = "work", .worker = worker, .limit = limit};
        for (const auto& lease : perform(step).leases) {
            all += lease.job;
            perform(AckJob{lease});
        }
        return all;
    }
};

}  // namespace

TEST_CASE("redis: dropping the oldest batches removes the entries of batches that are gone") {
    RedisScene s;
    s.subscribe();
    s.publish();
    CHECK(s.other({"DEL", "batches:BATCHBATCHBATCHBAAAA"}).number == 1);
    s.other({"ZADD", "routemaster:dead", "1", "BATCHBATCHBATCH2AAAA"});
    CHECK(s.perform(DropOldestBatches{.limit = 10}).batches == 0);
    CHECK(s.other({"EXISTS", "batches:index"}).number == 0);
    CHECK(s.other({"EXISTS", "routemaster:dead"}).number == 0);
}

TEST_CASE("redis: a SCHEDULED delivery to a callback leaves its place") {
    RedisScene s;
    s.perform(Subscribe{
        .token = "billing",
        .topics = {"cats"},
        .options = {
            .callback = "local:ears", .uuid = "demo", .timeout = one_second, .max_events = 2}});
    s.publish();
    CHECK(s.other({"EXISTS", "jobs:scheduled:main:callbacks"}).number == 1);
    SUBCASE("when its batch is dropped") {
        CHECK(s.perform(DropOldestBatches{.limit = 10}).batches == 1);
    }
    SUBCASE("when it becomes READY on request") {
        s.perform(DeliverBatch{"billing", *Uid::parse("BATCHBATCHBATCHBAAAA")});
        CHECK(s.other({"LLEN", "routemaster:callback:ears"}).number == 1);
    }
    CHECK(s.other({"EXISTS", "jobs:scheduled:main:callbacks"}).number == 0);
}

TEST_CASE("redis: a batch of jobs has nothing of a batch whose id the server has lost") {
    RedisScene s;
    s.other({"HSET", "routemaster:job_batch:1", "closed_at", "1", "succeeded", "7"});
    const auto settings = std::make_shared<const JobBatchSettings>(JobBatchSettings{"new"});
    CHECK(s.perform(CreateJobBatch{settings}).id == 1);
    CHECK(s.other({"HEXISTS", "routemaster:job_batch:1", "closed_at"}).number == 0);
    CHECK(s.other({"HEXISTS", "routemaster:job_batch:1", "succeeded"}).number == 0);
}

TEST_CASE("redis: the count of the deleted places of a job ends with the last place") {
    WorkScene s;
    for (const char* job : {"a", "b", "d"}) s.push(job);
    const auto c = s.push("c");
    s.push("e");
    s.perform(DeleteJob{"work", c - 2});
    s.perform(DeleteJob{"work", c});
    const std::string deleted = "routemaster:deleted:work";
    CHECK(s.other({"HLEN", deleted}).number == 3);
    CHECK(s.do_jobs(1) == "a");
    // The deleted job at the head of the list is popped, too.
    CHECK(s.other({"HEXISTS", deleted, "b"}).number == 0);
    CHECK(s.other({"HGET", deleted, "c"}).text == "1");
    CHECK(s.do_jobs(1) == "d");
    CHECK(s.other({"EXISTS", deleted}).number == 0);
    CHECK(s.do_jobs(2) == "e");
}

TEST_CASE("redis: the throughput of an hour is removed after a day") {
    WorkScene s;
    const auto hour = to_milliseconds(s.now) / 3'600'000;
    const auto field_before = [&](std::int64_t hours) {
        return "D" + std::to_string(hour - hours);
    };
    const std::string key = "routemaster:throughput:work";
    s.other({"HSET", key, field_before(24), "1", field_before(23), "1"});
    s.push("a");
    CHECK(s.do_jobs(1) == "a");
    CHECK(s.other({"HEXISTS", key, field_before(24)}).number == 0);
    CHECK(s.other({"HEXISTS", key, field_before(23)}).number == 1);
}

TEST_CASE("redis: the exclusion by a completed job ends when its key has a job again") {
    WorkScene s;
    PushJob step{"work", "a", s.now};
    step.options.key = {.text = "key", .scope = KeyScope::for_time, .until = s.now + one_second};
    s.perform(step);
    s.do_jobs(1);
    CHECK(s.other({"ZCARD", "routemaster:kept_keys"}).number == 1);
    s.now += one_second;
    step.run_at = s.now;
    step.options.key = {.text = "key"};
    CHECK(s.perform(step) == PushOutcome::pushed);
    CHECK(s.other({"EXISTS", "routemaster:kept_keys"}).number == 0);
}

TEST_CASE("redis: in a mixed fleet, the turns of dead workers are removed") {
    RedisScene s{true};
    s.perform(Subscribe{.token = "billing",
                        .topics = {"cats"},
                        .options = {.callback = "https://billing.example/events",
                                    .uuid = "demo",
                                    .timeout = one_second,
                                    .max_events = 1}});
    s.publish("BATCHBATCHBATCH1AAAA");
    s.publish("BATCHBATCHBATCH2AAAA");
    CHECK(s.acquire_all().size() == 1);
    CHECK(s.other({"HLEN", "routemaster:turns:billing"}).number == 1);
    s.now += 30 * one_second;
    s.worker = *Uid::parse("WORKERWORKERWORKER11");
    CHECK(s.acquire_all().size() == 1);
    CHECK(s.other({"HVALS", "routemaster:turns:billing"}).list.size() == 1);
}

TEST_CASE("redis: a DEAD timer that is removed leaves neither a reason nor a time limit") {
    DtimerScene s;
    const auto give_up = [&](const std::string& id) {
        s.post(id, Duration{0}, 1, test::hello, one_second);
        CHECK(s.take().timers.size() == 1);
        CHECK(s.perform(GiveUpTimer{.space = "dt", .id = id, .reason = "no use"}).value == 1);
    };
    give_up("first");
    const std::string events = "dt:routemaster:dead_events", reason{"\0first", 6};
    CHECK(s.other({"HEXISTS", events, reason}).number == 1);
    CHECK(s.other({"HEXISTS", "dt:routemaster:confirm", "first"}).number == 1);
    SUBCASE("by request") { CHECK(s.perform(DropDeadTimers{"dt"}).value == 1); }
    SUBCASE("because it is the oldest of too many") {
        s.other({"EVAL",
                 "for i = 1, 999 do redis.call('ZADD', KEYS[1], ARGV[1], 'other-' .. i) end", "1",
                 "dt:routemaster:dead", s.text(one_second)});
        s.now += one_second;
        give_up("last");
        CHECK(s.other({"HEXISTS", "dt:routemaster:confirm", "last"}).number == 1);
    }
    CHECK(s.other({"HEXISTS", events, "first"}).number == 0);
    CHECK(s.other({"HEXISTS", events, reason}).number == 0);
    CHECK(s.other({"HEXISTS", "dt:routemaster:confirm", "first"}).number == 0);
}

TEST_CASE("redis: a listener of timers that stopped without a word is forgotten after a minute") {
    DtimerScene s;
    const auto watch = s.store.watch(timer_watch("dt", "ours"), [] {});
    s.take();
    const std::string listeners = "dt:routemaster:listeners";
    s.other({"HSET", listeners, "dt:ch:gone", s.text(-60 * one_second)});
    s.other({"HSET", listeners, "dt:ch:recent", s.text(Duration{1} - 60 * one_second)});
    s.post("soon", Duration{100});
    CHECK(s.other({"HEXISTS", listeners, "dt:ch:gone"}).number == 0);
    CHECK(s.other({"HEXISTS", listeners, "dt:ch:ours"}).number == 1);
}

TEST_CASE("redis: a listener of Node keeps its turn after its last notification became void") {
    DtimerScene s;
    test::RedisClient node{s.server.address()};
    node.command({"SUBSCRIBE", "dt:ch:node"});
    s.other({"LPUSH", "dt:ch", "dt:ch:node"});
    s.post("a", Duration{300});
    CHECK(s.other({"HLEN", "dt:routemaster:turn"}).number == 4);
    s.perform(CancelTimer{"dt", "a"});
    CHECK(s.other({"EXISTS", "dt:routemaster:turn"}).number == 0);
    // Node announces a timer long after the void notification.
    s.now += 2 * one_second;
    s.leave("b", R"({"id":"b"})", Duration{50});
    s.other({"HSET", "dt:gl", "expiresAt", s.text(Duration{50})});
    s.take();
    CHECK(s.other({"LINDEX", "dt:ch", "-1"}).text == "dt:ch:node");
}
