/// @file
/// The reply to a remote worker that extends its lease, while it is unknown whether the lease is
/// lost.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

#include "routemaster/job_leases.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"
#include "support/hand_leases.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A process that stalled with a leased job. Either the lease was lost meanwhile, or not.
struct StoodStill {
    explicit StoodStill(bool is_lost) {
        scene.push("a");
        job = only_job(hand.lease({.lease_time = Duration{60'000}}));
        std::uint64_t released = 0;
        for (int second = 0; second < 10; ++second) {
            scene.clock.advance(Duration{1'000});
            if (is_lost) released += look_for_dead();
        }
        CHECK(released == (is_lost ? 1 : 0));
    }

    std::uint64_t look_for_dead() {
        return perform(scene.memory, ScrubWorkers{Duration{3'500}}, scene.clock.now())->jobs;
    }

    JobScene scene;
    HandLeases hand{scene};
    LeasedJob job{};
};

}  // namespace

TEST_CASE("a lease that was lost while its process stalled is never extended") {
    StoodStill process{true};
    process.scene.store.delay<AcquireJobs>();
    SUBCASE("the heartbeat gets its reply before the query for lost leases") {}
    SUBCASE(
        "neither the heartbeat nor the query gets its reply in "
        "time") {
        process.scene.store.delay<Heartbeat>();
    }
    const auto answer = process.hand.ask_to_extend(process.job);
    process.hand.run_for(Duration{900});
    CHECK(!answer->has_value());
    process.scene.store.release();
    process.hand.run();
    REQUIRE(answer->has_value());
    CHECK(!answer->value().value());
    CHECK(process.scene.log.count(LogLevel::warning, "lost the lease of job") == 1);
}

TEST_CASE("after a stall a lease is extended when the store confirms the lease") {
    StoodStill process{false};
    process.scene.store.delay<AcquireJobs>();
    const auto answer = process.hand.ask_to_extend(process.job, Duration{30'000});
    CHECK(!answer->has_value());
    const auto until = process.scene.clock.now() + Duration{30'000};
    process.hand.run_for(Duration{500});
    process.scene.store.release();
    process.hand.run();
    REQUIRE(answer->has_value());
    REQUIRE(answer->value().value());
    CHECK(answer->value().value()->until == until);
}

TEST_CASE(
    "a lease extension waits a bounded time for an unreachable store, and then takes effect") {
    JobScene scene;
    HandLeases hand{scene};
    scene.push("a");
    const auto job = only_job(hand.lease({.lease_time = Duration{10'000}}));
    scene.store.refuse<Heartbeat>(1'000);
    hand.run_for(Duration{1'900});
    CHECK(hand.extend(job));
    hand.run_for(Duration{1'100});
    const auto answer = hand.ask_to_extend(job);
    hand.run_for(Duration{4'999});
    CHECK(!answer->has_value());
    hand.run_for(Duration{1});
    REQUIRE(answer->has_value());
    CHECK(answer->value().error().code() == Errc::unavailable);
    scene.store.accept<Heartbeat>();
    hand.run_for(Duration{1'500});
    CHECK(hand.extend(job));
}

TEST_CASE("a lease extension that waits at the end of its process is refused") {
    StoodStill process{false};
    process.scene.store.delay<AcquireJobs>();
    const auto answer = process.hand.ask_to_extend(process.job);
    CHECK(!answer->has_value());
    process.hand.close();
    REQUIRE(answer->has_value());
    CHECK(!answer->value().value());
    process.scene.store.release();
    process.hand.run();
}
