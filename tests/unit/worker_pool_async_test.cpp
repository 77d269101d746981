/// @file
/// Asynchronous handlers, several queues, and the stop of a pool.

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/pool_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("a responder ends its job later and once, in each possible way") {
    JobScene scene;
    HandPool pool{
        scene, {.concurrency = 10, .retry = {.jitter = 0, .rules = {bury_on<std::bad_alloc>()}}}};
    std::map<std::string, JobResponder> responders;
    std::map<std::string, JobId> ids;
    for (const auto* name : {"done", "fail", "error", "retry", "bury", "snooze", "dropped"}) {
        pool.pool.handle_async(name, [&, name](JobResponder responder) {
            CHECK(responder.context().name() == name);
            responders.emplace(name, responder);
        });
        ids[name] = scene.push(name);
    }
    pool.run();
    CHECK(scene.queue() == QueueStatus{.pending = 7});
    CHECK(pool.pool.status().running == 7);
    responders.at("done").done();
    responders.at("fail").fail("no answer");
    responders.at("fail").done();
    responders.at("error").fail(std::bad_alloc{});
    responders.at("retry").retry(Duration{50}, "busy");
    responders.at("bury").bury("never");
    responders.at("snooze").snooze(Duration{60});
    responders.clear();
    pool.run();
    const auto wait = [&](const char* name) {
        return scene.job(ids.at(name)).run_at - scene.clock.now();
    };
    const auto error = [&](const char* name) { return scene.job(ids.at(name)).errors.back().text; };
    CHECK(!scene.jobs.find(ids.at("done")).value());
    CHECK(wait("fail") == Duration{1'000});
    CHECK(error("fail") == "no answer");
    CHECK(scene.job(ids.at("error")).state == JobStatus::State::buried);
    CHECK(wait("retry") == Duration{50});
    CHECK(error("bury") == "never");
    CHECK(scene.job(ids.at("bury")).state == JobStatus::State::buried);
    CHECK(wait("snooze") == Duration{60});
    CHECK(error("dropped") == "the handler ended without a report");
    CHECK(pool.pool.status() ==
          WorkerPoolStatus{.done = 1, .failed = 5, .buried = 2, .released = 1, .snoozed = 1});
}

TEST_CASE("a job whose asynchronous handler throws has failed, unless it was reported before") {
    JobScene scene;
    HandPool pool{scene, {.concurrency = 2}};
    pool.pool.handle_async("a", [](const JobResponder&) { throw std::runtime_error{"a"}; });
    pool.pool.handle_async("b", [](const JobResponder& responder) {
        responder.done();
        throw std::runtime_error{"b"};
    });
    const auto a = scene.push("a");
    scene.push("b");
    pool.run();
    CHECK(scene.job(a).errors.back().text == "a");
    CHECK(scene.queue() == QueueStatus{.scheduled = 1});
}

TEST_CASE("a pool begins jobs only for its slots, and leaves further jobs to other pools") {
    JobScene scene;
    HandPool pool{scene, {.concurrency = 2}};
    std::vector<JobResponder> responders;
    pool.pool.handle_async("a", [&](JobResponder responder) { responders.push_back(responder); });
    for (int i = 0; i < 5; ++i) scene.jobs.push({"a", {i}}).value();
    pool.run_for(Duration{5'000});
    CHECK(responders.size() == 2);
    CHECK(scene.queue() == QueueStatus{.ready = 3, .pending = 2});
    responders[0].done();
    pool.run();
    CHECK(responders.size() == 3);
}

TEST_CASE("a responder may outlive its pool") {
    JobScene scene;
    std::optional<JobResponder> kept;
    {
        HandPool pool{scene};
        pool.keep("a");
        scene.push("a");
        pool.run();
        kept = pool.kept;
        pool.close();
        CHECK(pool.pool.closed());
        CHECK(kept->context().stop_requested());
    }
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    kept->fail(std::runtime_error{"too late"});
    kept.reset();
    CHECK(scene.queue() == QueueStatus{.ready = 1});
}

namespace {

/// The queues of the jobs that a pool with one slot does, in order.
std::string order_of(WorkerPoolOptions options, std::size_t jobs) {
    JobScene scene;
    HandPool pool{scene, std::move(options)};
    std::string order;
    pool.pool.handle("a", [&](JobContext& job) { order += job.queue(); });
    for (const auto* name : {"x", "y", "z"}) {
        JobQueue queue{scene.memory, name, scene.clock};
        for (std::size_t i = 0; i < jobs; ++i) queue.push({"a", {i}}).value();
    }
    pool.run();
    return order;
}

}  // namespace

TEST_CASE("in strict order, a queue is served when the queues before it are empty") {
    CHECK(order_of({.queues = {"y", "x", "z"}, .order = QueueOrder::strict}, 3) == "yyyxxxzzz");
}

TEST_CASE("queues with weights are served in proportion to the weights") {
    const auto order = order_of({.queues = {{"x", 3}, {"y", 2}, {"z", 1}}}, 60).substr(0, 60);
    CHECK(std::count(order.begin(), order.end(), 'x') == 30);
    CHECK(std::count(order.begin(), order.end(), 'y') == 20);
    CHECK(std::count(order.begin(), order.end(), 'z') == 10);
}

TEST_CASE("an empty queue leaves all slots to the other queues") {
    const auto order = order_of({.queues = {{"empty", 100}, "x"}}, 5);
    CHECK(order == "xxxxx");
}

TEST_CASE("in strict order, a new job of the first queue is next, after one already fetched job") {
    JobScene scene;
    HandPool pool{scene, {.queues = {"x", "y"}, .order = QueueOrder::strict}};
    JobQueue x{scene.memory, "x", scene.clock};
    JobQueue y{scene.memory, "y", scene.clock};
    std::string order;
    pool.pool.handle("a", [&](JobContext& job) {
        order += job.queue();
        if (order.size() == 3) x.push(Job{"a"}).value();
    });
    for (int i = 0; i < 6; ++i) y.push({"a", {i}}).value();
    pool.run();
    CHECK(order == "yyyyxyy");
}

TEST_CASE("a closing pool begins no job, and lets running jobs end within the grace period") {
    JobScene scene;
    HandPool pool{scene, {.concurrency = 2}};
    std::vector<JobResponder> responders;
    pool.pool.handle_async("a", [&](JobResponder responder) { responders.push_back(responder); });
    for (int i = 0; i < 4; ++i) scene.jobs.push({"a", {i}}).value();
    pool.run();
    pool.close(Duration{10'000});
    pool.run_for(Duration{9'000});
    CHECK(!pool.pool.closed());
    CHECK(responders.size() == 2);
    CHECK(!responders[0].context().stop_requested());
    responders[0].done();
    pool.run();
    CHECK(scene.queue() == QueueStatus{.ready = 2, .pending = 1});
    responders[1].done();
    pool.run();
    CHECK(pool.pool.closed());
    CHECK(scene.queue() == QueueStatus{.ready = 2});
}

TEST_CASE("a job that exceeds the grace period is released, and its attempt does not count") {
    JobScene scene;
    HandPool pool{scene};
    pool.keep("a");
    const auto id = scene.push("a");
    pool.run();
    CHECK(scene.job(id).attempts == 1);
    pool.close(Duration{5'000});
    pool.run_for(Duration{4'999});
    CHECK(scene.job(id).state == JobStatus::State::pending);
    CHECK(!pool.kept->context().stop_requested());
    pool.run_for(Duration{1});
    CHECK(pool.pool.closed());
    CHECK(pool.kept->context().stop_requested());
    CHECK(scene.job(id).state == JobStatus::State::ready);
    CHECK(scene.job(id).attempts == 0);
    CHECK(scene.job(id).errors.empty());
    CHECK(pool.pool.status().released == 1);
    pool.kept->done();
    pool.run();
    CHECK(scene.queue() == QueueStatus{.ready = 1});
}

TEST_CASE("jobs that arrive while a pool closes are released at once") {
    JobScene scene;
    HandPool pool{scene};
    pool.pool.handle("a", [](JobContext&) { FAIL("begun"); });
    scene.store.delay<AcquireJobs>();
    const auto id = scene.push("a");
    pool.run();
    pool.close(Duration{60'000});
    scene.store.release();
    pool.run();
    CHECK(scene.job(id).state == JobStatus::State::ready);
    CHECK(scene.job(id).attempts == 0);
}
