#include "api/limited_reads.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

using routemaster::api::LimitedReads;

TEST_CASE("the number of concurrent reads is limited, and later reads wait in their order") {
    const auto reads = std::make_shared<LimitedReads>(2);
    std::vector<int> begun;
    std::vector<LimitedReads::Place> places;
    for (int i = 0; i < 5; ++i) {
        reads->begin([&, i](LimitedReads::Place place) {
            begun.push_back(i);
            places.push_back(std::move(place));
        });
    }
    CHECK(begun == std::vector<int>{0, 1});
    const auto end = [&](std::size_t number) { std::exchange(places[number], {}).reset(); };
    end(1);
    CHECK(begun == std::vector<int>{0, 1, 2});
    end(0);
    end(2);
    CHECK(begun == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("reads that end at once use no stack, even for many waiting reads") {
    const auto reads = std::make_shared<LimitedReads>(1);
    int ended = 0;
    LimitedReads::Place first;
    reads->begin([&](LimitedReads::Place place) { first = std::move(place); });
    for (int i = 0; i < 100'000; ++i) reads->begin([&](const auto&) { ++ended; });
    CHECK(ended == 0);
    first.reset();
    CHECK(ended == 100'000);
}

TEST_CASE("a read that throws releases its place in the limit") {
    const auto reads = std::make_shared<LimitedReads>(1);
    bool begun = false;
    reads->begin([](const auto&) { throw std::runtime_error{"no memory"}; });
    reads->begin([&](const auto&) { begun = true; });
    CHECK(begun);
}

TEST_CASE("running reads may outlive the limiter of reads, and waiting reads are dropped") {
    auto reads = std::make_shared<LimitedReads>(1);
    LimitedReads::Place place;
    bool begun = false;
    reads->begin([&](LimitedReads::Place given) { place = std::move(given); });
    reads->begin([&](const auto&) { begun = true; });
    reads->close();
    reads.reset();
    place.reset();
    CHECK(!begun);
}
