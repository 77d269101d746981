/// @file
/// Pools that lose the leases of their jobs, or cannot reach their store.

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "routemaster/testing/faulty_store.hpp"
#include "support/pool_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A job that stays under way until its responder reports.
struct Kept {
    explicit Kept(HandPool& pool, const std::string& name = "a") {
        pool.pool.handle_async(name,
                               [this](JobResponder responder) { responders.push_back(responder); });
    }
    [[nodiscard]] JobResponder& last() { return responders.back(); }

    std::vector<JobResponder> responders;
};

}  // namespace

TEST_CASE("after a stall, a pool settles no job of another worker, and stops the job's token") {
    JobScene scene;
    HandPool frozen{scene};
    Kept kept{frozen};
    scene.push("a");
    frozen.run();
    REQUIRE(kept.responders.size() == 1);

    HandPool other{scene};
    Kept others{other};
    other.run_for(Duration{60'000});
    REQUIRE(others.responders.size() == 1);
    CHECK(others.last().context().attempt() == 2);
    CHECK(others.last().context().fence() > kept.last().context().fence());

    CHECK(!kept.last().context().stop_requested());
    frozen.run();
    CHECK(kept.last().context().stop_requested());
    kept.last().done();
    frozen.run();
    CHECK(scene.queue() == QueueStatus{.pending = 1});
    CHECK(frozen.pool.status().lease_lost == 1);
    CHECK(frozen.pool.status().done == 0);
    CHECK(scene.log.count(LogLevel::warning, "lost the lease of job 'a'") == 1);

    others.last().done();
    other.run();
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE(
    "a settlement of a job that ended during a stall of its pool is refused, and counted once") {
    JobScene scene;
    HandPool frozen{scene};
    Kept kept{frozen};
    scene.push("a");
    frozen.run();
    HandPool other{scene};
    Kept others{other};
    other.run_for(Duration{60'000});
    kept.last().done();
    frozen.run();
    CHECK(frozen.pool.status().lease_lost == 1);
    CHECK(scene.log.count(LogLevel::warning, "lost the lease of job 'a'") == 1);
    CHECK(scene.queue() == QueueStatus{.pending = 1});
}

TEST_CASE("after a stall, a pool keeps jobs that no other worker has") {
    JobScene scene;
    HandPool frozen{scene};
    Kept kept{frozen};
    scene.push("a");
    frozen.run();
    scene.clock.advance(Duration{60'000});
    frozen.run_for(Duration{5'000});
    CHECK(!kept.last().context().stop_requested());
    kept.last().done();
    frozen.run();
    CHECK(scene.queue() == QueueStatus{});
    CHECK(kept.responders.size() == 1);
    CHECK(frozen.pool.status() == WorkerPoolStatus{.done = 1});
}

TEST_CASE("jobs of a dead pool run elsewhere within 5 s, and the attempt counts") {
    JobScene scene;
    HandPool other{scene};
    Kept others{other};
    {
        HandPool dead{scene, {.concurrency = 10}};
        Kept kept{dead};
        scene.push("a");
        dead.run();
        REQUIRE(kept.responders.size() == 1);
        other.run();
    }
    other.run_for(Duration{3'000});
    CHECK(others.responders.empty());
    other.run_for(Duration{2'000});
    REQUIRE(others.responders.size() == 1);
    CHECK(others.last().context().attempt() == 2);
}

TEST_CASE("a job whose worker dies in each attempt is BURIED after its limit of attempts") {
    JobScene scene;
    const auto id = scene.push("a", {.attempts_max = 3});
    int begun = 0;
    for (int i = 0; i < 6; ++i) {
        HandPool dying{scene};
        Kept kept{dying};
        dying.run();
        begun += static_cast<int>(kept.responders.size());
        scene.clock.advance(Duration{3'500});
    }
    HandPool last{scene};
    Kept kept{last};
    last.run_for(Duration{5'000});
    CHECK(begun == 3);
    CHECK(kept.responders.empty());
    CHECK(scene.job(id).state == JobStatus::State::buried);
}

TEST_CASE("a pool repeats a refused settlement until it is done") {
    JobScene scene;
    HandPool pool{scene, {.concurrency = 4}};
    pool.pool.handle("done", [](JobContext&) {});
    pool.pool.handle("failed", [](JobContext&) { throw std::runtime_error{"no"}; });
    pool.pool.handle("snoozed", [](JobContext&) { throw Snooze{Duration{60'000}}; });
    scene.store.refuse<AckJob>(2);
    scene.store.refuse<FailJob>(2);
    scene.store.refuse<ReleaseJob>(2);
    scene.push("done");
    const auto failed = scene.push("failed");
    scene.push("snoozed");
    pool.run();
    CHECK(scene.queue() == QueueStatus{.pending = 3});
    pool.run_for(Duration{300});
    CHECK(scene.queue() == QueueStatus{.scheduled = 2});
    CHECK(scene.job(failed).errors.size() == 1);
}

TEST_CASE("a retry with an endless wait is due at the last instant") {
    JobScene scene;
    HandPool pool{scene, {.concurrency = 4}};
    pool.pool.handle("retried", [](JobContext&) { throw Retry{Duration::max()}; });
    pool.pool.handle("snoozed", [](JobContext&) { throw Snooze{Duration::max()}; });
    const auto retried = scene.push("retried");
    const auto snoozed = scene.push("snoozed");
    pool.run();
    CHECK(scene.job(retried).run_at == due_at_max);
    CHECK(scene.job(snoozed).run_at == due_at_max);
}

TEST_CASE("a pool ends 5 s after its grace period, even without replies to settlements") {
    JobScene scene;
    HandPool pool{scene};
    pool.pool.handle("a", [](JobContext&) {});
    pool.keep("b");
    scene.push("a");
    scene.push("b");
    scene.store.delay<AckJob>();
    scene.store.delay<RetireWorker>();
    pool.run();
    pool.close(Duration{1'000});
    pool.run_for(Duration{5'900});
    CHECK(!pool.pool.closed());
    pool.run_for(Duration{200});
    CHECK(scene.log.count(LogLevel::warning,
                          "gave up settling jobs that have ended: 1 will run again") == 1);
    pool.run_for(Duration{1'000});
    scene.store.release();
    pool.run();
    CHECK(pool.pool.closed());
}

TEST_CASE("with lost requests and replies, no job is lost or runs twice at once") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        JobScene scene;
        testing::FaultyStore faulty{scene.memory,
                                    {.seed = seed, .lost_requests = 0.2, .lost_replies = 0.2}};
        WorkerPool pool{faulty, scene.complete({.concurrency = 3})};
        HandRunner runner{pool};
        std::vector<int> done(50);
        pool.handle("a", [&](JobContext& job) {
            const auto n = static_cast<std::size_t>(*job.arguments().at(0).get_if<std::int64_t>());
            ++done[n];
        });
        for (int i = 0; i < 50; ++i) scene.jobs.push({"a", {i}}).value();
        const auto end = scene.clock.now() + Duration{120'000};
        while (runner.next() < end) {
            const auto next = runner.run(scene.clock.now());
            scene.clock.set(std::max(next, scene.clock.now()));
        }
        CHECK(scene.queue() == QueueStatus{});
        for (const auto times : done) CHECK(times >= 1);
    }
}

TEST_CASE("a timeout stops the job's token, and the attempt counts as failed from then on") {
    JobScene scene;
    HandPool pool{scene, {.concurrency = 1}};
    Kept kept{pool};
    const auto id = scene.push("a", {.timeout = Duration{700}});
    scene.push("a-later");
    pool.run_for(Duration{699});
    CHECK(!kept.last().context().stop_requested());
    bool stopped = false;
    const std::stop_callback note{kept.last().context().stop_token(), [&] { stopped = true; }};
    pool.run_for(Duration{1});
    CHECK(stopped);
    const auto job = scene.job(id);
    CHECK(job.state == JobStatus::State::scheduled);
    CHECK(job.errors.back().text == "timed out after 700 ms");
    CHECK(pool.pool.status() == WorkerPoolStatus{.running = 1, .failed = 1, .timed_out = 1});
    // The slot stays busy until the job ends. Then its end changes nothing.
    pool.run_for(Duration{500});
    CHECK(kept.responders.size() == 1);
    kept.last().done();
    pool.run();
    CHECK(scene.job(id).state == JobStatus::State::scheduled);
    CHECK(pool.pool.status().done == 0);
    CHECK(pool.pool.status().running == 0);
    pool.run_for(Duration{1'000});
    CHECK(kept.responders.size() == 2);
    kept.last().done();
    pool.run();
    CHECK(!scene.jobs.find(id).value());
}

TEST_CASE("an attempt of a pool times out even if the clock was set back") {
    JobScene scene;
    HandPool pool{scene, {.concurrency = 1}};
    Kept kept{pool};
    scene.push("a", {.timeout = Duration{5'000}});
    pool.run_for(Duration{1'000});
    scene.clock.advance(Duration{-3'600'000});
    pool.runner.wake();
    pool.run_for(Duration{3'999});
    CHECK(!kept.last().context().stop_requested());
    pool.run_for(Duration{1});
    CHECK(kept.last().context().stop_requested());
    kept.last().done();
}

TEST_CASE("a handler has a default timeout for jobs without a timeout") {
    JobScene scene;
    HandPool pool{scene, {.concurrency = 2}};
    std::vector<JobResponder> responders;
    pool.pool.handle_async("a", [&](JobResponder responder) { responders.push_back(responder); },
                           {.timeout = Duration{300}});
    const auto first = scene.jobs.push({"a", {1}}).value().id;
    const auto second = scene.jobs.push({"a", {2}}, {.timeout = Duration{900}}).value().id;
    pool.run_for(Duration{300});
    CHECK(scene.job(first).state == JobStatus::State::scheduled);
    CHECK(scene.job(second).state == JobStatus::State::pending);
    responders[1].done();
    pool.run_for(Duration{650});
    CHECK(pool.pool.status().timed_out == 1);
}
