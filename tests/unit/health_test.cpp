#include "routemaster/health.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using namespace routemaster;

TEST_CASE("health stays within 0 and 100") {
    CHECK(changed_health(100, 1) == 100);
    CHECK(changed_health(100, -2) == 98);
    CHECK(changed_health(1, -2) == 0);
    CHECK(changed_health(0, 0) == 0);
    CHECK(changed_health(0, 1'000) == 100);
}

TEST_CASE("the backoff halves with every point of health, as in Ruby Routemaster") {
    const Duration longest{60'000};
    CHECK(health_backoff(0, longest) == Duration{60'000});
    CHECK(health_backoff(1, longest) == Duration{30'000});
    CHECK(health_backoff(2, longest) == Duration{15'000});
    CHECK(health_backoff(3, longest) == Duration{7'500});
    CHECK(health_backoff(10, longest) == Duration{59});
    CHECK(health_backoff(16, longest) == Duration{1});
    CHECK(health_backoff(17, longest) == Duration{0});
    CHECK(health_backoff(100, longest) == Duration{0});
    CHECK(health_backoff(0, Duration{600'000}) == Duration{600'000});
}

TEST_CASE(
    "the wait after a failure doubles until it reaches the backoff for the health, or the "
    "maximum") {
    const Duration longest{60'000};
    const auto wait = [&](int points, std::uint32_t attempt) {
        return retry_wait(points, attempt, longest, 0).count();
    };
    CHECK(wait(98, 1) == 100);
    CHECK(wait(96, 2) == 200);
    CHECK(wait(94, 3) == 400);
    CHECK(wait(82, 9) == 25'600);
    CHECK(wait(80, 10) == 51'200);
    CHECK(wait(78, 11) == 60'000);
    CHECK(wait(78, 4'000'000'000U) == 60'000);
    CHECK(wait(0, 1) == 60'000);
    CHECK(wait(4, 3) == 3'750);
    CHECK(wait(100, 0) == 100);
}

TEST_CASE("a short maximum limits the waits from the first attempt on") {
    CHECK(retry_wait(98, 1, Duration{40}, 0) == Duration{40});
    CHECK(retry_wait(0, 30, Duration{1}, 0) == Duration{1});
}

TEST_CASE("jitter lengthens a wait by up to half") {
    CHECK(retry_wait(100, 1, Duration{60'000}, 0.25) == Duration{125});
    CHECK(retry_wait(0, 1, Duration{60'000}, 0.4999) == Duration{89'994});
}

TEST_CASE("after a slow attempt, more retries are combined to one due time") {
    const auto due = [](std::int64_t wait, std::int64_t took) {
        return retry_time(TimePoint{Duration{1}}, Duration{wait}, Duration{took})
            .time_since_epoch()
            .count();
    };
    CHECK(due(100, 0) == 128);
    CHECK(due(100, 100) == 128);
    CHECK(due(100, 512) == 256);
    CHECK(due(100, 5'000) == 1'024);
    CHECK(due(5'000, 100) == 5'120);
    CHECK_MESSAGE(due(100, -5'000) == 128, "the clock was set back during the attempt");
    CHECK(due(100, std::numeric_limits<std::int64_t>::max()) == 1'024);
}

TEST_CASE("combining retries delays a retry by at most half of its wait plus a second") {
    const auto due = [](std::int64_t now, std::int64_t wait) {
        return retry_time(TimePoint{Duration{now}}, Duration{wait}).time_since_epoch().count();
    };
    CHECK(due(1'000'003, 0) == 1'000'003);
    CHECK(due(1'000'003, 3) == 1'000'006);
    CHECK(due(1'000'003, 4) == 1'000'008);
    CHECK(due(1'000'003, 100) == 1'000'128);
    CHECK(due(0, 128) == 128);
    CHECK(due(1, 2'047) == 2'048);
    CHECK(due(1, 2'048) == 3'072);
    CHECK(due(1, 90'000) == 90'112);
    CHECK(due(513, 90'000) == 91'136);
    CHECK(due(-1'000'003, 100) == -999'872);
}
