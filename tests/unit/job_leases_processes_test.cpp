/// @file
/// Leases of jobs given by one process and settled by another, on a manual clock.

#include <doctest/doctest.h>

#include <optional>

#include "routemaster/job_leases.hpp"
#include "support/hand_leases.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("leases stay valid while their process lives, and end within 5 s of its death") {
    JobScene scene;
    scene.push("a");
    HandLeases other{scene};
    std::optional<LeasedJob> job;
    {
        HandLeases dying{scene};
        job = only_job(dying.lease({.lease_time = Duration{60'000}}));
        const auto waiting = other.lease({.wait = Duration{30'000}});
        for (int i = 0; i < 20; ++i) {
            dying.run_for(Duration{500});
            other.run();
        }
        CHECK(!waiting->has_value());
        other.run_for(Duration{5'000});
        CHECK(only_job(waiting).lease.attempt == 2);
        CHECK(scene.log.count(LogLevel::warning, "requeued jobs of dead workers") == 1);
        // A process that only stalled finds its leases lost.
        dying.run_for(Duration{2'000});
        CHECK(!dying.extend(*job));
        CHECK(dying.settle(*job).value() == Settlement::lease_lost);
        CHECK(scene.log.count(LogLevel::warning, "lost the lease of job") == 1);
        CHECK(scene.log.count(LogLevel::warning,
                              "because this process sent no heartbeat for too long") == 1);
    }
    CHECK(scene.queue() == QueueStatus{.pending = 1});
}

TEST_CASE("another process can settle a lease, but cannot extend it") {
    JobScene scene;
    HandLeases here{scene};
    HandLeases there{scene};
    const auto id = scene.push("a");
    auto job = only_job(here.lease());
    CHECK(!there.extend(job));
    auto forged = job;
    forged.lease.fence += 1;
    CHECK(there.settle(forged).value() == Settlement::lease_lost);
    CHECK(
        there.settle(job, {.kind = AttemptEnd::Kind::failed, .retry_after = Duration{0}}).value() ==
        Settlement::settled);
    CHECK(scene.job(id).errors.size() == 1);
    job = only_job(there.lease());
    CHECK(here.settle(job).value() == Settlement::settled);
    CHECK(scene.queue() == QueueStatus{});
    here.run_for(Duration{60'000});
    CHECK(scene.log.count(LogLevel::warning, "BURIED") == 0);
}

TEST_CASE("a failure that another process reports has the attempt number of the lease") {
    JobScene scene;
    const JobLeasesOptions options{.retry = {.jitter = 0, .attempts_max = 4}};
    HandLeases here{scene, options};
    HandLeases there{scene, options};
    const auto id = scene.push("a");
    for (const auto wait : {Duration{1'000}, Duration{2'000}, Duration{4'000}}) {
        const auto job = only_job(here.lease());
        CHECK(there.settle(job, {.kind = AttemptEnd::Kind::failed}).value() == Settlement::settled);
        CHECK(scene.job(id).run_at == scene.clock.now() + wait);
        CHECK(scene.job(id).errors.back().attempt == job.lease.attempt);
        here.run_for(wait);
    }
    const auto last = only_job(here.lease());
    CHECK(last.lease.attempt == 4);
    CHECK(there.settle(last, {.kind = AttemptEnd::Kind::failed}).value() == Settlement::buried);
    CHECK(scene.job(id).state == JobStatus::State::buried);
}

TEST_CASE(
    "a job is BURIED after its own attempts_max, even if another process reports the failures") {
    JobScene scene;
    HandLeases here{scene};
    HandLeases there{scene};
    const auto id = scene.push("a", {.attempts_max = 3});
    const auto fail = [&] {
        const AttemptEnd end{.kind = AttemptEnd::Kind::failed, .retry_after = Duration{0}};
        return there.settle(only_job(here.lease()), end).value();
    };
    CHECK(fail() == Settlement::settled);
    CHECK(fail() == Settlement::settled);
    CHECK(fail() == Settlement::buried);
    CHECK(scene.job(id).attempts == 3);
}
