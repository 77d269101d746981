// The link to a master that is watched by sentinels.

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "link_scene.hpp"
#include "support/redis_sentinel.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

RedisOptions options(const RedisSentinel& watched) {
    return {.addresses = watched.addresses(),
            .sentinel_master = RedisSentinel::name,
            .timeout = Duration{1'000}};
}

/// The port of the server that the link reaches.
std::string port_of(LinkScene& scene) {
    return scene.ask(run, {}, "return redis.call('info', 'server'):match('tcp_port:(%d+)')");
}

bool serves(LinkScene& scene, std::uint16_t port) {
    return await([&] { return port_of(scene) == std::to_string(port); });
}

}  // namespace

TEST_CASE("link by sentinels: the master is found, and found again after each failover") {
    RedisSentinel watched;
    LinkScene scene{options(watched)};
    scene.await_connected();
    CHECK(port_of(scene) == std::to_string(watched.server(0).port()));
    CHECK(scene.ask(append, "list", "before") == "1");
    CHECK(scene.heard.await(1).size() == 1);

    // One stopped sentinel does not matter. A silent master is replaced. When it returns, it
    // considers itself the master for some time, but the link must not use it.
    watched.sentinel(0).stop();
    const auto first = watched.master_port(1);
    watched.server(0).pause();
    REQUIRE(await([&] { return watched.master_port(1) != first; }, Duration{60'000}));
    const auto second = watched.master_port(1);
    const Stopwatch watch;
    CHECK(serves(scene, second));
    CHECK(watch.elapsed() < Duration{2'500});
    watched.server(0).resume();
    CHECK(port_of(scene) == std::to_string(second));

    // An orderly failover.
    REQUIRE(await([&] {
        try {
            watched.fail_over(1);
        } catch (const RedisFailure&) {
            return false;
        }
        return true;
    }));
    REQUIRE(await([&] { return watched.master_port(1) != second; }));
    const Stopwatch replaced;
    CHECK(serves(scene, watched.master_port(1)));
    // The old master is informed ten seconds later.
    CHECK(replaced.elapsed() < Duration{7'000});
    CHECK(await([&] { return scene.ask(append, "list", "after") == "2"; }));
    // A server that changes its role may close the subscribed connection once more.
    CHECK(scene.heard.await(3).size() >= 3);
    CHECK(scene.log.count(LogLevel::info, "connected again") >= 2);
}

TEST_CASE("link by sentinels: a sentinel that does not know the master is logged and skipped") {
    const RedisServer master;
    const RedisServer stranger{{"--sentinel"}, "protected-mode no\n"};
    const RedisServer guard{
        {"--sentinel"},
        "sentinel monitor main 127.0.0.1 " + std::to_string(master.port()) + " 1\n"};
    LinkScene scene{
        {.addresses = {stranger.address(), guard.address()}, .sentinel_master = "main"}};
    CHECK(scene.ask_echo("x") == "x");
    CHECK(scene.log.count(LogLevel::warning, "this sentinel knows no master 'main'") >= 1);

    LinkScene lost{
        {.addresses = {guard.address()}, .sentinel_master = "another", .timeout = Duration{200}}};
    CHECK(lost.ask_echo("x").find("knows no master 'another'") != std::string::npos);
}

TEST_CASE("link by sentinels: a sentinel gets the password, even without requiring a password") {
    const RedisServer master{{"--requirepass", "secret"}};
    const auto configuration = "sentinel monitor main 127.0.0.1 " + std::to_string(master.port()) +
                               " 1\nsentinel auth-pass main secret\n";
    const RedisServer strict{{"--sentinel", "--requirepass", "secret"}, configuration};
    const RedisServer open{{"--sentinel"}, configuration};
    for (const auto& guard : {strict.address(), open.address()}) {
        LinkScene scene{{.addresses = {guard}, .sentinel_master = "main", .password = "secret"}};
        CHECK(scene.ask_echo("x") == "x");
    }
}

TEST_CASE("link by sentinels: a sentinel is not mistaken for a Redis server") {
    const RedisServer guard{{"--sentinel"}, "protected-mode no\n"};
    LinkScene scene{guard, Duration{5'000}};
    const Stopwatch watch;
    const auto outcome = scene.link.wait_until_connected(Duration{5'000});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code() == Errc::invalid);
    CHECK(watch.elapsed() < Duration{2'000});
}
