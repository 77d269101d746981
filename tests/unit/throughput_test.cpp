/// @file
/// Throughput of queues, in cases that the conformance suite does not cover.

#include "core/jobs/state/throughput.hpp"

#include <doctest/doctest.h>

#include <string>

#include "routemaster/time.hpp"

using namespace routemaster;
using detail::Throughput;
using detail::ThroughputTable;

namespace {

constexpr auto done = &QueueCounts::done;
constexpr TimePoint full_hour = from_milliseconds(1'795'222'800'000);  // The beginning of an hour.
constexpr Duration minute{60'000};
constexpr Duration hour{3'600'000};

}  // namespace

TEST_CASE("after the clock was set back, ended jobs count in earlier minutes, and none is lost") {
    Throughput throughput;
    throughput.count(done, full_hour);
    throughput.count(done, full_hour - minute * 3);
    throughput.count(done, full_hour);
    const auto at = throughput.at(full_hour);
    REQUIRE(at.minutes.size() == 2);
    CHECK(at.minutes[0] == QueueCountsAt{full_hour - minute * 3, {.done = 1}});
    CHECK(at.minutes[1] == QueueCountsAt{full_hour, {.done = 2}});
    CHECK(throughput.at(full_hour - minute * 3).minutes.size() == 1);
    throughput.count(done, full_hour - hour * 100);
    CHECK(throughput.at(full_hour).hours.size() == 2);
}

TEST_CASE("the throughput of minutes before 1970 is counted, too") {
    Throughput throughput;
    throughput.count(done, from_milliseconds(-1));
    throughput.count(done, from_milliseconds(0));
    const auto at = throughput.at(from_milliseconds(1));
    REQUIRE(at.minutes.size() == 2);
    CHECK(at.minutes[0].from == from_milliseconds(-60'000));
    CHECK(at.hours.size() == 2);
}

TEST_CASE("the throughput of a queue in which no job ended for a day uses no memory") {
    ThroughputTable table;
    for (int n = 0; n < 1'000; ++n) table.count("queue " + std::to_string(n), done, full_hour);
    CHECK(table.size() == 1'000);
    table.count("another", done, full_hour + hour * 23);
    CHECK(table.size() == 1'001);
    table.count("yet another", done, full_hour + hour * 25);
    CHECK(table.size() == 2);
    CHECK(table.at("another", full_hour + hour * 25).hours.size() == 1);
    CHECK(table.at("queue 7", full_hour + hour * 25) == QueueThroughput{});
}

TEST_CASE("the throughput of a queue stores only the reported hours and minutes") {
    Throughput throughput;
    for (int n = 0; n < 60 * 48; ++n) throughput.count(done, full_hour + minute * n);
    const auto at = throughput.at(full_hour + minute * (60 * 48 - 1));
    CHECK(at.minutes.size() == 60);
    CHECK(at.hours.size() == 24);
    CHECK(at.hours.front().counts.done == 60);
}
