/// @file
/// When a dispatcher follows wake-ups, and when it does not.

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "support/delivery_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("an event goes out at once while others fail") {
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

TEST_CASE("who is woken in vain time and again rests for 20 ms") {
    DeliveryScene scene{{.poll_interval = Duration{3'600'000}}};
    scene.subscribe("billing", {.max_events = 1, .max_in_flight = 1'000});
    scene.run();
    Dispatcher faster{scene.store, scene.complete({})};
    HandRunner rival{faster};
    const auto looks = [&] { return scene.disturbed.times_of<AcquireJobs>().size(); };
    const auto lose = [&] {
        const auto before = looks();
        scene.publish();
        rival.run(scene.clock.now());
        scene.run();
        return looks() - before;
    };
    rival.run(scene.clock.now());
    for (int n = 0; n < 4; ++n) CHECK(lose() == 1);
    for (int n = 0; n < 3; ++n) CHECK(lose() == 0);
    scene.run_for(Duration{19});
    CHECK(lose() == 0);
    scene.run_for(Duration{1});
    CHECK(lose() == 0);
}

TEST_CASE("who wins a job between is not woken in vain time and again") {
    DeliveryScene scene{{.poll_interval = Duration{3'600'000}}};
    scene.subscribe("billing", {.max_events = 1, .max_in_flight = 1'000});
    scene.run();
    Dispatcher faster{scene.store, scene.complete({})};
    HandRunner rival{faster};
    rival.run(scene.clock.now());
    for (int round = 0; round < 3; ++round) {
        for (int n = 0; n < 3; ++n) {
            const auto before = scene.disturbed.times_of<AcquireJobs>().size();
            scene.publish();
            rival.run(scene.clock.now());
            scene.run();
            CHECK(scene.disturbed.times_of<AcquireJobs>().size() == before + 1);
        }
        const auto begun = scene.deliveries();
        scene.publish();
        scene.run();
        CHECK(scene.deliveries() == begun + 1);
    }
}
