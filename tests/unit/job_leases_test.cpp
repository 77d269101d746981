/// @file
/// Leases of jobs for remote workers, on a manual clock.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/job_leases.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"
#include "support/hand_leases.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

constexpr auto failed = AttemptEnd::Kind::failed;
constexpr auto released = AttemptEnd::Kind::released;

}  // namespace

TEST_CASE("a job is leased, extended and done") {
    JobScene scene;
    HandLeases hand{scene};
    const auto id = scene.push("a", {.metadata = {{"tenant", "7"}}});
    const auto answer = hand.lease({.worker = "w", .lease_time = Duration{2'000}});
    const auto job = only_job(answer);
    CHECK(job.job == Job{"a"});
    CHECK(job.lease.id == id);
    CHECK(job.lease.attempt == 1);
    CHECK(job.lease.options->metadata.at("tenant") == "7");
    CHECK(job.until == scene.clock.now() + Duration{2'000});
    CHECK(scene.queue() == QueueStatus{.pending = 1});
    for (int i = 0; i < 5; ++i) {
        hand.run_for(Duration{1'500});
        const auto extension = hand.extend(job);
        REQUIRE(extension);
        CHECK(extension->until == scene.clock.now() + Duration{2'000});
        CHECK(!extension->cancelled);
    }
    CHECK(hand.settle(job).value() == Settlement::settled);
    CHECK(scene.queue() == QueueStatus{});
    CHECK(hand.settle(job).value() == Settlement::lease_lost);
    CHECK(!hand.extend(job));
}

TEST_CASE("the lease of a silent worker expires on time, and the job runs elsewhere") {
    JobScene scene;
    HandLeases hand{scene};
    const auto id = scene.push("a");
    const auto job = only_job(hand.lease({.worker = "slow", .lease_time = Duration{2'000}}));
    const auto other = hand.lease({.worker = "other", .wait = Duration{10'000}});
    CHECK(!other->has_value());
    hand.run_for(Duration{1'999});
    CHECK(!other->has_value());
    hand.run_for(Duration{1});
    const auto again = only_job(other);
    CHECK(again.lease.attempt == 2);
    CHECK(again.lease.fence != job.lease.fence);
    const auto status = scene.job(id);
    REQUIRE(status.errors.size() == 1);
    CHECK(status.errors[0].text == "its worker 'slow' was silent for 2000 ms");
    CHECK(scene.log.count(LogLevel::warning, "silent") == 1);
    // The slow worker cannot change the job any more.
    CHECK(!hand.extend(job));
    CHECK(hand.settle(job).value() == Settlement::lease_lost);
    CHECK(hand.settle(job, {.kind = failed}).value() == Settlement::lease_lost);
    CHECK(hand.settle(job, {.kind = released}).value() == Settlement::lease_lost);
    CHECK(scene.queue() == QueueStatus{.pending = 1});
    CHECK(hand.settle(again).value() == Settlement::settled);
}

TEST_CASE("a settlement whose reply was lost is in doubt, even if the lease expires meanwhile") {
    for (const auto kind : {AttemptEnd::Kind::done, failed, released}) {
        JobScene scene;
        HandLeases hand{scene};
        scene.push("a", {.attempts_max = 1});
        const auto job = only_job(hand.lease({.worker = "w"}));
        scene.store.lose_replies<AckJob>(1);
        scene.store.lose_replies<FailJob>(1);
        scene.store.lose_replies<ReleaseJob>(1);
        const auto end = hand.settle(job, {.kind = kind});
        REQUIRE(!end);
        CHECK(end.error().code() == Errc::timed_out);
        // The repetition reports that the lease is over.
        CHECK(hand.settle(job, {.kind = kind}).value() == Settlement::lease_lost);
    }
}

TEST_CASE("leases of large jobs that expire at once end in chunks, and unexpired leases last") {
    JobScene scene;
    HandLeases hand{scene};
    for (int i = 0; i < 6; ++i) {
        CHECK(scene.jobs.push({"a", {i, std::string(1'000'000, 'x')}}));
    }
    REQUIRE(jobs_in(hand.lease({.limit = 100, .lease_time = Duration{2'000}})) == 4);
    const auto rest = hand.lease({.limit = 100, .lease_time = Duration{2'000}});
    REQUIRE(jobs_in(rest) == 2);
    scene.store.delay<FailJob>();
    hand.run_for(Duration{2'500});
    // A fifth job is due to end, but does not fit into the chunk.
    CHECK(scene.store.times_of<FailJob>().size() == 4);
    CHECK(scene.queue() == QueueStatus{.ready = 4, .pending = 2});
    CHECK(!hand.extend((*rest)->value()[0]));
    CHECK(hand.extend((*rest)->value()[1]));
    scene.store.release();
    hand.run();
    CHECK(scene.queue() == QueueStatus{.ready = 5, .pending = 1});
    hand.run_for(Duration{2'000});
    CHECK(scene.queue() == QueueStatus{.ready = 6});
    CHECK(scene.log.count(LogLevel::warning, "silent for 2000 ms") == 6);
}

TEST_CASE("very many leases that expire at once end within a few polls") {
    JobScene scene;
    HandLeases hand{scene};
    for (int i = 0; i < 1'100; ++i) scene.push(std::to_string(i));
    for (int i = 0; i < 11; ++i) {
        REQUIRE(jobs_in(hand.lease({.limit = 100, .lease_time = Duration{2'000}})) == 100);
    }
    scene.clock.advance(Duration{2'000});
    hand.runner.wake();
    hand.run();
    CHECK(scene.queue() == QueueStatus{.ready = 1'100});
}

TEST_CASE("the name of a worker cannot forge log lines") {
    JobScene scene;
    HandLeases hand{scene};
    scene.push("a");
    only_job(hand.lease({.worker = "w\n[error] \x1b[2J\x7f", .lease_time = Duration{2'000}}));
    hand.run_for(Duration{2'000});
    CHECK(scene.log.count(LogLevel::warning, "its worker 'w [error]  [2J ' was silent") == 1);
}

TEST_CASE("two workers with one name have separate leases") {
    JobScene scene;
    HandLeases hand{scene};
    scene.push("a");
    scene.push("b");
    const auto first = only_job(hand.lease({.worker = "twin", .lease_time = Duration{2'000}}));
    const auto second = only_job(hand.lease({.worker = "twin", .lease_time = Duration{9'000}}));
    CHECK(first.job.name != second.job.name);
    CHECK(hand.settle(first).value() == Settlement::settled);
    hand.run_for(Duration{8'000});
    CHECK(hand.extend(second));
}

TEST_CASE("a failed attempt counts, and the job runs again after the wait that its worker set") {
    JobScene scene;
    HandLeases hand{scene};
    const auto id = scene.push("a");
    const auto begin = scene.clock.now();
    auto job = only_job(hand.lease());
    CHECK(hand.settle(job, {.kind = failed, .error = "no\xff", .retry_after = Duration{5'000}})
              .value() == Settlement::settled);
    CHECK(scene.job(id).run_at == begin + Duration{5'000});
    CHECK(scene.job(id).errors.at(0).text == "no?");
    hand.run_for(Duration{5'000});
    job = only_job(hand.lease());
    CHECK(job.lease.attempt == 2);
    // Without a time the retry policy applies: 2 s after the second attempt, plus up to half of
    // that.
    const auto now = scene.clock.now();
    CHECK(hand.settle(job, {.kind = failed}).value() == Settlement::settled);
    CHECK(scene.job(id).run_at >= now + Duration{2'000});
    CHECK(scene.job(id).run_at <= now + Duration{3'000});
    hand.run_for(Duration{3'000});
    job = only_job(hand.lease());
    CHECK(hand.settle(job, {.kind = failed, .error = "worse", .bury = true}).value() ==
          Settlement::buried);
    CHECK(scene.queue() == QueueStatus{.buried = 1});
    CHECK(scene.log.count(LogLevel::info, "job 1 failed: worse") == 1);
    CHECK(scene.log.count(LogLevel::warning, "job 1 is BURIED") == 1);
}

TEST_CASE(
    "the retry policy limits the attempts of leased jobs, and how long a job may go on failing") {
    JobScene scene;
    HandLeases hand{scene,
                    {.retry = {.jitter = 0, .attempts_max = 3, .time_max = Duration{5'000}}}};
    const auto fail = [&] { return hand.settle(only_job(hand.lease()), {.kind = failed}).value(); };
    scene.push("too often");
    CHECK(fail() == Settlement::settled);
    hand.run_for(Duration{1'000});
    CHECK(fail() == Settlement::settled);
    hand.run_for(Duration{2'000});
    CHECK(fail() == Settlement::buried);
    scene.push("for too long");
    CHECK(fail() == Settlement::settled);
    hand.run_for(Duration{5'000});
    CHECK(fail() == Settlement::buried);
}

TEST_CASE("the attempt of a released lease does not count") {
    JobScene scene;
    HandLeases hand{scene};
    scene.push("a");
    auto job = only_job(hand.lease());
    CHECK(hand.settle(job, {.kind = released}).value() == Settlement::settled);
    job = only_job(hand.lease());
    CHECK(job.lease.attempt == 1);
    CHECK(hand.settle(job, {.kind = released, .retry_after = Duration{1'000}}).value() ==
          Settlement::settled);
    CHECK(scene.queue() == QueueStatus{.scheduled = 1});
}

TEST_CASE("a request for jobs waits until there is a job, or its wait is over") {
    JobScene scene;
    HandLeases hand{scene};
    CHECK(jobs_in(hand.lease()) == 0);
    const auto patient = hand.lease({.wait = Duration{30'000}});
    const auto hasty = hand.lease({.wait = Duration{500}});
    hand.run_for(Duration{499});
    CHECK(!hasty->has_value());
    hand.run_for(Duration{1});
    CHECK(jobs_in(hasty) == 0);
    scene.push("a", {.delay = Duration{10'000}});
    hand.run_for(Duration{9'999});
    CHECK(!patient->has_value());
    hand.run_for(Duration{1});
    CHECK(only_job(patient).job == Job{"a"});
}

TEST_CASE("a thousand requests for jobs wait, and each job wakes one request, in their order") {
    JobScene scene;
    HandLeases hand{scene};
    std::vector<Leased> waiting;
    for (int i = 0; i < 1'000; ++i) {
        waiting.push_back(hand.lease({.wait = Duration{30'000}, .lease_time = Duration{60'000}}));
    }
    const auto answered = [&] {
        return std::count_if(waiting.begin(), waiting.end(),
                             [](const auto& each) { return each->has_value(); });
    };
    CHECK(answered() == 0);
    scene.push("a");
    hand.run();
    CHECK(answered() == 1);
    CHECK(jobs_in(waiting[0]) == 1);
    for (const auto* name : {"b", "c", "d"}) scene.push(name);
    hand.run();
    CHECK(answered() == 4);
    CHECK(only_job(waiting[3]).job == Job{"d"});
    hand.run_for(Duration{30'000});
    CHECK(answered() == 1'000);
    CHECK(scene.queue() == QueueStatus{.pending = 4});
}

TEST_CASE("waiting requests for jobs cost the store only the heartbeats of one worker") {
    JobScene scene;
    HandLeases hand{scene, {.poll_interval = Duration{60'000}}};
    for (int i = 0; i < 100; ++i) hand.lease({.wait = Duration{30'000}});
    const auto questions = [&] { return scene.store.times_of<AcquireJobs>().size(); };
    const auto heartbeats = [&] { return scene.store.times_of<Heartbeat>().size(); };
    const auto asked = questions();
    const auto beaten = heartbeats();
    hand.run_for(Duration{10'000});
    CHECK(questions() == asked);
    CHECK(heartbeats() - beaten == 10);
}

TEST_CASE("a request gets the requested number of jobs, or all available jobs") {
    JobScene scene;
    HandLeases hand{scene};
    for (const auto* name : {"a", "b", "c", "d", "e"}) scene.push(name);
    const auto three = hand.lease({.limit = 3});
    CHECK(jobs_in(three) == 3);
    CHECK(jobs_in(hand.lease({.limit = 100})) == 2);
    CHECK((*three)->value().front().job == Job{"a"});
}

TEST_CASE("a request gets at most a chunk of large jobs, and the rest stays READY") {
    JobScene scene;
    HandLeases hand{scene};
    for (int i = 0; i < 6; ++i) {
        CHECK(scene.jobs.push({"a", {i, std::string(1'000'000, 'x')}}));
    }
    CHECK(jobs_in(hand.lease({.limit = 100})) == 4);
    CHECK(scene.queue() == QueueStatus{.ready = 2, .pending = 4});
    CHECK(jobs_in(hand.lease({.limit = 100})) == 2);
}

TEST_CASE("a disconnected client gets no job, and blocks no job") {
    JobScene scene;
    HandLeases hand{scene};
    const auto gone = std::make_shared<std::atomic<bool>>(false);
    const auto left = hand.lease({.limit = 2, .wait = Duration{30'000}, .gone = gone});
    const auto stays = hand.lease({.wait = Duration{30'000}});
    gone->store(true);
    scene.push("a");
    hand.run();
    CHECK(only_job(stays).lease.attempt == 1);
    CHECK(jobs_in(left) == 0);
    // The request of a client that is gone ends within a second, which frees its place.
    const auto also_left = hand.lease({.wait = Duration{30'000}, .gone = gone});
    hand.run_for(Duration{1'000});
    CHECK(also_left->has_value());
}

TEST_CASE("an attempt beyond its timeout fails, even if its lease is extended") {
    JobScene scene;
    HandLeases hand{scene};
    const auto id = scene.push("a", {.timeout = Duration{3'000}});
    const auto job = only_job(hand.lease({.lease_time = Duration{2'000}}));
    hand.run_for(Duration{1'500});
    CHECK(hand.extend(job)->until == scene.clock.now() + Duration{1'500});
    hand.run_for(Duration{1'499});
    CHECK(scene.queue().pending == 1);
    hand.run_for(Duration{1});
    CHECK(scene.queue() == QueueStatus{.scheduled = 1});
    CHECK(scene.job(id).errors.at(0).text == "timed out after 3000 ms");
    CHECK(hand.settle(job).value() == Settlement::lease_lost);
}

TEST_CASE("a worker learns from its heartbeat that its job was cancelled") {
    JobScene scene;
    HandLeases hand{scene};
    const auto id = scene.push("a");
    const auto job = only_job(hand.lease());
    CHECK(scene.jobs.cancel(id).value() == Cancellation::requested);
    hand.run_for(Duration{1'000});
    CHECK(hand.extend(job)->cancelled);
    CHECK(hand.settle(job, {.kind = failed}).value() == Settlement::settled);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("a lease settles only its own job, even if an equal job is leased") {
    JobScene scene;
    HandLeases here{scene};
    HandLeases there{scene};
    for (int i = 0; i < 2; ++i) scene.push("a", {.unique = Unique::off()});
    const auto leased = here.lease({.limit = 2});
    REQUIRE(jobs_in(leased) == 2);
    auto mixed = (*leased)->value().front();
    mixed.lease.fence = (*leased)->value().back().lease.fence;
    for (auto* leases : {&here, &there}) {
        for (const auto kind : {AttemptEnd::Kind::done, failed, released}) {
            CHECK(leases->settle(mixed, {.kind = kind}).value() == Settlement::lease_lost);
        }
    }
    CHECK(scene.queue() == QueueStatus{.pending = 2});
    for (const auto& job : (*leased)->value()) {
        CHECK(here.settle(job).value() == Settlement::settled);
    }
}

TEST_CASE("a settlement that fails in the store leaves the lease unchanged") {
    JobScene scene;
    HandLeases hand{scene};
    scene.push("a");
    const auto job = only_job(hand.lease({.lease_time = Duration{5'000}}));
    scene.store.refuse<AckJob>(1);
    const auto refused = hand.settle(job);
    REQUIRE(!refused);
    CHECK(refused.error().code() == Errc::unavailable);
    CHECK(hand.extend(job));
    CHECK(hand.settle(job).value() == Settlement::settled);
}

TEST_CASE("a request for jobs fails when the store fails, and the next requests are served") {
    JobScene scene;
    HandLeases hand{scene};
    scene.push("a");
    scene.store.refuse<AcquireJobs>(1);
    const auto refused = hand.lease({.wait = Duration{30'000}});
    REQUIRE(refused->has_value());
    REQUIRE(!refused->value());
    CHECK(refused->value().error().code() == Errc::unavailable);
    CHECK(jobs_in(hand.lease()) == 1);
}

TEST_CASE("a request for jobs waits only a bounded time for a store that does not reply") {
    JobScene scene;
    HandLeases hand{scene};
    scene.push("a");
    scene.store.delay<AcquireJobs>();
    const auto answer = hand.lease({.wait = Duration{2'000}});
    hand.run_for(Duration{6'999});
    CHECK(!answer->has_value());
    hand.run_for(Duration{1});
    REQUIRE(answer->has_value());
    CHECK(answer->value().error().code() == Errc::unavailable);
    // The job arrives after the end of the request, and stays READY for other requests.
    scene.store.release();
    hand.run();
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    CHECK(only_job(hand.lease()).lease.attempt == 1);
}

TEST_CASE("the numbers of waiting requests and of leases are limited") {
    JobScene scene;
    HandLeases hand{scene, {.waiting_max = 2, .leased_max = 1, .queues_max = 2}};
    const auto refusal = [&](LeaseRequest request) {
        const auto answer = hand.lease(std::move(request));
        REQUIRE(answer->has_value());
        REQUIRE(!answer->value());
        CHECK(answer->value().error().code() == Errc::unavailable);
        return answer->value().error().context();
    };
    const auto first = hand.lease({.wait = Duration{1'000}});
    const auto second = hand.lease({.queue = "other", .wait = Duration{1'000}});
    CHECK(refusal({.wait = Duration{1}}) == "too many requests wait for jobs");
    CHECK(jobs_in(hand.lease()) == 0);
    hand.run_for(Duration{1'000});
    CHECK(refusal({.queue = "third"}) == "too many queues are in use");
    scene.push("a");
    const auto job = only_job(hand.lease());
    CHECK(refusal({}) == "too many jobs are leased");
    CHECK(hand.settle(job).value() == Settlement::settled);
    // A queue without requests is left, and its worker is forgotten.
    hand.run_for(Duration{11'000});
    CHECK(jobs_in(hand.lease({.queue = "third"})) == 0);
}

TEST_CASE("requests for jobs that do not wait have a separate limit") {
    JobScene scene;
    HandLeases hand{scene, {.waiting_max = 2}};
    scene.push("a");
    const auto first = hand.lease({.queue = "other", .wait = Duration{30'000}});
    const auto second = hand.lease({.queue = "other", .wait = Duration{30'000}});
    CHECK(jobs_in(hand.lease()) == 1);
    CHECK(jobs_in(hand.lease({.queue = "other"})) == 0);
    // While the store does not reply, each request takes a place.
    scene.store.delay<AcquireJobs>();
    const auto third = hand.lease();
    const auto fourth = hand.lease();
    const auto refused = hand.lease();
    REQUIRE(refused->has_value());
    REQUIRE(!refused->value());
    CHECK(refused->value().error().context() == "too many requests wait for jobs");
    scene.store.release();
    hand.run();
    CHECK(jobs_in(third) == 0);
    CHECK(jobs_in(fourth) == 0);
    CHECK(jobs_in(hand.lease()) == 0);
    CHECK(!first->has_value());
}

TEST_CASE("the bytes of all leased jobs are limited") {
    JobScene scene;
    HandLeases hand{scene, {.leased_bytes_max = 1'000}};
    for (int i = 0; i < 2; ++i) CHECK(scene.jobs.push({"a", {i, std::string(1'000, 'x')}}));
    const auto job = only_job(hand.lease({.limit = 1}));
    const auto refused = hand.lease();
    REQUIRE(refused->has_value());
    REQUIRE(!refused->value());
    CHECK(refused->value().error().context() == "too many jobs are leased");
    CHECK(hand.settle(job).value() == Settlement::settled);
    CHECK(jobs_in(hand.lease()) == 1);
}

TEST_CASE("an invalid request for jobs is refused with the name of the field") {
    JobScene scene;
    HandLeases hand{scene};
    const auto problem = [&](LeaseRequest request) {
        const auto answer = hand.lease(std::move(request));
        REQUIRE(!answer->value());
        CHECK(answer->value().error().code() == Errc::invalid);
        return answer->value().error().context();
    };
    CHECK(problem({.queue = "main"}) == "queue: main is reserved for deliveries");
    CHECK(problem({.queue = "a:b"}).starts_with("queue: must be"));
    CHECK(problem({.limit = 0}) == "limit: must be from 1 to 100");
    CHECK(problem({.limit = 101}) == "limit: must be from 1 to 100");
    CHECK(problem({.wait = Duration{30'001}}) == "wait: must be from 0 to 30000 ms");
    CHECK(problem({.lease_time = Duration{999}}) == "lease_time: must be from 1000 to 3600000 ms");
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("stopping job leases ends waiting requests, and releases the leases") {
    JobScene scene;
    HandLeases hand{scene};
    scene.push("a");
    const auto job = only_job(hand.lease());
    const auto waiting = hand.lease({.wait = Duration{30'000}});
    hand.leases.drain();
    hand.run();
    REQUIRE(waiting->has_value());
    CHECK(waiting->value().error().code() == Errc::unavailable);
    CHECK(!hand.lease()->value());
    CHECK(hand.extend(job));
    hand.close();
    hand.run_for(Duration{1'000});
    CHECK(hand.leases.closed());
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    HandLeases next{scene};
    CHECK(only_job(next.lease()).lease.attempt == 1);
}

TEST_CASE("setting the clock back does not repeat the wait of a request for jobs") {
    JobScene scene;
    HandLeases hand{scene};
    scene.push("a");
    static_cast<void>(only_job(hand.lease({.lease_time = Duration{5'000}})));
    const auto waiting = hand.lease({.wait = Duration{20'000}});
    hand.run_for(Duration{1'000});
    scene.clock.advance(Duration{-3'600'000});
    hand.runner.wake();
    hand.run_for(Duration{5'000});
    CHECK(only_job(waiting).lease.attempt == 2);
}

TEST_CASE("an attempt times out even if the clock was set back") {
    JobScene scene;
    HandLeases hand{scene};
    const auto id = scene.push("a", {.timeout = Duration{5'000}});
    const auto job = only_job(hand.lease({.lease_time = Duration{2'000}}));
    hand.run_for(Duration{1'000});
    scene.clock.advance(Duration{-3'600'000});
    hand.runner.wake();
    for (int i = 0; i < 3; ++i) {
        hand.run_for(Duration{1'000});
        REQUIRE(hand.extend(job));
    }
    hand.run_for(Duration{1'000});
    CHECK(scene.job(id).errors.at(0).text == "timed out after 5000 ms");
}

TEST_CASE("a stall of its process does not expire a lease") {
    JobScene scene;
    HandLeases hand{scene};
    scene.push("a", {.timeout = Duration{20'000}});
    const auto job = only_job(hand.lease({.lease_time = Duration{5'000}}));
    hand.run_for(Duration{1'000});
    scene.clock.advance(Duration{60'000});
    hand.run();
    CHECK(scene.queue() == QueueStatus{.pending = 1});
    // The remaining time of the lease is the same as before.
    hand.run_for(Duration{3'999});
    CHECK(hand.extend(job));
    hand.run_for(Duration{5'000});
    CHECK(scene.queue() == QueueStatus{.ready = 1});
}

TEST_CASE("an undecodable job is BURIED instead of leased") {
    JobScene scene;
    HandLeases hand{scene};
    CHECK(perform(scene.memory, PushJob{"work", "\x01", scene.clock.now()}, scene.clock.now()));
    const auto answer = hand.lease({.wait = Duration{100}});
    hand.run_for(Duration{1'000});
    CHECK(jobs_in(answer) == 0);
    CHECK(scene.queue() == QueueStatus{.buried = 1});
}
