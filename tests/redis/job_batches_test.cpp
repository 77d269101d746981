// Batches of jobs on a Redis server, in cases that the conformance suite does not cover.

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "redis_scene.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

struct Batches : RedisScene {
    JobBatchId create(const char* name) {
        const JobBatchCallback callback{.queue = "after", .job = "callback"};
        return perform(CreateJobBatch{std::make_shared<const JobBatchSettings>(JobBatchSettings{
                           .name = name, .on_success = callback, .on_end = callback})})
            .id;
    }
    PushJob push_into(JobBatchId batch, const char* job) {
        PushJob step{"work", job, now};
        step.options.batch = batch;
        return step;
    }
    Lease take() {
        return perform(AcquireJobs{.queue = "work", .worker = worker, .limit = 1}).leases.at(0);
    }
    /// The number of calls of a command on the server.
    [[nodiscard]] int calls(const std::string& command) const {
        const auto line = server.info("cmdstat_" + command);  // calls=N,…
        return line.empty() ? 0 : std::atoi(line.substr(line.find('=') + 1).c_str());
    }
    [[nodiscard]] bool exists(const std::string& key) { return other({"EXISTS", key}).number == 1; }
};

}  // namespace

TEST_CASE(
    "redis: a job without a batch costs no command for batches, and a job of a batch counts as "
    "done") {
    Batches s;
    s.perform(PushJob{"work", "a", s.now});
    CHECK(s.calls("hmget") + s.calls("hexists") + s.calls("hincrby") == 0);
    const auto lease = s.take();
    const auto read = s.calls("hmget") + s.calls("hexists");
    s.perform(AckJob{lease});
    CHECK(s.calls("hmget") + s.calls("hexists") == read);
    CHECK(s.calls("hincrby") == 1);
}

TEST_CASE("redis: a removed batch leaves no key") {
    Batches s;
    const auto batch = s.create("import");
    s.perform(s.push_into(batch, "a"));
    s.perform(CloseJobBatch{batch});
    const auto lease = s.take();
    s.perform(RemoveJobBatch{batch});
    s.perform(AckJob{lease});
    for (const char* key :
         {"routemaster:job_batch:1", "routemaster:job_batches", "routemaster:job_batches:ended",
          "routemaster:job_batches:ends", "routemaster:job_batch_names", "jobs:index:after"}) {
        CAPTURE(key);
        CHECK(!s.exists(key));
    }
    CHECK(s.exists("routemaster:job_batch_id"));
}

TEST_CASE("redis: a batch whose callback cannot be pushed ends when it is closed again") {
    Batches s;
    const auto batch = s.create("import");
    s.perform(s.push_into(batch, "a"));
    s.perform(CloseJobBatch{batch});
    s.other({"SET", "jobs:instant:after", "x"});
    CHECK(s.perform(AckJob{s.take()}) == Settlement::settled);
    CHECK(!s.perform(FindJobBatch{batch})->ended_at);
    CHECK(s.perform(FindJobBatch{batch})->progress.pending() == 0);
    s.perform(CloseJobBatch{batch});
    CHECK(!s.perform(FindJobBatch{batch})->ended_at);
    s.other({"DEL", "jobs:instant:after"});
    s.perform(CloseJobBatch{batch});
    CHECK(s.perform(FindJobBatch{batch})->ended_at);
    CHECK(s.perform(CountJobs{"after"}) == QueueStatus{.ready = 2});
}

TEST_CASE("redis: jobs of a batch are settled even if the record of the batch is unreadable") {
    Batches s;
    const auto batch = s.create("import");
    s.perform(s.push_into(batch, "a"));
    s.perform(s.push_into(batch, "b"));
    s.other({"SET", "routemaster:job_batch:1", "x"});
    CHECK(s.perform(AckJob{s.take()}) == Settlement::settled);
    CHECK(s.perform(FailJob{.lease = s.take(), .error = "x", .run_at = s.now, .bury = true}) ==
          Settlement::buried);
    CHECK(s.try_to(s.push_into(batch, "c")).error().code() == Errc::corrupted);
    CHECK(s.try_to(FindJobBatch{batch}).error().code() == Errc::corrupted);
}

TEST_CASE("redis: counts of past minutes are added to the throughput of their hours") {
    Batches s;
    s.now = from_milliseconds(1'795'222'800'000);  // The beginning of an hour.
    const auto run = [&] {
        s.perform(PushJob{"work", "a", s.now});
        s.perform(AckJob{s.take()});
    };
    run();
    run();
    s.now += Duration{3'600'000};
    run();
    CHECK(s.other({"HLEN", "routemaster:throughput:work"}).number == 2);
    CHECK(s.other({"TTL", "routemaster:throughput:work"}).number > 80'000);
    s.other({"SET", "routemaster:throughput:work", "x"});
    run();
    CHECK(s.perform(CountJobs{"work"}) == QueueStatus{});
    CHECK(s.try_to(MeasureThroughput{"work"}).error().code() == Errc::corrupted);
}
