/// @file
/// Wake-ups followed or ignored by a dispatcher.

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "support/delivery_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A slow dispatcher beside a fast one. A job that wakes both goes to the fast one.
struct RivalScene : DeliveryScene {
    RivalScene() : DeliveryScene{{.poll_interval = Duration{3'600'000}}} {
        subscribe("billing", {.max_events = 1, .max_in_flight = 1'000});
        run();
        rival.run(clock.now());
    }

    /// The number of acquisitions by the slow dispatcher.
    [[nodiscard]] std::size_t looks() { return disturbed.times_of<AcquireJobs>().size(); }

    /// Publishes an event that the fast dispatcher gets. Returns the number of acquisitions by the
    /// slow one.
    std::size_t lose() {
        const auto before = looks();
        publish();
        rival.run(clock.now());
        run();
        return looks() - before;
    }

    Dispatcher faster{store, complete({})};
    HandRunner rival{faster};
};

}  // namespace

TEST_CASE("an event is delivered at once while other deliveries fail") {
    DeliveryScene scene{{.poll_interval = Duration{3'600'000}}};
    for (int n = 0; n < 20; ++n) {
        scene.subscribe("failing-" + std::to_string(n), {.max_events = 1});
    }
    scene.publish();
    scene.run();
    scene.subscribe("billing", {.max_events = 1});
    for (std::size_t order = 1; order <= 20; ++order) {
        scene.transport.answer(refusal());
        scene.run();
        scene.publish();
        scene.run();
        const auto all = scene.transport.deliveries();
        REQUIRE(all.size() == 20 + order);
        CHECK(all.back().subscriber == "billing");
        scene.transport.answer_last({});
        scene.run();
    }
}

TEST_CASE("after several wake-ups without a job, a dispatcher ignores wake-ups for 20 ms") {
    RivalScene scene;
    for (int n = 0; n < 4; ++n) CHECK(scene.lose() == 1);
    for (int n = 0; n < 3; ++n) CHECK(scene.lose() == 0);
    const auto before = scene.looks();
    scene.run_for(Duration{19});
    CHECK(scene.looks() == before);
    scene.run_for(Duration{1});
    CHECK(scene.looks() == before + 1);
}

TEST_CASE("a dispatcher that acquires a job again stops ignoring wake-ups") {
    RivalScene scene;
    for (int round = 0; round < 3; ++round) {
        for (int n = 0; n < 3; ++n) CHECK(scene.lose() == 1);
        const auto begun = scene.deliveries();
        scene.publish();
        scene.run();
        CHECK(scene.deliveries() == begun + 1);
    }
}
