/// @file
/// The end of processes that share a Redis server.

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <string>

#include "support/batch_receiver.hpp"
#include "support/redis_server.hpp"
#include "support/running_fleet.hpp"

using namespace routemaster;
using test::RunningWeb;
using test::RunningWorker;

namespace {

const std::string sent_url = "https://shop.example/orders/1";

/// The time from SIGTERM until a process ends.
std::chrono::milliseconds time_to_end(test::Process& process, int status) {
    const auto began = std::chrono::steady_clock::now();
    process.signal(SIGTERM);
    CHECK(process.wait() == status);
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 began);
}

/// A second, plus a margin for a busy machine, on which 2.9 s were measured.
constexpr std::chrono::milliseconds in_time{4'000};

}  // namespace

TEST_CASE("a request under way gets its response while a web process stops") {
    test::RedisServer redis;
    RunningWeb web{redis.url()};
    test::HttpClient client{web.port()};
    redis.pause();
    client.request("POST", "/topics/orders", RunningWeb::event_json(sent_url),
                   test::authorization("shop"));
    // The request is at the server, or on its way through the web process.
    ::usleep(50'000);
    web.process().signal(SIGTERM);
    REQUIRE(web.process().await_error("INFO: stopping\n"));
    redis.resume();
    CHECK(client.receive().status == 200);
    CHECK(web.process().wait() == 0);
    CHECK(web.process().errors().find("INFO: stopped\n") != std::string::npos);
    CHECK(redis.command({"HGET", "topic:orders", "counter"}).text == "1");
}

TEST_CASE("a process whose store does not reply ends within a second") {
    test::RedisServer redis;
    RunningWeb web{redis.url()};
    RunningWorker worker{redis.url(), {"--metrics", "none"}};
    SUBCASE("the store is unreachable") { redis.kill(); }
    SUBCASE("the store does not reply") { redis.pause(); }
    test::HttpClient client{web.port()};
    client.request("POST", "/topics/orders", RunningWeb::event_json(sent_url),
                   test::authorization("shop"));
    ::usleep(50'000);
    CHECK(time_to_end(worker.process(), 0) < in_time);
    CHECK(time_to_end(web.process(), 0) < in_time);
    for (const auto& log : {worker.process().errors(), web.process().errors()}) {
        CHECK(log.find("WARN: stopped without the store") != std::string::npos);
    }
}

TEST_CASE("a process that waits for its store at the start can be stopped at once") {
    test::RedisServer redis;
    redis.pause();
    test::Process process{{test::worker_binary, "--store", redis.url() + "/?timeout=20000"}};
    // Long enough for the process to wait for its store, which it does not log.
    ::usleep(300'000);
    CHECK(time_to_end(process, 128 + SIGTERM) < in_time);
    CHECK(process.errors().find("INFO: stopped before it had started\n") != std::string::npos);
}
