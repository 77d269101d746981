/// @file
/// When a dispatcher reports that deliveries are impossible.

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "support/delivery_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("an idle dispatcher is healthy") {
    DeliveryScene scene;
    CHECK(!scene.dispatcher.trouble());
    scene.run();
    scene.run_for(Duration{60'000});
    CHECK(!scene.dispatcher.trouble());
}

TEST_CASE(
    "a dispatcher is unhealthy when its store refuses acquisitions for 5 s, until one succeeds") {
    DeliveryScene scene;
    scene.run();
    scene.disturbed.refuse<AcquireJobs>(9);
    scene.run_for(Duration{1'000});
    scene.run_for(Duration{4'999});
    CHECK(!scene.dispatcher.trouble());
    scene.run_for(Duration{1});
    const auto trouble = scene.dispatcher.trouble();
    REQUIRE(trouble);
    CHECK(trouble->find("cannot acquire jobs: ") == 0);
    CHECK(trouble->find("disturbed: refused") != std::string::npos);
    scene.run_for(Duration{5'000});
    CHECK(!scene.dispatcher.trouble());
}

TEST_CASE("a dispatcher is unhealthy when its store does not reply for 5 s, until the reply") {
    // No other work makes the dispatcher poll at the instant of the report.
    DeliveryScene scene{
        {.heartbeat_interval = Duration{3'600'000}, .worker_silence = Duration{7'200'000}}};
    scene.disturbed.delay<AcquireJobs>();
    scene.run();
    scene.run_for(Duration{4'999});
    CHECK(!scene.dispatcher.trouble());
    scene.run_for(Duration{1});
    CHECK(scene.dispatcher.trouble() ==
          std::optional<std::string>{"cannot acquire jobs: the store does not reply"});
    scene.disturbed.release();
    scene.run();
    CHECK(!scene.dispatcher.trouble());
}

TEST_CASE("a dispatcher with all of its deliveries under way is healthy") {
    DeliveryScene scene{{.in_flight_max = 1}};
    scene.subscribe("billing");
    scene.publish();
    scene.run();
    scene.run_for(Duration{60'000});
    CHECK(scene.transport.under_way() == 1);
    CHECK(!scene.dispatcher.trouble());
}

TEST_CASE("an unhealthy transport makes its dispatcher unhealthy") {
    DeliveryScene scene;
    scene.run();
    scene.transport.set_trouble("no name server answers");
    CHECK(scene.dispatcher.trouble() == std::optional<std::string>{"no name server answers"});
    scene.transport.set_trouble({});
    CHECK(!scene.dispatcher.trouble());
}
