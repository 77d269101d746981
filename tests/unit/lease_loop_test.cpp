#include "core/jobs/work/lease_loop.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/store/perform.hpp"
#include "support/lease_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

using Id = LeaseLoop::Id;
using Jobs = std::vector<std::string>;
constexpr Duration hour{3'600'000};

/// Leases large jobs, one per letter. Two such jobs fit into a chunk; three do not.
void lease_large(LeaseScene& scene, const std::string& letters) {
    for (const char letter : letters) {
        scene.push(std::string(job_slice_bytes_max / 5 * 2, letter));
    }
    scene.run();
    REQUIRE(scene.worker.loop.leased() == letters.size());
}

}  // namespace

TEST_CASE("a worker takes a pushed job, and learns of its settlement") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    REQUIRE(scene.jobs() == Jobs{"resize"});
    CHECK(scene.queue() == QueueStatus{.pending = 1});
    scene.ack(1);
    CHECK(scene.worker.loop.settling(1));
    scene.run();
    CHECK(scene.worker.notes.settlements.at(1) == Settlement::settled);
    CHECK(scene.worker.loop.leased() == 0);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("a worker acquires only as many jobs as it has free slots") {
    LeaseScene scene{2};
    scene.push_many(5);
    scene.run();
    CHECK(scene.jobs() == Jobs{"job-1", "job-2"});
    scene.run_for(Duration{3'000});
    CHECK(scene.jobs().size() == 2);
    CHECK(scene.queue() == QueueStatus{.ready = 3, .pending = 2});
    scene.ack(1);
    scene.run();
    CHECK(scene.jobs() == Jobs{"job-1", "job-2", "job-3"});
}

TEST_CASE("a worker without a free slot asks for no job") {
    LeaseScene scene{0};
    scene.push("resize");
    scene.run_for(Duration{5'000});
    CHECK(scene.disturbed.times_of<AcquireJobs>().empty());
}

TEST_CASE("the log reports jobs that ended because their workers died") {
    LeaseScene scene;
    perform(scene.store, PushJob{"images", "last", scene.now, {.attempts_max = 1}}, scene.now)
        .value();
    scene.push("more");
    perform(scene.store, AcquireJobs{"images", Uid{9, 9}, 2}, scene.now).value();
    scene.run_for(Duration{10'000});
    CHECK(scene.jobs() == Jobs{"more"});
    CHECK(scene.log.count(LogLevel::warning, "requeued jobs of dead workers: 2") == 1);
    CHECK(scene.log.count(LogLevel::warning, "job 1 of queue 'images' is BURIED") == 1);
}

TEST_CASE("a store that refuses acquisitions is asked again after growing waits") {
    LeaseScene scene{10, {.poll_interval = hour}};
    scene.disturbed.refuse<AcquireJobs>(6);
    scene.push("resize");
    scene.run_for(Duration{3'499});
    CHECK(scene.jobs().empty());
    scene.run_for(Duration{1});
    CHECK(scene.jobs() == Jobs{"resize"});
    CHECK(scene.waits<AcquireJobs>() ==
          std::vector<std::int64_t>{100, 200, 400, 800, 1'000, 1'000});
    CHECK(scene.log.count(LogLevel::warning, "cannot acquire jobs: ") == 1);
}

TEST_CASE(
    "a worker is unhealthy when its store refuses acquisitions for 5 s, until it returns jobs") {
    LeaseScene scene;
    scene.disturbed.refuse<AcquireJobs>(9);
    scene.run_for(Duration{4'999});
    CHECK(!scene.worker.loop.trouble());
    scene.run_for(Duration{1});
    CHECK(scene.worker.loop.trouble().value_or("").starts_with("cannot acquire jobs: "));
    scene.run_for(Duration{3'000});
    CHECK(!scene.worker.loop.trouble());
}

TEST_CASE("leases whose reply was lost arrive with the next acquisition") {
    LeaseScene scene;
    scene.disturbed.lose_replies<AcquireJobs>(repeats_max + 1);
    scene.push_many(3);
    scene.run_for(Duration{200});
    CHECK(scene.jobs() == Jobs{"job-1", "job-2", "job-3"});
}

TEST_CASE("setting the clock back does not make a worker repeat a wait") {
    LeaseScene scene{1, {.heartbeat_interval = hour, .worker_silence = 2 * hour}};
    scene.push_many(2);
    scene.run();
    scene.disturbed.refuse<AckJob>(1);
    scene.ack(1);
    scene.run();
    scene.now -= Duration{600'000};
    scene.worker.wake();
    scene.run();
    CHECK(scene.worker.notes.settlements.contains(1));
    CHECK(scene.jobs() == Jobs{"job-1", "job-2"});
}

TEST_CASE("a worker repeats a refused settlement until it is done") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    scene.disturbed.refuse<AckJob>(3);
    scene.ack(1);
    scene.run_for(Duration{699});
    CHECK(!scene.worker.notes.settlements.contains(1));
    scene.run_for(Duration{1});
    CHECK(scene.worker.notes.settlements.at(1) == Settlement::settled);
    CHECK(scene.waits<AckJob>() == std::vector<std::int64_t>{100, 200, 400});
    CHECK(scene.log.count(LogLevel::warning, "the store failed") == 1);
}

TEST_CASE("settlements that are refused together make one log line, however many") {
    LeaseScene scene{100};
    scene.push_many(100);
    scene.run();
    REQUIRE(scene.worker.loop.leased() == 100);
    scene.disturbed.refuse<AckJob>(300);
    for (LeaseLoop::Id id = 1; id <= 100; ++id) scene.ack(id);
    scene.run_for(Duration{1'000});
    CHECK(scene.worker.notes.settlements.size() == 100);
    CHECK(scene.log.count(LogLevel::warning, "the store failed") == 1);
    CHECK(scene.log.count(LogLevel::warning, "(for 100 jobs)") == 1);
}

TEST_CASE("a settlement whose reply was lost is done, as the refusal of its repetition proves") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    scene.disturbed.lose_replies<AckJob>(1);
    scene.ack(1);
    scene.run();
    CHECK(scene.worker.loop.refusals(1) == 1);
    scene.run_for(Duration{100});
    CHECK(scene.worker.notes.settlements.at(1) == Settlement::lease_lost);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("settlements of many jobs are sent together, before the next acquisition") {
    LeaseScene scene{2};
    scene.push_many(4);
    scene.run();
    scene.ack(1);
    scene.ack(2);
    scene.worker.poll();
    CHECK(scene.disturbed.times_of<AckJob>().size() == 2);
    CHECK(scene.queue().pending == 0);
    scene.run();
    CHECK(scene.jobs().size() == 4);
}

TEST_CASE(
    "settlements of large jobs are sent in chunks, each after the replies to the chunk before") {
    LeaseScene scene;
    lease_large(scene, "abcde");
    scene.disturbed.delay<AckJob>();
    for (Id id = 1; id <= 5; ++id) scene.ack(id);
    CHECK(!scene.worker.loop.takes_settlements());
    scene.run();
    CHECK(scene.disturbed.times_of<AckJob>().size() == 2);
    scene.disturbed.release();
    scene.run();
    CHECK(scene.disturbed.times_of<AckJob>().size() == 5);
    CHECK(scene.worker.notes.settlements.size() == 5);
    CHECK(scene.worker.loop.takes_settlements());
    CHECK(scene.worker.loop.leased_bytes() == 0);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("chunks of settlements that the store refused are repeated until all are done") {
    LeaseScene scene;
    lease_large(scene, "abcde");
    scene.disturbed.refuse<AckJob>(3);
    for (Id id = 1; id <= 5; ++id) scene.ack(id);
    scene.run_for(Duration{1'000});
    CHECK(scene.worker.notes.settlements.size() == 5);
    CHECK(scene.worker.loop.takes_settlements());
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("large jobs are released in chunks, each after the reply to the chunk before") {
    LeaseScene scene;
    lease_large(scene, "abcde");
    scene.disturbed.delay<ReleaseJob>();
    for (Id id = 1; id <= 5; ++id) scene.worker.loop.release(id, scene.now + hour);
    scene.worker.wake();
    scene.run_for(Duration{10'000});
    CHECK(scene.disturbed.times_of<ReleaseJob>().size() == 2);
    scene.disturbed.release();
    scene.run();
    CHECK(scene.disturbed.times_of<ReleaseJob>().size() == 5);
    CHECK(scene.queue() == QueueStatus{.scheduled = 5});
}

TEST_CASE("at most a thousand released jobs are sent together") {
    LeaseScene scene{1'100};
    scene.push_many(1'100);
    scene.run();
    REQUIRE(scene.worker.loop.leased() == 1'100);
    scene.disturbed.delay<ReleaseJob>();
    for (Id id = 1; id <= 1'100; ++id) scene.worker.loop.release(id, scene.now + hour);
    scene.worker.wake();
    scene.run();
    CHECK(scene.disturbed.times_of<ReleaseJob>().size() == 1'000);
    scene.disturbed.release();
    scene.run();
    CHECK(scene.queue() == QueueStatus{.scheduled = 1'100});
}

TEST_CASE("a release of a job that the store refuses is repeated after growing waits") {
    LeaseScene scene{1};
    scene.push("resize");
    scene.run();
    scene.disturbed.refuse<ReleaseJob>(3);
    scene.worker.loop.release(1, scene.now + hour);
    scene.worker.wake();
    scene.run_for(Duration{5'000});
    CHECK(scene.waits<ReleaseJob>() == std::vector<std::int64_t>{100, 200, 400});
    CHECK(scene.queue() == QueueStatus{.scheduled = 1});
    CHECK(scene.log.count(LogLevel::warning, "the store failed") == 1);
}

TEST_CASE("a beginning of a job that the store refused is repeated after growing waits") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    scene.disturbed.refuse<CountJobs>(2);
    const auto begin = [&] {
        scene.worker.loop.begin(1, CountJobs{"images"});
        scene.worker.wake();
        scene.run();
    };
    begin();
    scene.run_for(Duration{99});
    CHECK(scene.worker.notes.to_begin_again.empty());
    scene.run_for(Duration{1});
    REQUIRE(scene.worker.notes.to_begin_again.size() == 1);
    begin();
    scene.run_for(Duration{200});
    REQUIRE(scene.worker.notes.to_begin_again.size() == 2);
    begin();
    REQUIRE(scene.worker.notes.beginnings.size() == 1);
    CHECK(std::get<QueueStatus>(*scene.worker.notes.beginnings[0].second).pending == 1);
    CHECK(scene.worker.loop.refusals(1) == 2);
}

TEST_CASE("a job that is invalid for the store is reported, and can be nacked") {
    LeaseScene scene;
    scene.push("no delivery");
    scene.run();
    scene.worker.loop.begin(
        1, BeginDelivery{.lease = scene.worker.loop.lease(1), .backoff_max = Duration{1'000}});
    scene.worker.wake();
    scene.run();
    REQUIRE(scene.worker.notes.unfit_ones == std::vector<Id>{1});
    CHECK(scene.worker.loop.leased() == 1);
    scene.worker.loop.release(1, scene.now + Duration{500});
    scene.worker.wake();
    scene.run();
    CHECK(scene.queue() == QueueStatus{.scheduled = 1});
    scene.run_for(Duration{500});
    CHECK(scene.jobs().size() == 2);
}

TEST_CASE("a worker without leases retires at once, and is no longer listed") {
    LeaseScene scene;
    scene.run();
    CHECK(!scene.worker.loop.retired());
    scene.worker.close(scene.now + hour);
    CHECK(scene.worker.loop.retired());
    CHECK(scene.disturbed.times_of<RetireWorker>().size() == 1);
    const auto heartbeats = scene.disturbed.times_of<Heartbeat>().size();
    scene.push("resize");
    scene.run_for(Duration{60'000});
    CHECK(scene.disturbed.times_of<Heartbeat>().size() == heartbeats);
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    CHECK(perform(scene.store, ScrubWorkers{Duration{0}}, scene.now).value().jobs == 0);
}

TEST_CASE("a closing worker acquires no new job, and lets its running jobs end") {
    LeaseScene scene{2};
    scene.push_many(4);
    scene.run();
    scene.worker.close(scene.now + hour);
    scene.ack(1);
    scene.run_for(Duration{5'000});
    CHECK(scene.jobs().size() == 2);
    CHECK(!scene.worker.loop.retired());
    CHECK(scene.disturbed.times_of<Heartbeat>().size() == 6);
    scene.ack(2);
    scene.run();
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.ready = 2});
}

TEST_CASE("any number of jobs nacked at the end of a worker is released in a few steps") {
    LeaseScene scene{2'000};
    scene.push_many(1'500);
    for (int i = 0; i < 10; ++i) scene.worker.poll();
    REQUIRE(scene.worker.loop.leased() == 1'500);
    scene.worker.loop.close(scene.now);
    for (const auto& [id, job] : scene.worker.notes.under_way) scene.worker.loop.release(id);
    scene.worker.wake();
    scene.run();
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.ready = 1'500});
    CHECK(scene.disturbed.times_of<ReleaseJob>().empty());
    CHECK(scene.disturbed.times_of<RetireWorker>().size() == 2);
}

TEST_CASE("a retiring worker sends a second step only when one step is not enough") {
    LeaseScene scene{2'000};
    scene.push_many(1'000);
    for (int i = 0; i < 10; ++i) scene.worker.poll();
    REQUIRE(scene.worker.loop.leased() == released_max);
    scene.worker.loop.close(scene.now);
    for (const auto& [id, job] : scene.worker.notes.under_way) scene.worker.loop.release(id);
    scene.worker.wake();
    scene.run();
    CHECK(scene.worker.loop.retired());
    CHECK(scene.disturbed.times_of<RetireWorker>().size() == 1);
}

TEST_CASE("all large jobs of a retiring worker are released, in several steps") {
    LeaseScene scene;
    lease_large(scene, "abc");
    scene.worker.loop.close(scene.now);
    for (const auto& [id, job] : scene.worker.notes.under_way) scene.worker.loop.release(id);
    scene.worker.wake();
    scene.run();
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.ready = 3});
    CHECK(scene.disturbed.times_of<RetireWorker>().size() == 2);
}

TEST_CASE("jobs that arrive after the deadline of closing are released without a start") {
    LeaseScene scene{3};
    scene.push("job-1");
    scene.run();
    scene.disturbed.delay<AcquireJobs>();
    scene.push("job-2");
    scene.run();
    scene.worker.close(scene.now);
    scene.disturbed.release();
    scene.run();
    CHECK(scene.jobs() == Jobs{"job-1"});
    CHECK(scene.disturbed.times_of<ReleaseJob>().size() == 1);
    CHECK(scene.queue() == QueueStatus{.ready = 1, .pending = 1});
    scene.worker.loop.release(1);
    scene.worker.wake();
    scene.run();
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.ready = 2});
}

TEST_CASE("settlements are awaited for 5 s beyond the deadline of closing, and no longer") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    scene.disturbed.refuse<AckJob>(1'000);
    scene.ack(1);
    scene.worker.close(scene.now + Duration{1'000});
    scene.run_for(Duration{5'999});
    CHECK(!scene.worker.loop.retired());
    scene.run_for(Duration{1});
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    CHECK(scene.log.count(LogLevel::warning,
                          "gave up settling jobs that have ended: 1 will run again") == 1);
}

TEST_CASE("settlements are awaited for longer while the store does some of them") {
    LeaseScene scene;
    lease_large(scene, "abcde");
    scene.disturbed.delay<AckJob>();
    for (Id id = 1; id <= 5; ++id) scene.ack(id);
    scene.worker.close(scene.now);
    for (int slices = 0; slices < 3; ++slices) {
        scene.run_for(Duration{3'000});
        CHECK(!scene.worker.loop.retired());
        scene.disturbed.release();
        scene.disturbed.delay<AckJob>();
        scene.run();
    }
    CHECK(scene.worker.loop.retired());
    CHECK(scene.worker.notes.settlements.size() == 5);
}

TEST_CASE("a retiring worker releases large jobs in chunks while it waits for a settlement") {
    LeaseScene scene;
    lease_large(scene, "abcde");
    scene.disturbed.delay<AckJob>();
    scene.ack(1);
    scene.run();
    for (Id id = 2; id <= 5; ++id) scene.worker.loop.release(id);
    scene.disturbed.delay<ReleaseJob>();
    scene.worker.close(scene.now);
    CHECK(scene.disturbed.times_of<ReleaseJob>().size() == 2);
    scene.disturbed.release();
    scene.run();
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.ready = 4});
}

TEST_CASE("a worker ends only after jobs to be released with a later due time have been released") {
    LeaseScene scene;
    lease_large(scene, "abcde");
    scene.disturbed.delay<ReleaseJob>();
    for (Id id = 1; id <= 5; ++id) scene.worker.loop.release(id, scene.now + hour);
    scene.worker.close(scene.now);
    for (int slices = 0; slices < 3; ++slices) {
        scene.run_for(Duration{3'000});
        CHECK(!scene.worker.loop.retired());
        scene.disturbed.release();
        scene.disturbed.delay<ReleaseJob>();
        scene.run();
    }
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.scheduled = 5});
}

TEST_CASE("jobs whose release was refused are released by the retirement of their worker") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    scene.disturbed.refuse<ReleaseJob>(1'000);
    scene.worker.loop.release(1, scene.now + hour);
    scene.worker.close(scene.now);
    scene.run_for(Duration{4'999});
    CHECK(!scene.worker.loop.retired());
    scene.run_for(Duration{1});
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.ready = 1});
}

TEST_CASE("a worker retries a retirement that the store refused, and no attempt counts") {
    LeaseScene scene;
    perform(scene.store, PushJob{"images", "once", scene.now, {.attempts_max = 1}}, scene.now)
        .value();
    scene.run();
    REQUIRE(scene.worker.loop.leased() == 1);
    scene.disturbed.refuse<RetireWorker>(3);
    scene.worker.loop.release(1);
    scene.disturbed.refuse<ReleaseJob>(1);
    scene.worker.close(scene.now);
    CHECK(!scene.worker.loop.retired());
    scene.run_for(Duration{1'000});
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    CHECK(scene.log.count(LogLevel::warning, "could not release the leased jobs") == 0);
}

TEST_CASE("a worker ends even when the store cannot retire it") {
    LeaseScene scene;
    SUBCASE("there are leases to release, and the wait is bounded") {
        scene.push("resize");
        scene.run();
        scene.disturbed.refuse<RetireWorker>(1'000);
        scene.worker.loop.release(1);
        scene.disturbed.refuse<ReleaseJob>(1);
        scene.worker.close(scene.now);
        scene.run_for(Duration{4'999});
        CHECK(!scene.worker.loop.retired());
        scene.run_for(Duration{1'000});
    }
    SUBCASE("there are no leases to release, and the worker ends at once") {
        scene.run();
        scene.disturbed.refuse<RetireWorker>(1);
        scene.worker.close(scene.now);
    }
    CHECK(scene.worker.loop.retired());
    CHECK(scene.log.count(LogLevel::warning, "could not release the leased jobs") == 1);
}

TEST_CASE("a reply of the store after the end of the worker is ignored") {
    LeaseScene scene;
    scene.disturbed.delay<AcquireJobs>();
    {
        LoopWorker brief{scene.disturbed, scene.now, scene.complete({}), 1};
        scene.push("resize");
        brief.run();
    }
    scene.disturbed.release();
    CHECK(scene.queue() == QueueStatus{.pending = 1});
}
