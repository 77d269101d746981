// Dead workers are found even if no client asks for jobs.

#include <doctest/doctest.h>

#include <string>

#include "routemaster/job_leases.hpp"
#include "routemaster/store/step.hpp"
#include "support/hand_leases.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A process with a lease of a job, and a process without requests.
struct TwoProcesses {
    TwoProcesses() {
        scene.push("a");
        only_job(busy.lease({.lease_time = Duration{600'000}}));
        idle.run();
    }

    /// Kills the first process, and lets the second run.
    void die(Duration span) { idle.run_for(span); }

    /// Lets both processes run.
    void live(Duration span) {
        for (auto left = span; left > Duration{0}; left -= Duration{500}) {
            busy.run();
            idle.run_for(Duration{500});
        }
    }

    [[nodiscard]] bool handed_on() const { return scene.queue() == QueueStatus{.ready = 1}; }

    JobScene scene;
    HandLeases busy{scene};
    HandLeases idle{scene};
};

}  // namespace

TEST_CASE("a job of a dead process is READY within 5 s, even without further requests for jobs") {
    TwoProcesses two;
    two.live(Duration{20'000});
    CHECK(!two.handed_on());
    two.die(Duration{2'400});
    CHECK(!two.handed_on());
    two.die(Duration{2'600});
    CHECK(two.handed_on());
    CHECK(two.scene.log.count(LogLevel::warning, "requeued jobs of dead workers") == 1);
    CHECK(two.idle.lease()->has_value());
}

TEST_CASE("a process without requests for jobs still finds dead workers") {
    TwoProcesses two;
    two.idle.lease({.queue = "other"});
    two.live(Duration{20'000});
    two.die(Duration{5'000});
    CHECK(two.handed_on());
}

TEST_CASE("after all processes stalled at once, no process is declared dead") {
    TwoProcesses two;
    two.live(Duration{5'000});
    two.scene.clock.advance(Duration{60'000});
    two.idle.run();
    CHECK(!two.handed_on());
    two.live(Duration{20'000});
    CHECK(!two.handed_on());
}

TEST_CASE("after all processes stalled twice in a row, no process is declared dead") {
    TwoProcesses two;
    two.live(Duration{5'000});
    for (int i = 0; i < 2; ++i) {
        two.scene.clock.advance(Duration{4'000});
        two.idle.run();
        two.live(Duration{2'000});
    }
    CHECK(!two.handed_on());
    SUBCASE("a process that is always late still finds dead workers") {
        for (int i = 0; i < 4; ++i) {
            two.scene.clock.advance(Duration{4'000});
            two.idle.run();
        }
        CHECK(two.handed_on());
    }
}

TEST_CASE("after an outage of the store, an idle process declares no process dead") {
    TwoProcesses two;
    two.live(Duration{5'000});
    two.scene.store.refuse<Heartbeat>(60);
    two.scene.store.delay<ScrubWorkers>();
    two.live(Duration{60'000});
    two.scene.store.accept<Heartbeat>();
    two.scene.store.release();
    two.idle.run();
    CHECK(!two.handed_on());
    two.live(Duration{20'000});
    CHECK(!two.handed_on());

    two.scene.store.refuse<Heartbeat>(1'000);
    two.scene.store.refuse<ScrubWorkers>(1'000);
    two.live(Duration{30'000});
    two.scene.store.accept<Heartbeat>();
    two.scene.store.accept<ScrubWorkers>();
    two.live(Duration{20'000});
    CHECK(!two.handed_on());
}

TEST_CASE("all dead workers are found without a pause, even with very many jobs") {
    JobScene scene;
    HandLeases busy{scene};
    HandLeases idle{scene};
    for (int i = 0; i < 1'100; ++i) scene.push(std::to_string(i));
    for (int i = 0; i < 11; ++i) busy.lease({.limit = 100, .lease_time = Duration{600'000}});
    idle.run_for(Duration{3'499});
    CHECK(scene.queue().pending == 1'100);
    idle.run_for(Duration{1'000});
    CHECK(scene.queue() == QueueStatus{.ready = 1'100});
}

TEST_CASE(
    "if a process runs a worker that searches for dead workers, its job leases do not search") {
    JobScene scene;
    HandLeases hand{scene, {.finds_dead = false}};
    hand.run_for(Duration{60'000});
    CHECK(hand.runner.next() == never);
    CHECK(scene.store.times_of<ScrubWorkers>().empty());
}

TEST_CASE("a process that ends stops searching for dead workers") {
    JobScene scene;
    HandLeases hand{scene};
    hand.run_for(Duration{10'000});
    const auto looks = scene.store.times_of<ScrubWorkers>().size();
    CHECK(looks == 10);
    hand.close();
    hand.run_for(Duration{10'000});
    CHECK(scene.store.times_of<ScrubWorkers>().size() == looks);
}
