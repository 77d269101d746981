// The link's estimate of the server's clock.

#include "redis/server_clock.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>

#include "link_scene.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_gate.hpp"

using namespace routemaster;
using namespace routemaster::test;
using namespace std::chrono_literals;

namespace {

using redis::ServerClock;

/// The start of the machine in these tests.
constexpr ServerClock::Microseconds boot{1'700'000'000'000'000};

/// Shifts the times in replies to TIME.
std::function<void(std::string&)> set_clock(Duration by) {
    return [by](std::string& bytes) {
        const auto at = bytes.find("*2\r\n$10\r\n");
        if (at == std::string::npos) return;
        std::istringstream reply{bytes.substr(at)};
        std::string ignored;
        std::int64_t seconds = 0;
        std::int64_t rest = 0;
        reply >> ignored >> ignored >> seconds >> ignored >> rest;
        const auto length = static_cast<std::size_t>(reply.tellg()) + 2;
        const auto changed = seconds * 1'000'000 + rest + by.count() * 1'000;
        const auto micros = std::to_string(changed % 1'000'000);
        bytes.replace(at, length,
                      "*2\r\n$10\r\n" + std::to_string(changed / 1'000'000) + "\r\n$" +
                          std::to_string(micros.size()) + "\r\n" + micros + "\r\n");
    };
}

}  // namespace

TEST_CASE("server clock: the local time is used until the first measurement") {
    const ServerClock clock;
    CHECK(clock.offset(5s, boot + 99s) == 0ms);
    CHECK(clock.offset() == 0ms);
}

TEST_CASE(
    "server clock: the offset is the server's time minus the local time in the middle of a round "
    "trip") {
    ServerClock clock;
    clock.measured(10'000ms, 10'020ms, boot + 10'010ms + 3s);
    CHECK(clock.offset(10'020ms, boot + 10'020ms) == 3'000ms);
    clock.changed();
    clock.measured(11'000ms, 11'020ms, boot + 11'010ms - 3s);
    CHECK(clock.offset(11'020ms, boot + 11'020ms) == -3'000ms);
}

TEST_CASE("server clock: an offset smaller than the round trip does not count") {
    ServerClock clock;
    clock.measured(1'000ms, 1'100ms, boot + 1'050ms + 50ms);
    CHECK(clock.offset(1'100ms, boot + 1'100ms) == 0ms);
    clock.changed();
    clock.measured(1'000ms, 1'100ms, boot + 1'050ms + 52ms);
    CHECK(clock.offset(1'100ms, boot + 1'100ms) == 52ms);
}

TEST_CASE("server clock: a jump of the local clock is corrected at once") {
    ServerClock clock;
    clock.measured(1'000ms, 1'001ms, boot + 1'000ms);
    CHECK(clock.offset(2'000ms, boot + 2'000ms) == 0ms);
    CHECK(clock.offset(2'000ms, boot + 2'000ms + 1h) == -3'600'000ms);
    CHECK(clock.offset(2'000ms, boot + 2'000ms - 1h) == 3'600'000ms);
}

TEST_CASE("server clock: a slow round trip does not replace the result of a quick round trip") {
    ServerClock clock;
    clock.measured(1'000ms, 1'002ms, boot + 1'001ms + 500ms);
    CHECK(clock.offset(1'002ms, boot + 1'002ms) == 500ms);
    // The request waited in a queue, and got its reply at the end of the round trip.
    clock.measured(2'000ms, 2'400ms, boot + 2'399ms + 500ms);
    CHECK(clock.offset(2'400ms, boot + 2'400ms) == 500ms);
}

TEST_CASE("server clock: a slow round trip can prove that the server's clock was set") {
    ServerClock clock;
    clock.measured(1'000ms, 1'002ms, boot + 1'001ms);
    clock.measured(2'000ms, 2'400ms, boot + 2'200ms + 10s);
    CHECK(clock.offset(2'400ms, boot + 2'400ms) == 10'000ms);
}

TEST_CASE("server clock: a measurement becomes less exact with age") {
    ServerClock clock;
    clock.measured(1'000ms, 1'002ms, boot + 1'001ms);
    // In ten minutes, clocks drift apart by at most 60 ms.
    const auto later = 601'000ms;
    CHECK(clock.offset(later, boot + later + 55ms) == 0ms);
    clock.measured(later - 20ms, later, boot + later - 10ms - 30ms);
    CHECK(clock.offset(later, boot + later) == -30ms);
}

TEST_CASE("server clock: after the link moves to another server, the time of this server counts") {
    ServerClock clock;
    clock.measured(1'000ms, 1'002ms, boot + 1'001ms + 500ms);
    clock.changed();
    clock.measured(2'000ms, 2'800ms, boot + 2'400ms + 800ms);
    CHECK(clock.offset(2'800ms, boot + 2'800ms) == 800ms);
}

TEST_CASE("server clock: a server on this machine has the time of this machine") {
    const RedisServer server;
    LinkScene scene{server};
    scene.await_connected();
    for (int i = 0; i < 1'000; ++i) REQUIRE(scene.link.clock_offset() == 0ms);
}

TEST_CASE("server clock: a slow network is not mistaken for a wrong clock") {
    const RedisServer server;
    TcpGate gate{server.port()};
    gate.delay(60ms);
    LinkScene scene{{.addresses = {{"127.0.0.1", gate.port()}}}};
    scene.await_connected();
    CHECK(scene.link.clock_offset() == 0ms);
}

TEST_CASE("server clock: the link sends TIME while connecting, and periodically afterwards") {
    const RedisServer server;
    LinkScene scene{server, 500ms};
    scene.link.wait_until_connected(5s).value();
    CHECK(server.info("cmdstat_time").starts_with("calls=1,"));
    CHECK(await([&] { return server.info("cmdstat_time").starts_with("calls=2,"); }, 4s));
}

TEST_CASE(
    "server clock: timestamps follow a server with a wrong clock, also after a change of server") {
    const RedisServer server;
    TcpGate ahead{server.port()};
    TcpGate behind{server.port()};
    ahead.falsify(set_clock(90s));
    // The round trip is so long that the reply is also consistent with the first server's clock.
    behind.falsify(set_clock(90s - 40ms));
    behind.delay(50ms);
    LinkScene scene{
        {.addresses = {{"127.0.0.1", ahead.port()}, {"127.0.0.1", behind.port()}}, .timeout = 1s}};
    scene.await_connected();
    // On a busy machine the first measurement may be bad.
    const auto is_about = [&](Duration offset) {
        return std::chrono::abs(scene.link.clock_offset() - offset) <= 15ms;
    };
    CHECK(await([&] { return is_about(90s); }));
    ahead.refuse();
    ahead.cut();
    CHECK(await([&] { return scene.ask_echo("x") == "x"; }));
    CHECK(await([&] { return is_about(90s - 40ms); }));
}
