// The link to a failing server, or over a failing network.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "link_scene.hpp"
#include "link_trouble.hpp"
#include "redis/link.hpp"
#include "support/full_listener.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_gate.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE(
    "link faults: after a restart of the server the link reconnects, and logs each event once") {
    RedisServer server;
    LinkScene scene{server};
    scene.await_connected();
    server.kill();
    REQUIRE(await([&] { return losses(scene) == 1; }));
    auto early = scene.begin(echo, {}, "patient");
    server.start();
    const Stopwatch watch;
    CHECK(LinkScene::end(std::move(early)) == "patient");
    CHECK(scene.heard.await(2) == std::vector<std::string>{"", ""});
    CHECK(watch.elapsed() < recovery_max);
    CHECK(losses(scene) == 1);
    CHECK(recoveries(scene) == 1);
    CHECK(scene.log.count(LogLevel::warning, "Connection refused") <= 1);
    CHECK(scene.log.count(LogLevel::warning, std::to_string(server.port())) >= 1);
}

TEST_CASE("link faults: a server that was down for long is found again within 2.5 s") {
    RedisServer server;
    LinkScene scene{server, Duration{300}};
    scene.await_connected();
    // A busy machine may cause the same delay, but not in three runs.
    bool in_time = false;
    for (std::size_t times = 1; times <= 3 && !in_time; ++times) {
        server.kill();
        // Long enough for the pauses between attempts to reach their maximum.
        const Stopwatch away;
        while (away.elapsed() < Duration{4'500}) CHECK_FALSE(scene.ask_echo("x") == "x");
        server.start();
        in_time = recovers(scene);
        CHECK(recovers(scene, Duration{20'000}));
        CHECK(scene.log.count(LogLevel::warning, "Connection refused") <= times);
    }
    CHECK(in_time);
}

TEST_CASE("link faults: without a server, calls fail at their timeout and not later") {
    RedisServer server;
    server.stop();
    LinkScene scene{server, Duration{300}};
    const Stopwatch watch;
    const auto answer = scene.ask_echo("x");
    CHECK(is_refused(answer));
    CHECK(answer.find("Connection refused") != std::string::npos);
    CHECK(watch.elapsed() >= Duration{290});
    CHECK(watch.elapsed() < Duration{2'000});
    const auto outcome = scene.link.wait_until_connected(Duration{50});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code() == Errc::unavailable);
    CHECK(outcome.error().context().find(std::to_string(server.port())) != std::string::npos);
    server.start();
    CHECK(scene.link.wait_until_connected(recovery_max));
}

TEST_CASE("link faults: if a machine does not respond, the next address is tried") {
    const FullListener nobody;
    const RedisServer server;
    LinkScene scene{{.addresses = {{"127.0.0.1", nobody.port()}, server.address()}}};
    const Stopwatch watch;
    CHECK(scene.link.wait_until_connected(Duration{10'000}));
    CHECK(watch.elapsed() < Duration{3'000});
    CHECK(scene.ask_echo("x") == "x");
    CHECK(scene.log.count(LogLevel::warning, std::to_string(nobody.port())) == 1);
}

TEST_CASE("link faults: a host name that does not exist is skipped") {
    const RedisServer server;
    LinkScene scene{{.addresses = {{"no-such-host.invalid", 6'379}, server.address()},
                     .timeout = Duration{1'000}}};
    CHECK(scene.link.wait_until_connected(Duration{10'000}));
    CHECK(scene.log.count(LogLevel::warning, "no-such-host.invalid") == 1);
}

TEST_CASE("link faults: when a server falls silent, all calls sent to it are in doubt at once") {
    RedisServer server;
    LinkScene scene{server, Duration{400}};
    scene.await_connected();
    server.pause();
    std::vector<std::future<std::string>> answers;
    const Stopwatch watch;
    for (int i = 0; i < 5; ++i) answers.push_back(scene.begin(append, "list", "x"));
    for (auto& answer : answers) CHECK(is_in_doubt(LinkScene::end(std::move(answer))));
    CHECK(watch.elapsed() >= Duration{390});
    CHECK(watch.elapsed() < Duration{1'600});
    CHECK(losses(scene) == 1);
    // A call made now waits for a connection until its timeout.
    CHECK(is_refused(scene.ask_echo("x")));
    server.resume();
    CHECK(recovers(scene));
}

TEST_CASE("link faults: an idle link notices that the server disappeared silently") {
    GatedScene gated{Duration{300}};
    const Stopwatch watch;
    gated.gate.fall_silent();
    CHECK(await([&] { return losses(gated.scene) == 1; }, Duration{10'000}));
    gated.gate.speak();
    CHECK(recovers(gated.scene));
}

TEST_CASE("link faults: a reset connection leaves only calls that were sent in doubt") {
    GatedScene gated;
    auto& gate = gated.gate;
    auto& scene = gated.scene;
    gate.stall_after(0);
    auto lost = scene.begin(append, "list", "lost");
    REQUIRE(await([&] { return gated.server.command({"LLEN", "list"}).number == 1; }));
    gate.cut();
    CHECK(is_in_doubt(LinkScene::end(std::move(lost))));
    gate.speak();
    CHECK(scene.ask(append, "list", "next") == "2");
    CHECK(losses(scene) == 1);
    CHECK(recoveries(scene) == 1);
}

TEST_CASE("link faults: a call whose reply is cut off at any byte is in doubt") {
    GatedScene gated;
    auto& gate = gated.gate;
    auto& scene = gated.scene;
    const std::string text = "a reply of some length";
    const std::size_t whole = text.size() + 7;
    std::size_t connections = 0;
    for (std::size_t bytes = 1; bytes < whole; bytes += 9) {
        CAPTURE(bytes);
        REQUIRE(recovers(scene));
        // Until this message arrives, messages may still go to the earlier connection.
        REQUIRE(scene.heard.await(++connections).size() == connections);
        gate.cut_after(bytes);
        const auto answer = scene.ask_echo(text);
        CHECK(is_in_doubt(answer));
        CAPTURE(answer);
        CHECK(answer.find("in the middle of a reply") != std::string::npos);
    }
}

TEST_CASE("link faults: unsent calls are sent over the next connection, sent calls are not") {
    GatedScene gated;
    auto& server = gated.server;
    auto& gate = gated.gate;
    auto& scene = gated.scene;
    // Larger than the buffers of sockets, so most bytes cannot be sent.
    constexpr int calls = 64;
    const std::string ballast(1'000'000, 'x');
    server.pause();
    const auto before = gate.bytes_to_server();
    std::vector<std::future<std::string>> answers;
    for (int i = 0; i < calls; ++i) {
        answers.push_back(scene.begin(append, "list", std::to_string(i) + ballast));
    }
    REQUIRE(await([&] { return gate.bytes_to_server() > before + 100'000; }));
    gate.cut();
    server.resume();
    std::set<std::string> done;
    int in_doubt = 0;
    for (int i = 0; i < calls; ++i) {
        const auto answer = LinkScene::end(std::move(answers[static_cast<std::size_t>(i)]));
        if (is_in_doubt(answer)) {
            ++in_doubt;
        } else {
            CHECK(std::atoi(answer.c_str()) > 0);
            done.insert(std::to_string(i));
        }
    }
    CHECK(in_doubt > 0);
    CHECK(in_doubt < calls / 2);
    std::map<std::string, int> stored;
    for (const auto& item : server.command({"LRANGE", "list", "0", "-1"}).list) {
        ++stored[item.text.substr(0, item.text.find('x'))];
    }
    for (const auto& [item, count] : stored) CHECK(count == 1);
    for (const auto& item : done) CHECK(stored.count(item) == 1);
}

TEST_CASE("link faults: a call that was sent in part is sent again in full") {
    GatedScene gated{Duration{60'000}};
    auto& server = gated.server;
    auto& gate = gated.gate;
    auto& scene = gated.scene;
    server.pause();
    const auto before = gate.bytes_to_server();
    auto answer = scene.begin(append, "list", std::string(30'000'000, 'x'));
    REQUIRE(await([&] { return gate.bytes_to_server() > before + 100'000; }));
    gate.cut();
    server.resume();
    CHECK(LinkScene::end(std::move(answer)) == "1");
    CHECK(losses(scene) == 1);
}

TEST_CASE("link faults: only the call that a slow server does not receive in time is in doubt") {
    constexpr Duration timeout{3'000};
    GatedScene gated{timeout};
    auto& gate = gated.gate;
    auto& scene = gated.scene;
    REQUIRE(scene.ask_echo("once") == "once");
    gate.fall_silent();
    const Stopwatch watch;
    auto first = scene.begin(echo, {}, "first");
    auto second = scene.begin(echo, {}, "second");
    REQUIRE(await([&] { return watch.elapsed() > timeout / 2; }));
    gate.stall_after(std::string{"$5\r\nfirst\r\n"}.size());
    CHECK(LinkScene::end(std::move(first)) == "first");
    CHECK(is_in_doubt(LinkScene::end(std::move(second))));
    CHECK(watch.elapsed() >= timeout);
    CHECK(watch.elapsed() < timeout + timeout / 4);
    gate.speak();
    CHECK(scene.ask_echo("third") == "third");
    CHECK(losses(scene) == 0);
}

TEST_CASE("link faults: a call in doubt was done at most once, and a failed call was not done") {
    GatedScene gated{Duration{1'000}};
    auto& server = gated.server;
    auto& gate = gated.gate;
    auto& scene = gated.scene;
    std::mutex mutex;
    std::map<std::string, std::vector<std::string>> answers;
    constexpr int calls = 4'000;
    std::atomic<int> answered = 0;
    for (int i = 0; i < calls; ++i) {
        if (i % 500 == 250) gate.cut();
        if (i % 500 == 0) gate.cut_request_after(1'000);
        if (i % 800 == 0) gate.cut_after(100);
        const auto item = std::to_string(i);
        auto call = LinkScene::call(append, "list", item, [&, item](const auto& answer) {
            const std::lock_guard lock{mutex};
            answers[item].push_back(dump(answer));
            ++answered;
        });
        scene.link.send({&call, 1});
        if (i % 20 == 0) std::this_thread::yield();
    }
    CHECK(await([&] { return answered == calls; }));
    std::map<std::string, int> stored;
    for (const auto& item : server.command({"LRANGE", "list", "0", "-1"}).list) {
        ++stored[item.text];
    }
    for (const auto& answer : answers) {
        const auto& item = answer.first;
        const auto& all = answer.second;
        CAPTURE(item);
        CAPTURE(all.front());
        REQUIRE(all.size() == 1);
        const int times = stored.count(item) > 0 ? stored[item] : 0;
        if (is_refused(all.front())) {
            CHECK(times == 0);
        } else if (is_in_doubt(all.front())) {
            CHECK(times <= 1);
        } else {
            CHECK(times == 1);
        }
    }
}

TEST_CASE("link faults: after the server closes the connections, the link reconnects at once") {
    const RedisServer server;
    LinkScene scene{server};
    scene.await_connected();
    server.command({"CLIENT", "KILL", "TYPE", "normal"});
    CHECK(recovers(scene, Duration{500}));
    CHECK(scene.heard.await(2).size() == 2);
}

TEST_CASE("link faults: a listener that is cut off listens again, and the log reports it") {
    const RedisServer server;
    LinkScene scene{server};
    scene.await_connected();
    server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
    CHECK(scene.heard.await(2) == std::vector<std::string>{"", ""});
    server.command({"PUBLISH", "wake", "orders"});
    CHECK(scene.heard.await(3).back() == "orders");
    CHECK(scene.log.count(LogLevel::warning, "cannot subscribe to notifications") == 1);
    CHECK(scene.log.count(LogLevel::info, "subscribed to notifications again") == 1);
    CHECK(losses(scene) == 0);
}

TEST_CASE("link faults: a listener notices that the server disappeared silently") {
    GatedScene gated{Duration{1'000}};
    auto& server = gated.server;
    auto& gate = gated.gate;
    auto& scene = gated.scene;
    constexpr std::size_t listener = 1;
    gate.fall_silent(listener);
    CHECK(scene.heard.await(2) == std::vector<std::string>{"", ""});
    CHECK(scene.log.count(LogLevel::warning, "cannot subscribe to notifications: no reply") == 1);
    CHECK(losses(scene) == 0);
    server.command({"PUBLISH", "wake", "orders"});
    CHECK(scene.heard.await(3).back() == "orders");
}

TEST_CASE("link faults: the link can be destroyed quickly in each of its states") {
    const FullListener nobody;
    TcpGate gate{1};
    gate.fall_silent();
    for (const auto& address :
         {RedisAddress{"127.0.0.1", nobody.port()}, RedisAddress{"127.0.0.1", gate.port()},
          RedisAddress{"no-such-host.invalid", 1}, RedisAddress{"127.0.0.1", 1}}) {
        CAPTURE(address.port);
        std::string answer;
        Stopwatch watch;
        {
            LinkScene scene{{.addresses = {address}}};
            auto call = LinkScene::call(echo, {}, "x", [&](const auto& it) { answer = dump(it); });
            scene.link.send({&call, 1});
            CHECK_FALSE(scene.link.wait_until_connected(Duration{20}));
            watch = {};
        }
        CHECK(watch.elapsed() < Duration{3'000});
        CHECK(answer == "cancelled: the store was closed");
    }
}
