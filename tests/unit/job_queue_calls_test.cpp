/// @file
/// The functions of a `JobQueue`.

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "support/pool_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("a push sets the options of a job, and the job can be found with these options") {
    JobScene scene;
    const auto id = scene.push("a", {.delay = Duration{100},
                                     .attempts_max = 7,
                                     .timeout = Duration{5'000},
                                     .expires = Duration{60'000},
                                     .metadata = {{"tenant", "42"}}});
    const auto job = scene.job(id);
    CHECK(job.state == JobStatus::State::scheduled);
    CHECK(decode_job(job.job).value() == Job{"a"});
    CHECK(job.run_at == scene.clock.now() + Duration{100});
    CHECK(job.options.attempts_max == 7);
    CHECK(job.options.timeout == Duration{5'000});
    CHECK(job.options.metadata == JobMetadata{{"tenant", "42"}});
    CHECK(job.options.expires_at == job.run_at + Duration{60'000});
    CHECK(!scene.jobs.find(id + 1).value());
}

TEST_CASE("a job that expires before its first attempt is dropped at its start, and counted") {
    JobScene scene;
    HandPool pool{scene};
    int done = 0;
    pool.pool.handle("a", [&](JobContext&) { ++done; });
    const auto id = scene.push("a", {.expires = Duration{1'000}});
    scene.clock.advance(Duration{1'001});
    pool.run();
    CHECK(done == 0);
    CHECK(!scene.jobs.find(id).value());
    scene.push("a", {.expires = Duration{1'000}});
    pool.run();
    CHECK(done == 1);
    const auto refused = scene.jobs.push(Job{"b"}, {.expires = Duration{-1}});
    CHECK(refused.error().code() == Errc::invalid);
    CHECK(scene.jobs.push(Job{"b"}, {.timeout = Duration{-1}}).error().code() == Errc::invalid);
}

TEST_CASE("jobs are listed by their state, page by page") {
    JobScene scene;
    std::vector<JobId> ids;
    for (int i = 0; i < 5; ++i) ids.push_back(scene.jobs.push({"a", {i}}).value().id);
    const auto later = scene.push("later", {.delay = Duration{60'000}});
    const auto first = scene.jobs.list(JobStatus::State::ready, 0, 3).value();
    REQUIRE(first.jobs.size() == 3);
    CHECK(first.jobs[2].id == ids[2]);
    const auto second = scene.jobs.list(JobStatus::State::ready, first.next, 3).value();
    REQUIRE(second.jobs.size() == 2);
    CHECK(second.jobs[1].id == ids[4]);
    CHECK(second.next == 0);
    CHECK(scene.jobs.list(JobStatus::State::scheduled).value().jobs.at(0).id == later);
    CHECK(scene.jobs.list(JobStatus::State::ready, 0, 1'001).error().code() == Errc::invalid);
}

TEST_CASE("jobs are listed by name or by group") {
    JobScene scene;
    const auto a = scene.push("a");
    const auto b = scene.push("b", {.group = "g"});
    CHECK(scene.jobs.list({JobStatus::State::ready, "a"}).value().jobs.at(0).id == a);
    const auto grouped = scene.jobs.list({JobStatus::State::ready, "", "g"}).value().jobs;
    REQUIRE(grouped.size() == 1);
    CHECK(grouped[0].id == b);
    const auto explained = scene.jobs.explain(b).value();
    REQUIRE(explained.has_value());
    CHECK(explained->reason() == JobExplanation::Reason::no_worker);
    CHECK(!scene.jobs.explain(b + 1).value());
}

TEST_CASE("one BURIED job can be kicked (started again), or the first BURIED jobs") {
    JobScene scene;
    HandPool pool{scene};
    pool.pool.handle("a", [](JobContext&) { throw Bury{"no"}; });
    std::vector<JobId> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(scene.jobs.push({"a", {i}}).value().id);
    pool.run();
    REQUIRE(scene.queue() == QueueStatus{.buried = 4});
    CHECK(scene.jobs.kick(ids[2]).value() == 1);
    CHECK(scene.jobs.kick(ids[2]).value() == 0);
    CHECK(scene.jobs.kick_all(2).value() == 2);
    CHECK(scene.job(ids[3]).state == JobStatus::State::buried);
    CHECK(scene.queue() == QueueStatus{.ready = 3, .buried = 1});
}

TEST_CASE("a job without a lease can be removed") {
    JobScene scene;
    HandPool pool{scene};
    pool.keep("a");
    const auto id = scene.push("a");
    pool.run();
    CHECK(scene.jobs.remove(id).value() == Deletion::pending);
    const auto other = scene.push("b", {.delay = Duration{60'000}});
    CHECK(scene.jobs.remove(other).value() == Deletion::deleted);
    CHECK(scene.jobs.remove(other).value() == Deletion::unknown);
    CHECK(scene.queue() == QueueStatus{.pending = 1});
}

TEST_CASE("a waiting job is cancelled, and a running job is asked to stop") {
    JobScene scene;
    HandPool pool{scene};
    const auto later = scene.push("a", {.delay = Duration{60'000}});
    CHECK(scene.jobs.cancel(later).value() == Cancellation::cancelled);
    CHECK(scene.jobs.cancel(later).value() == Cancellation::unknown);

    std::optional<JobResponder> kept;
    pool.pool.handle_async("a", [&](const JobResponder& responder) { kept = responder; });
    const auto id = scene.push("a");
    pool.run();
    REQUIRE(kept);
    CHECK(scene.jobs.cancel(id).value() == Cancellation::requested);
    CHECK(!kept->context().stop_requested());
    pool.run_for(Duration{1'000});
    CHECK(kept->context().stop_requested());
    SUBCASE("a cancelled job may still succeed") {
        kept->done();
        pool.run();
        CHECK(pool.pool.status() == WorkerPoolStatus{.done = 1});
    }
    SUBCASE("a cancelled job does not run again after a failure") { kept->fail("stopped"); }
    SUBCASE("a cancelled job does not run again after a release") { kept->snooze(Duration{1}); }
    pool.run_for(Duration{60'000});
    CHECK(scene.queue() == QueueStatus{});
    CHECK(!scene.jobs.find(id).value());
}

TEST_CASE("a paused queue is shown as paused, and stays paused for every pool until resumed") {
    JobScene scene;
    HandPool pool{scene,
                  {.heartbeat_interval = Duration{3'600'000},
                   .worker_silence = Duration{7'200'000},
                   .poll_interval = Duration{3'600'000}}};
    int done = 0;
    pool.pool.handle("a", [&](JobContext&) { ++done; });
    pool.run();
    CHECK(scene.jobs.pause());
    scene.push("a");
    pool.run_for(Duration{1'000});
    CHECK(done == 0);
    CHECK(scene.queue() == QueueStatus{.ready = 1, .paused = true});
    CHECK(scene.jobs.resume());
    pool.run();
    CHECK(done == 1);
    CHECK(scene.queue() == QueueStatus{});
    CHECK(JobQueue{scene.memory, "aux"}.pause().error().code() == Errc::invalid);
    CHECK(JobQueue{scene.memory, "main"}.resume().error().code() == Errc::invalid);
}

TEST_CASE("every call about jobs also exists with a completion") {
    JobScene scene;
    const auto id = scene.push("a");
    int replies = 0;
    scene.jobs.find(id, [&](const auto& found) { replies += found.value()->id == id ? 1 : 0; });
    scene.jobs.list(JobStatus::State::ready, 0, 10,
                    [&](const auto& page) { replies += page.value().jobs.size() == 1 ? 1 : 0; });
    scene.jobs.kick(id, [&](const auto& kicked) { replies += kicked.value() == 0 ? 1 : 0; });
    scene.jobs.kick_all(10, [&](const auto& kicked) { replies += kicked.value() == 0 ? 1 : 0; });
    scene.jobs.remove(
        id, [&](const auto& gone) { replies += gone.value() == Deletion::deleted ? 1 : 0; });
    scene.jobs.cancel(
        id, [&](const auto& gone) { replies += gone.value() == Cancellation::unknown ? 1 : 0; });
    scene.jobs.pause([&](const auto& paused) { replies += paused.has_value() ? 1 : 0; });
    CHECK(scene.queue().paused);
    scene.jobs.resume([&](const auto& resumed) { replies += resumed.has_value() ? 1 : 0; });
    CHECK(!scene.queue().paused);
    CHECK(replies == 8);
}

TEST_CASE("many jobs are pushed in one submission, each with its own settings") {
    JobScene scene;
    JobQueue jobs{scene.store, "work", scene.clock};
    const std::vector<JobPush> pushes{{Job{"a"}, {.attempts_max = 3}},
                                      {Job{"b"}, {.timeout = Duration{-1}}},
                                      {Job{""}, {}},
                                      {Job{"c"}, {.delay = Duration{100}}}};
    scene.store.lose_replies<PushJob>(1);
    const auto replies = jobs.push_each(pushes);
    REQUIRE(replies.size() == 4);
    CHECK(scene.job(replies[0].value().id).options.attempts_max == 3);
    CHECK(replies[1].error().code() == Errc::invalid);
    CHECK(replies[2].error().code() == Errc::invalid);
    CHECK(scene.job(replies[3].value().id).state == JobStatus::State::scheduled);
    // One submission for all pushes with unique keys, and a second one after the lost reply.
    CHECK(scene.store.times_of<PushJob>().size() == 4);
    std::size_t duplicates = 0;
    jobs.push_each(pushes, [&](const auto& again) {
        for (const auto& reply : again) duplicates += reply && *reply == PushOutcome::duplicate;
    });
    CHECK(duplicates == 2);
}

TEST_CASE("a push can be validated without pushing the job") {
    JobScene scene;
    CHECK(scene.jobs.check(Job{"a"}));
    CHECK(scene.jobs.check(Job{""}).error().context() == "name: must not be empty");
    CHECK(scene.jobs.check(Job{"a"}, {.timeout = Duration{-1}}).error().context() ==
          "timeout: must not be negative");
    CHECK(!JobQueue{scene.memory, "main", scene.clock}.check(Job{"a"}));
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("a queue of Ruby Routemaster has no jobs with ids or settings") {
    JobScene scene;
    JobQueue aux{scene.memory, "aux", scene.clock};
    CHECK(aux.push(Job{"a"}).value() == Pushed{PushOutcome::pushed, 0});
    CHECK(aux.push(Job{"b"}, {.attempts_max = 3}).error().code() == Errc::invalid);
    CHECK(aux.push(Job{"b"}, {.expires = Duration{3}}).error().code() == Errc::invalid);
    CHECK(aux.find(1).error().code() == Errc::invalid);
    CHECK(aux.remove(1).error().code() == Errc::invalid);
    CHECK(aux.status().value() == QueueStatus{.ready = 1});
}
