#include "routemaster/worker_pool.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "routemaster/job_exceptions.hpp"
#include "routemaster/store/perform.hpp"
#include "support/pool_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a pool does a pushed job, and the job is deleted") {
    JobScene scene;
    HandPool pool{scene};
    Names done;
    pool.pool.handle("resize", [&](JobContext& job) {
        CHECK(job.arguments() == Value::Array{Value{42}, Value{"large"}});
        CHECK(job.queue() == "work");
        CHECK(job.attempt() == 1);
        CHECK(job.metadata() == JobMetadata{{"trace", "00-4bf9-01"}});
        CHECK(job.fence() > 0);
        CHECK(scene.queue() == QueueStatus{.pending = 1});
        done.push_back(job.name());
    });
    const auto pushed =
        scene.jobs.push({"resize", {42, "large"}}, {.metadata = {{"trace", "00-4bf9-01"}}}).value();
    CHECK(pushed.id > 0);
    pool.run();
    CHECK(done == Names{"resize"});
    CHECK(scene.queue() == QueueStatus{});
    CHECK(pool.pool.status() == WorkerPoolStatus{.done = 1});
}

TEST_CASE("a push wakes a waiting pool, and a delayed job runs when due") {
    JobScene scene;
    HandPool pool{scene,
                  {.heartbeat_interval = Duration{3'600'000},
                   .worker_silence = Duration{7'200'000},
                   .poll_interval = Duration{3'600'000}}};
    int done = 0;
    pool.pool.handle("a", [&](JobContext&) { ++done; });
    pool.run_for(Duration{1'234});
    scene.push("a");
    pool.run();
    CHECK(done == 1);
    scene.push("a", {.delay = Duration{777}});
    pool.run_for(Duration{776});
    CHECK(done == 1);
    pool.run_for(Duration{1});
    CHECK(done == 2);
}

TEST_CASE("a job whose handler throws is retried after growing waits, and keeps its errors") {
    JobScene scene;
    HandPool pool{scene, {.retry = {.jitter = 0}}};
    std::vector<Duration> at;
    const auto began = scene.clock.now();
    pool.pool.handle("charge", [&](JobContext& job) {
        at.push_back(scene.clock.now() - began);
        if (job.attempt() < 4) throw std::runtime_error{"no answer"};
    });
    const auto id = scene.push("charge");
    pool.run();
    CHECK(scene.queue() == QueueStatus{.scheduled = 1});
    CHECK(scene.job(id).attempts == 1);
    pool.run_for(Duration{3'000});
    const auto errors = scene.job(id).errors;
    REQUIRE(errors.size() == 3);
    CHECK(errors[2].text == "no answer");
    CHECK(errors[2].attempt == 3);
    pool.run_for(Duration{4'000});
    CHECK(at ==
          std::vector<Duration>{Duration{0}, Duration{1'000}, Duration{3'000}, Duration{7'000}});
    CHECK(scene.queue() == QueueStatus{});
    CHECK(pool.pool.status() == WorkerPoolStatus{.done = 1, .failed = 3});
}

TEST_CASE("jitter adds at most half of the wait, and varies") {
    JobScene scene;
    HandPool pool{scene};
    pool.pool.handle("a", [](JobContext&) { throw std::runtime_error{"no"}; });
    pool.pool.handle("b", [](JobContext&) { throw std::runtime_error{"no"}; });
    const auto first = scene.push("a");
    const auto second = scene.push("b");
    pool.run();
    const auto wait = [&](JobId id) { return (scene.job(id).run_at - scene.clock.now()).count(); };
    CHECK(wait(first) >= 1'000);
    CHECK(wait(first) <= 1'500);
    CHECK(wait(second) >= 1'000);
    CHECK(wait(second) <= 1'500);
    CHECK(wait(first) != wait(second));
}

TEST_CASE("a job without attempts left is BURIED, and runs again when kicked (started again)") {
    JobScene scene;
    HandPool pool{scene};
    bool repaired = false;
    int attempts = 0;
    pool.pool.handle("a", [&](JobContext& job) {
        ++attempts;
        if (!repaired) throw std::runtime_error{"attempt " + std::to_string(job.attempt())};
    });
    const auto id = scene.push("a", {.attempts_max = 3});
    pool.run_for(Duration{60'000});
    CHECK(attempts == 3);
    CHECK(scene.queue() == QueueStatus{.buried = 1});
    CHECK(scene.job(id).errors.back().text == "attempt 3");
    CHECK(pool.pool.status().buried == 1);
    CHECK(scene.log.count(LogLevel::warning, "is BURIED") == 1);
    CHECK(scene.jobs.push(Job{"a"}).value() == Pushed{PushOutcome::duplicate, id});
    repaired = true;
    CHECK(scene.jobs.kick(id).value() == 1);
    pool.run();
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("a handler decides when its job is retried, BURIED, or done later") {
    JobScene scene;
    HandPool pool{scene};
    int snoozes = 0;
    pool.pool.handle("retry", [](JobContext&) { throw Retry{Duration{12'345}, "busy"}; });
    pool.pool.handle("bury", [](JobContext&) { throw Bury{"the card has expired"}; });
    pool.pool.handle("snooze", [&](JobContext& job) {
        CHECK(job.attempt() == 1);
        if (++snoozes < 5) throw Snooze{Duration{100}};
    });
    const auto retry = scene.push("retry");
    const auto bury = scene.push("bury");
    const auto snooze = scene.push("snooze");
    pool.run();
    CHECK(scene.job(retry).run_at == scene.clock.now() + Duration{12'345});
    CHECK(scene.job(retry).errors.back().text == "busy");
    CHECK(scene.job(bury).state == JobStatus::State::buried);
    CHECK(scene.job(bury).errors.back().text == "the card has expired");
    CHECK(scene.job(snooze).attempts == 0);
    CHECK(scene.job(snooze).errors.empty());
    pool.run_for(Duration{400});
    CHECK(snoozes == 5);
    CHECK(pool.pool.status() ==
          WorkerPoolStatus{.done = 1, .failed = 2, .buried = 1, .released = 4, .snoozed = 4});
}

TEST_CASE("a retry at a requested time counts as an attempt, until the job is BURIED") {
    JobScene scene;
    HandPool pool{scene};
    int attempts = 0;
    pool.pool.handle("a", [&](JobContext&) {
        ++attempts;
        throw Retry{Duration{-5}};
    });
    scene.push("a", {.attempts_max = 4});
    pool.run();
    CHECK(attempts == 4);
    CHECK(scene.queue() == QueueStatus{.buried = 1});
}

TEST_CASE("a rule of the retry policy applies to errors of its kind") {
    JobScene scene;
    HandPool pool{scene,
                  {.retry = {.jitter = 0,
                             .rules = {bury_on<std::invalid_argument>(),
                                       retry_on<std::logic_error>(Duration{5'000}),
                                       {.applies =
                                            [](const std::exception& error) {
                                                return std::string{error.what()} == "twice";
                                            },
                                        .attempts_max = 2}}}}};
    pool.pool.handle("a", [](JobContext&) { throw std::invalid_argument{"a"}; });
    pool.pool.handle("b", [](JobContext&) { throw std::domain_error{"b"}; });
    pool.pool.handle("c", [](JobContext&) { throw std::runtime_error{"c"}; });
    pool.pool.handle("d", [](JobContext&) { throw std::runtime_error{"twice"}; });
    pool.pool.handle("e", [](JobContext&) { throw std::invalid_argument{"e"}; },
                     {.retry = RetryPolicy{.wait_first = Duration{7}, .jitter = 0}});
    pool.pool.handle("f", [](JobContext&) { throw 7; });
    std::vector<JobId> ids;
    for (const auto* name : {"a", "b", "c", "d", "e", "f"}) ids.push_back(scene.push(name));
    pool.run();
    const auto wait = [&](std::size_t i) { return scene.job(ids[i]).run_at - scene.clock.now(); };
    CHECK(scene.job(ids[0]).state == JobStatus::State::buried);
    CHECK(wait(1) == Duration{5'000});
    CHECK(wait(2) == Duration{1'000});
    CHECK(wait(3) == Duration{1'000});
    CHECK(wait(4) == Duration{7});
    CHECK(scene.job(ids[5]).errors.back().text ==
          "the handler threw something other than an exception");
    pool.run_for(Duration{1'000});
    CHECK(scene.job(ids[3]).state == JobStatus::State::buried);
}

TEST_CASE(
    "a retry policy may give up before the job's limit of attempts, and its waits have a maximum") {
    const RetryPolicy policy{.wait_max = Duration{10'000}, .jitter = 0.5};
    CHECK(policy.wait_after(1, 0) == Duration{1'000});
    CHECK(policy.wait_after(4, 0) == Duration{8'000});
    CHECK(policy.wait_after(5, 0) == Duration{10'000});
    CHECK(policy.wait_after(4'000'000'000, 0.999) <= Duration{15'000});
    JobScene scene;
    HandPool pool{scene, {.retry = {.attempts_max = 2}}};
    pool.pool.handle("a", [](JobContext&) { throw std::runtime_error{"no"}; });
    scene.push("a");
    pool.run_for(Duration{2'000});
    CHECK(scene.queue() == QueueStatus{.buried = 1});
}

TEST_CASE("the longest wait between attempts is wait_max, lengthened by jitter") {
    RetryPolicy policy{.wait_max = Duration{10'000}, .jitter = 0.5};
    const std::vector<std::uint32_t> late{5, 6, 25, 4'000'000'000};
    for (const auto attempts : late) {
        CHECK(policy.wait_after(attempts, 0) == Duration{10'000});
        CHECK(policy.wait_after(attempts, 0.5) == Duration{12'500});
        CHECK(policy.wait_after(attempts, 0.75) == Duration{13'750});
    }
    policy.jitter = 0.125;
    for (const auto attempts : late) CHECK(policy.wait_after(attempts, 0.5) == Duration{10'625});
    policy.jitter = 0;
    for (const auto attempts : late) CHECK(policy.wait_after(attempts, 0.75) == Duration{10'000});
    policy.wait_first = Duration{20'000};
    CHECK(policy.wait_after(1, 0.75) == Duration{10'000});
}

TEST_CASE("a retry policy may limit for how long a job may go on failing") {
    JobScene scene;
    HandPool pool{
        scene, {.retry = {.wait_max = Duration{1'000}, .jitter = 0, .time_max = Duration{5'000}}}};
    int attempts = 0;
    pool.pool.handle("a", [&](JobContext&) {
        ++attempts;
        throw std::runtime_error{"no"};
    });
    const auto id = scene.push("a", {.delay = Duration{60'000}});
    pool.run_for(Duration{64'999});
    CHECK(attempts == 5);
    CHECK(scene.queue() == QueueStatus{.scheduled = 1});
    pool.run_for(Duration{1});
    CHECK(attempts == 6);
    CHECK(scene.job(id).state == JobStatus::State::buried);
    CHECK_THROWS_AS(HandPool(scene, {.retry = {.time_max = Duration{-1}}}), Failure);
}

TEST_CASE("a catch-all handler does jobs whose name has no handler") {
    JobScene scene;
    HandPool pool{scene};
    std::string done;
    pool.pool.handle("a", [&](JobContext&) { done += "a"; });
    pool.pool.handle_others([&](JobContext& job) { done += "other:" + job.name(); });
    CHECK_THROWS_AS(pool.pool.handle_others([](JobContext&) {}), Failure);
    CHECK_THROWS_AS(pool.pool.handle_others(nullptr), Failure);
    scene.push("a");
    scene.push("b");
    pool.run();
    CHECK(done == "aother:b");
    CHECK(scene.queue() == QueueStatus{});
    CHECK(pool.pool.status().unhandled == 0);
    CHECK_THROWS_AS(pool.pool.handle_others([](JobContext&) {}), Failure);
}

TEST_CASE("a pool with threads must be started, and a pool without threads must be polled") {
    JobScene scene;
    WorkerPool idle{scene.memory, {.queues = {"work"}, .threads = 0}};
    CHECK_THROWS_AS(idle.start(), Failure);
    CHECK_NOTHROW(idle.poll(scene.clock.now()));
    WorkerPool started{scene.memory, {.queues = {"work"}}};
    started.start();
    CHECK_THROWS_AS(started.poll(scene.clock.now()), Failure);
    started.stop(Duration{0});
}

TEST_CASE("log lines about a job contain its queue, and a shortened long name") {
    JobScene scene;
    HandPool pool{scene};
    const auto name = std::string(98, 'x') + "\u00fc\u00fc\u00fc";
    pool.pool.handle(name, [](JobContext&) { throw Bury{"no"}; });
    scene.push(name);
    scene.push(std::string(1'000'000, 'y'));
    pool.run();
    CHECK(scene.log.count(LogLevel::warning, "job '" + std::string(98, 'x') +
                                                 "\u00fc...' (1) of queue 'work' is BURIED") == 1);
    CHECK(scene.log.count(LogLevel::warning, "no handler for jobs named '" + std::string(100, 'y') +
                                                 "...' in queue") == 1);
}

TEST_CASE("a log line about a job is one line, even for names and errors with line breaks") {
    JobScene scene;
    HandPool pool{scene};
    pool.pool.handle("a\nERROR: b", [](JobContext&) { throw Bury{"first\r\nsecond\x1b[0m"}; });
    scene.push("a\nERROR: b");
    pool.run();
    CHECK(scene.log.count(LogLevel::info,
                          "job 'a ERROR: b' (1) of queue 'work' failed, attempt 1: first  "
                          "second [0m") == 1);
}

TEST_CASE("the stored text of a job's error is limited in length, and is valid UTF-8") {
    JobScene scene;
    HandPool pool{scene};
    pool.pool.handle("long", [](JobContext&) {
        std::string text(1'023, 'x');
        for (int i = 0; i < 100'000; ++i) text += "ü";
        throw std::runtime_error{text};
    });
    pool.pool.handle("bytes", [](JobContext&) { throw std::runtime_error{"a\xff\xc3z"}; });
    const auto large = scene.push("long");
    const auto bytes = scene.push("bytes");
    pool.run();
    CHECK(scene.job(large).errors.back().text == std::string(1'023, 'x'));
    CHECK(scene.job(bytes).errors.back().text == "a??z");
}

TEST_CASE("a job without a handler is released after growing waits, and logged once") {
    JobScene scene;
    HandPool ignorant{scene};
    ignorant.pool.handle("known", [](JobContext&) {});
    const auto id = scene.push("novel");
    std::vector<std::int64_t> waits;
    for (int i = 0; i < 8; ++i) {
        ignorant.run();
        CHECK(scene.job(id).attempts == 0);
        const auto wait = scene.job(id).run_at - scene.clock.now();
        waits.push_back(wait.count());
        ignorant.run_for(wait);
    }
    CHECK(waits ==
          std::vector<std::int64_t>{1'000, 2'000, 4'000, 8'000, 16'000, 32'000, 60'000, 60'000});
    CHECK(scene.log.count(LogLevel::warning, "no handler for jobs named 'novel'") == 1);
    CHECK(ignorant.pool.status().unhandled == 9);
    CHECK(ignorant.pool.status().failed == 0);
    HandPool expert{scene};
    int done = 0;
    expert.pool.handle("novel", [&](JobContext&) { ++done; });
    scene.clock.advance(Duration{60'000});
    expert.run();
    CHECK(done == 1);
}

TEST_CASE("an undecodable job is BURIED, and does not stop further jobs") {
    JobScene scene;
    HandPool pool{scene};
    int done = 0;
    pool.pool.handle("a", [&](JobContext&) { ++done; });
    perform(scene.memory, PushJob{"work", "no MessagePack", scene.clock.now()}, scene.clock.now())
        .value();
    scene.push("a");
    pool.run();
    CHECK(done == 1);
    CHECK(scene.queue() == QueueStatus{.buried = 1});
}

TEST_CASE("middleware runs around handlers, the first middleware outermost") {
    JobScene scene;
    HandPool pool{scene};
    Names steps;
    pool.pool.use([&](JobContext& job, const std::function<void()>& next) {
        steps.push_back("outer " + job.name());
        try {
            next();
        } catch (const std::runtime_error&) {
            steps.push_back("caught");
            throw;
        }
        steps.push_back("outer end");
    });
    pool.pool.use([&](JobContext& job, const std::function<void()>& next) {
        if (job.name() == "skipped") return;
        steps.push_back("inner");
        next();
    });
    pool.pool.handle("a", [&](JobContext&) { steps.push_back("a"); });
    pool.pool.handle("skipped", [&](JobContext&) { steps.push_back("never"); });
    pool.pool.handle("b", [&](JobContext&) { throw std::runtime_error{"b"}; });
    scene.push("a");
    scene.push("skipped");
    scene.push("b");
    pool.run();
    CHECK(steps == Names{"outer a", "inner", "a", "outer end", "outer skipped", "outer end",
                         "outer b", "inner", "caught"});
    CHECK(scene.queue() == QueueStatus{.scheduled = 1});
}

TEST_CASE("jobs of a queue of Ruby Routemaster are done, and never BURIED") {
    JobScene scene;
    JobQueue aux{scene.memory, "aux", scene.clock};
    HandPool pool{scene, {.queues = {"aux"}}};
    int attempts = 0;
    pool.pool.handle("a", [&](JobContext& job) {
        CHECK(job.attempt() == 0);
        CHECK(job.id() == 0);
        if (++attempts < 3) throw std::runtime_error{"no"};
    });
    pool.pool.handle("b", [](JobContext&) { throw Bury{"no"}; });
    aux.push(Job{"a"}).value();
    aux.push(Job{"b"}).value();
    pool.run_for(Duration{10'000});
    CHECK(attempts == 3);
    CHECK(aux.status().value() == QueueStatus{.scheduled = 1});
}

TEST_CASE("pool settings that make any work impossible are refused") {
    MemoryStore store;
    const auto refused = [&](WorkerPoolOptions options) {
        CHECK_THROWS_AS((WorkerPool{store, std::move(options)}), Failure);
    };
    refused({});
    refused({.queues = {"main"}});
    refused({.queues = {"a", "b", "a"}});
    refused({.queues = {"no queue"}});
    refused({.queues = {{"a", 0}}});
    refused({.queues = {"a"}, .retry = {.factor = 0.5}});
    refused({.queues = {"a"}, .retry = {.jitter = -1}});
    refused({.queues = {"a"}, .retry = {.rules = {RetryRule{}}}});
    refused({.queues = {"a"}, .order = static_cast<QueueOrder>(9)});
    refused({.queues = {"a"}, .grace = Duration{-1}});
    refused({.queues = {"a"}, .heartbeat_interval = Duration{0}});
    refused({.queues = {"a"}, .heartbeat_interval = Duration::max()});
    refused({.queues = {"a"}, .worker_silence = Duration{1'000}});
    refused({.queues = {"a"}, .poll_interval = Duration{0}});
    refused({.queues = {"a"}, .poll_interval = Duration::max()});
    refused({.queues = {"a"}, .wake_grace = Duration{-1}});
    WorkerPool pool{store, {.queues = {"a"}, .threads = 0}};
    pool.handle("a", [](JobContext&) {});
    CHECK_THROWS_AS(pool.handle("a", [](JobContext&) {}), Failure);
    CHECK_THROWS_AS(pool.handle("", [](JobContext&) {}), Failure);
    CHECK_THROWS_AS(pool.handle("b", JobHandler{}), Failure);
    CHECK_THROWS_AS(pool.handle("b", [](JobContext&) {}, {.timeout = Duration{-1}}), Failure);
    pool.poll(from_milliseconds(1'700'000'000'000));
    CHECK_THROWS_AS(pool.handle("b", [](JobContext&) {}), Failure);
    CHECK_THROWS_AS(pool.use([](JobContext&, const std::function<void()>&) {}), Failure);
    CHECK_THROWS_AS(pool.start(), Failure);
}
