#include "core/jobs/work/pool/prefetch.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace routemaster;
using detail::Prefetch;

namespace {

constexpr TimePoint start = from_milliseconds(1'700'000'000'000);
constexpr TimePoint at(std::int64_t milliseconds) { return start + Duration{milliseconds}; }

}  // namespace

TEST_CASE("as many jobs are fetched ahead as ended in the last two time windows, up to a maximum") {
    Prefetch prefetch{100};
    CHECK(prefetch.jobs() == 0);
    prefetch.ended(at(0), 30);
    CHECK(prefetch.jobs() == 30);
    prefetch.ended(at(10), 50);
    CHECK(prefetch.jobs() == 80);
    prefetch.ended(at(15), 50);
    CHECK(prefetch.jobs() == 100);
    prefetch.ended(at(20), 1);
    CHECK(prefetch.jobs() == 100);
    prefetch.ended(at(30), 0);
    CHECK(prefetch.jobs() == 1);
    prefetch.ended(at(60), 0);
    CHECK(prefetch.jobs() == 0);
}

TEST_CASE("no job is fetched ahead for two time windows after a retried job") {
    Prefetch prefetch{100};
    prefetch.ended(at(0), 30);
    prefetch.came_again(at(5));
    CHECK(prefetch.jobs() == 0);
    prefetch.ended(at(24), 30);
    CHECK(prefetch.jobs() == 0);
    prefetch.ended(at(25), 30);
    CHECK(prefetch.jobs() == 30);
}

TEST_CASE("jobs are fetched ahead again even if the clock was set back after a retried job") {
    Prefetch prefetch{100};
    prefetch.came_again(at(60'000));
    prefetch.ended(at(0), 30);
    CHECK(prefetch.jobs() == 30);
}
