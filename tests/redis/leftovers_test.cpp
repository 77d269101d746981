// What a step must remove besides its own entity: entries that nothing reads again, and entries for
// entities that another program, or a loss of data, has removed.

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "redis_scene.hpp"

using namespace routemaster;
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

TEST_CASE("redis: dropping the oldest batches removes list entries of missing batches") {
    RedisScene s;
    s.subscribe();
    s.publish();
    CHECK(s.other({"DEL", "batches:BATCHBATCHBATCHBAAAA"}).number == 1);
    s.other({"ZADD", "routemaster:dead", "1", "BATCHBATCHBATCH2AAAA"});
    CHECK(s.perform(DropOldestBatches{.limit = 10}).batches == 0);
    CHECK(s.other({"EXISTS", "batches:index"}).number == 0);
    CHECK(s.other({"EXISTS", "routemaster:dead"}).number == 0);
}

TEST_CASE("redis: a SCHEDULED delivery to a callback is removed from its list of callbacks") {
    RedisScene s;
    s.perform(Subscribe{
        .token = "billing",
        .topics = {"cats"},
        .options = {
            .callback = "local:ears", .uuid = "demo", .timeout = one_second, .max_events = 2}});
    s.publish();
    CHECK(s.other({"EXISTS", "jobs:scheduled:main:callbacks"}).number == 1);
    SUBCASE("its batch is dropped") {
        CHECK(s.perform(DropOldestBatches{.limit = 10}).batches == 1);
    }
    SUBCASE("the batch becomes READY on request") {
        s.perform(DeliverBatch{"billing", *Uid::parse("BATCHBATCHBATCHBAAAA")});
        CHECK(s.other({"LLEN", "routemaster:callback:ears"}).number == 1);
    }
    CHECK(s.other({"EXISTS", "jobs:scheduled:main:callbacks"}).number == 0);
}

TEST_CASE("redis: a new batch of jobs contains nothing of an old batch whose id the server lost") {
    RedisScene s;
    s.other({"HSET", "routemaster:job_batch:1", "closed_at", "1", "succeeded", "7"});
    const auto settings = std::make_shared<const JobBatchSettings>(JobBatchSettings{"new"});
    CHECK(s.perform(CreateJobBatch{settings}).id == 1);
    CHECK(s.other({"HEXISTS", "routemaster:job_batch:1", "closed_at"}).number == 0);
    CHECK(s.other({"HEXISTS", "routemaster:job_batch:1", "succeeded"}).number == 0);
}

TEST_CASE("redis: the count of a job's deleted list entries is removed with the last entry") {
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

TEST_CASE("redis: the exclusion by a completed job is removed when a new job has the key") {
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

TEST_CASE("redis: in a mixed deployment, turns of batches of dead workers are removed") {
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

TEST_CASE("redis: a redelivered batch is in no list of DEAD batches") {
    RedisScene s;
    s.perform(Subscribe{.token = "billing",
                        .topics = {"cats"},
                        .options = {.callback = "https://billing.example/events",
                                    .uuid = "demo",
                                    .max_events = 1,
                                    .attempts_max = 1}});
    s.publish();
    const auto lease = s.acquire();
    s.begin(lease);
    CHECK(s.settle(lease, false) == Settlement::dead);
    CHECK(s.other({"EXISTS", "routemaster:dead", "routemaster:dead:billing"}).number == 2);
    CHECK(s.perform(RedeliverDeadBatches{"billing"}).value == 1);
    CHECK(s.other({"EXISTS", "routemaster:dead", "routemaster:dead:billing"}).number == 0);
}

TEST_CASE(
    "redis: in a mixed deployment, the ordering group of a subscriber is removed with the "
    "subscriber") {
    RedisScene s;
    s.subscribe();
    s.publish();
    CHECK(s.other({"EXISTS", "routemaster:group:billing"}).number == 1);
    RedisStore mixed{{.addresses = {s.server.address()}, .mixed_fleet = true}};
    perform(mixed, RemoveSubscriber{"billing"}, s.now).value();
    CHECK(s.other({"EXISTS", "routemaster:group:billing"}).number == 0);
}

TEST_CASE("redis: the cancellation note for a worker is removed when the cancelled job ends") {
    WorkScene s;
    const auto id = s.push("a");
    const auto leases =
        s.perform(AcquireJobs{.queue = "work", .worker = s.worker, .limit = 1}).leases;
    s.perform(CancelJob{"work", id});
    const auto key = "routemaster:leases:" + std::string{s.worker.text()};
    CHECK(s.other({"HEXISTS", key, "cancelled"}).number == 1);
    s.perform(AckJob{leases.at(0)});
    s.perform(Heartbeat{s.worker});
    CHECK(s.other({"HEXISTS", key, "cancelled"}).number == 0);
}

TEST_CASE("redis: a heartbeat removes dead workers from the worker lists of its queues") {
    RedisScene s;
    const auto at = std::to_string(to_milliseconds(s.now));
    const auto later = std::to_string(to_milliseconds(s.now) + 1);
    s.other({"ZADD", "routemaster:serving:work", at, "dead", later, "alive"});
    WorkerProfile profile{.queues = {"work"}};
    s.perform(Heartbeat{.worker = s.worker,
                        .profile = std::make_shared<const WorkerProfile>(std::move(profile))});
    // The worker, the worker that is alive, and the time of the last heartbeat.
    CHECK(s.other({"ZCARD", "routemaster:serving:work"}).number == 3);
    CHECK(s.other({"ZSCORE", "routemaster:serving:work", "dead"}).text.empty());
}

TEST_CASE("redis: a heartbeat replaces a worker profile whose key has the wrong type") {
    RedisScene s;
    const auto key = "routemaster:worker:" + std::string{s.worker.text()};
    s.other({"SET", key, "spoilt"});
    s.perform(Heartbeat{.worker = s.worker,
                        .profile = std::make_shared<const WorkerProfile>(WorkerProfile{})});
    CHECK(s.other({"HEXISTS", key, "profile"}).number == 1);
}

TEST_CASE("redis: a heartbeat removes the record that its worker was granted a grace period") {
    RedisScene s;
    const std::string id{s.worker.text()};
    s.perform(Heartbeat{s.worker});
    s.perform(ScrubWorkers{one_second});
    s.now += 2 * one_second;
    s.perform(ScrubWorkers{one_second});
    CHECK(s.other({"HEXISTS", "routemaster:scrubbed", id}).number == 1);
    s.now += Duration{1};
    s.perform(Heartbeat{s.worker});
    s.perform(ScrubWorkers{one_second});
    CHECK(s.other({"HEXISTS", "routemaster:scrubbed", id}).number == 0);
}
