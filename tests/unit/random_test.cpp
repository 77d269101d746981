#include "routemaster/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

using namespace routemaster;

TEST_CASE("the random generator returns the numbers of SplitMix64") {
    // The first outputs of Vigna's splitmix64.c for the seed 1234567.
    Random random{1'234'567};
    for (const std::uint64_t expected :
         {6457827717110365317U, 3203168211198807973U, 9817491932198370423U, 4593380528125082431U,
          16408922859458223821U}) {
        CHECK(random.next() == expected);
    }
}

TEST_CASE("generators with an equal seed return equal numbers, even at compile time") {
    constexpr auto tenth = [] {
        Random random{99};
        std::uint64_t number = 0;
        for (int i = 0; i < 10; ++i) number = random.next();
        return number;
    }();
    Random random{99};
    for (int i = 0; i < 9; ++i) static_cast<void>(random.next());
    CHECK(random.next() == tenth);
}

TEST_CASE("random numbers below a bound stay below the bound, and reach each number") {
    Random random{5};
    std::array<int, 7> seen{};
    for (int i = 0; i < 7'000; ++i) {
        const auto number = random.below(7);
        REQUIRE(number < 7);
        ++seen[number];
    }
    for (const int count : seen) {
        CHECK(count > 850);
        CHECK(count < 1'150);
    }
    CHECK(random.below(1) == 0);
}

TEST_CASE("random units are at least 0, below 1 and evenly spread") {
    Random random{6};
    double sum = 0;
    for (int i = 0; i < 10'000; ++i) {
        const double unit = random.unit();
        REQUIRE(unit >= 0.0);
        REQUIRE(unit < 1.0);
        sum += unit;
    }
    CHECK(sum / 10'000 == doctest::Approx(0.5).epsilon(0.02));
}
