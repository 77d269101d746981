#include "routemaster/time.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/testing/manual_clock.hpp"

using namespace routemaster;

TEST_CASE("instants count milliseconds since the Unix epoch") {
    CHECK(to_milliseconds(TimePoint{}) == 0);
    CHECK(from_milliseconds(-5) < TimePoint{});
    for (const std::int64_t number : {std::int64_t{0}, std::int64_t{1'700'000'000'123},
                                      std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
        CHECK(to_milliseconds(from_milliseconds(number)) == number);
    }
}

TEST_CASE("adding a duration saturates at the first and last instants") {
    const auto at = from_milliseconds(1'000);
    CHECK(saturating_add(at, Duration{5}) == from_milliseconds(1'005));
    CHECK(saturating_add(at, Duration{-5}) == from_milliseconds(995));
    CHECK(saturating_add(at, Duration{0}) == at);
    CHECK(saturating_add(at, Duration::max()) == never);
    CHECK(saturating_add(never, Duration{1}) == never);
    CHECK(saturating_add(never, Duration{0}) == never);
    CHECK(saturating_add(never - Duration{3}, Duration{3}) == never);
    CHECK(saturating_add(never - Duration{3}, Duration{2}) == never - Duration{1});
    CHECK(saturating_add(TimePoint::min(), Duration{-1}) == TimePoint::min());
    CHECK(saturating_add(from_milliseconds(-1'000), Duration::min()) == TimePoint::min());
    CHECK(saturating_add(TimePoint::min(), Duration::max()) == from_milliseconds(-1));
}

TEST_CASE("a manual clock changes only when the test changes it") {
    testing::ManualClock clock{from_milliseconds(100)};
    const Clock& as_clock = clock;
    CHECK(as_clock.now() == from_milliseconds(100));
    CHECK(as_clock.now() == from_milliseconds(100));
    clock.advance(Duration{50});
    CHECK(as_clock.now() == from_milliseconds(150));
    clock.advance(Duration{-10});
    CHECK(as_clock.now() == from_milliseconds(140));
    clock.set(from_milliseconds(7));
    CHECK(as_clock.now() == from_milliseconds(7));
    CHECK(testing::ManualClock{}.now() != TimePoint{});
}

TEST_CASE("concurrent advances of a manual clock are all counted") {
    testing::ManualClock clock{TimePoint{}};
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 1'000; ++i) clock.advance(Duration{1});
            });
        }
    }
    CHECK(clock.now() == from_milliseconds(4'000));
}

TEST_CASE(
    "the system clock returns a plausible instant, and does not run backwards during the test") {
    const auto before = system_clock().now();
    CHECK(before > from_milliseconds(1'700'000'000'000));
    CHECK(system_clock().now() >= before);
}
