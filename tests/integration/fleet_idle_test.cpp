/// @file
/// The commands that idle processes send to their Redis server.

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "support/redis_server.hpp"
#include "support/running_fleet.hpp"

using namespace routemaster;

namespace {

/// The number of commands that arrived over connections, without commands called by scripts.
std::int64_t commands(const test::RedisServer& redis) {
    const auto stats = redis.command({"INFO", "commandstats"}).text;
    std::int64_t sum = 0;
    for (const auto* name : {"evalsha", "eval", "time", "ping", "subscribe", "auth", "select"}) {
        const auto line = test::redis_info(stats, std::string{"cmdstat_"} + name);
        const std::string beginning = "calls=";
        if (line.starts_with(beginning)) sum += std::stoll(line.substr(beginning.size()));
    }
    return sum;
}

}  // namespace

TEST_CASE("an idle process sends Redis no more than five commands a second") {
    const test::RedisServer redis;
    const test::RunningWeb web{redis.url()};
    test::RunningWorker workers[2]{test::RunningWorker{redis.url()},
                                   test::RunningWorker{redis.url()}};
    constexpr std::chrono::seconds span{4};
    std::this_thread::sleep_for(std::chrono::seconds{1});
    const auto before = commands(redis);
    std::this_thread::sleep_for(span);
    const auto count = commands(redis) - before;
    MESSAGE(count, " commands of three processes in ", span.count(), " s");
    CHECK(count <= 3 * 5 * span.count());
    // The workers must send heartbeats; otherwise the test would measure nothing.
    CHECK(count >= 2 * span.count() / 2);
    for (auto& worker : workers) CHECK(worker.stop() == 0);
}
