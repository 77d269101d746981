// The link to a cluster. All keys of a link are in one slot.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "link_scene.hpp"
#include "support/redis_cluster.hpp"
#include "support/tcp_gate.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

const std::string key = "{bus}:list";

std::vector<std::string> items(RedisServer& server, const std::string& list = key) {
    std::vector<std::string> all;
    for (const auto& item : server.command({"LRANGE", list, "0", "-1"}).list) {
        all.push_back(item.text);
    }
    return all;
}

/// Moves the slot of `key` with its contents.
void move(RedisCluster& cluster, std::size_t from, std::size_t to) {
    cluster.begin_move(key, from, to);
    cluster.move_key(key, from, to);
    cluster.end_move(key, to);
}

}  // namespace

TEST_CASE("link to a cluster: any node redirects to the right node, also after a slot has moved") {
    RedisCluster cluster{3};
    const auto owner = cluster.owner(key);
    const auto other = (owner + 1) % 3;
    LinkScene scene{cluster.node(other)};
    scene.await_connected();
    CHECK(scene.ask(append, key, "1") == "1");
    CHECK(items(cluster.node(owner)) == std::vector<std::string>{"1"});
    CHECK(scene.log.count(LogLevel::info, "MOVED") == 1);
    // Messages are broadcast in the whole cluster.
    REQUIRE(scene.heard.await(2).size() == 2);
    cluster.node((owner + 2) % 3).command({"PUBLISH", "wake", "orders"});
    CHECK(scene.heard.await(3).back() == "orders");

    // The slot moves back and forth while thousands of calls are under way. No call may be refused.
    constexpr int calls = 6'000;
    std::mutex mutex;
    std::map<std::string, int> outcomes;
    std::atomic<int> answered = 0;
    std::thread caller{[&] {
        for (int i = 2; i < calls + 2; ++i) {
            auto call = LinkScene::call(append, key, std::to_string(i), [&](const auto& answer) {
                const std::lock_guard lock{mutex};
                ++outcomes[answer ? "done" : dump(answer)];
                ++answered;
            });
            scene.link.send({&call, 1});
            if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::microseconds{500});
        }
    }};
    move(cluster, owner, other);
    move(cluster, other, owner);
    move(cluster, owner, other);
    caller.join();
    REQUIRE(await([&] { return answered == calls; }));
    CHECK(outcomes == std::map<std::string, int>{{"done", calls}});
    CHECK(scene.ask(append, key, "last") == std::to_string(calls + 2));
    auto all = items(cluster.node(other));
    REQUIRE(all.size() == calls + 2);
    std::map<std::string, int> stored;
    for (const auto& item : all) ++stored[item];
    for (const auto& [item, count] : stored) CHECK(count == 1);
}

TEST_CASE("link to a cluster: calls keep their order even when every slot moves") {
    RedisCluster cluster{2};
    const auto owner = cluster.owner(key);
    TcpGate gate{cluster.node(owner).port()};
    LinkScene scene{{.addresses = {{"127.0.0.1", gate.port()}}}};
    scene.await_connected();
    CHECK(scene.ask(append, key, "0") == "1");
    std::vector<std::future<std::string>> answers;
    const auto call_until = [&](int end) {
        for (int i = static_cast<int>(answers.size()) + 1; i <= end; ++i) {
            answers.push_back(scene.begin(append, key, std::to_string(i)));
        }
    };
    // The slot has moved before the first of these calls arrive. The last calls are sent while the
    // move is announced.
    gate.delay(std::chrono::milliseconds{300});
    call_until(500);
    move(cluster, owner, 1 - owner);
    REQUIRE(items(cluster.node(1 - owner)).size() == 1);
    const Stopwatch watch;
    REQUIRE(await([&] { return watch.elapsed() > Duration{350}; }));
    for (int end = 500; scene.log.count(LogLevel::info, "MOVED") == 0 && end < 5'000;) {
        call_until(end += 10);
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    call_until(static_cast<int>(answers.size()) + 100);
    for (auto& answer : answers) CHECK(std::atoi(LinkScene::end(std::move(answer)).c_str()) > 0);
    const auto all = items(cluster.node(1 - owner));
    REQUIRE(all.size() == answers.size() + 1);
    for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(all[i] == std::to_string(i));
}

TEST_CASE("link to a cluster: a call whose slot is being moved waits for the end of the move") {
    RedisCluster cluster{2};
    const auto owner = cluster.owner(key);
    const std::string gone = "{bus}:gone";
    LinkScene scene{cluster.node(owner)};
    scene.await_connected();
    CHECK(scene.ask(append, gone, "1") == "1");
    CHECK(scene.ask(append, key, "1") == "1");
    cluster.begin_move(key, owner, 1 - owner);
    cluster.move_key(gone, owner, 1 - owner);
    auto second = scene.begin(append, gone, "2");
    auto third = scene.begin(append, gone, "3");
    CHECK(second.wait_for(std::chrono::milliseconds{200}) == std::future_status::timeout);
    // Although many calls wait, only one is tried from time to time.
    std::vector<std::future<std::string>> more;
    for (int i = 4; i <= 1'000; ++i) more.push_back(scene.begin(append, gone, std::to_string(i)));
    const auto calls = [&] { return cluster.node(owner).info("total_commands_processed"); };
    const auto before = std::atoi(calls().c_str());
    CHECK(second.wait_for(std::chrono::milliseconds{200}) == std::future_status::timeout);
    CHECK(std::atoi(calls().c_str()) - before < 100);
    cluster.move_key(key, owner, 1 - owner);
    cluster.end_move(key, 1 - owner);
    CHECK(LinkScene::end(std::move(second)) == "2");
    CHECK(LinkScene::end(std::move(third)) == "3");
    for (std::size_t i = 0; i < more.size(); ++i) {
        REQUIRE(LinkScene::end(std::move(more[i])) == std::to_string(i + 4));
    }
    CHECK(scene.ask(append, key, "2") == "2");
    CHECK(scene.log.count(LogLevel::info, "MOVED") == 1);
}

TEST_CASE(
    "link to a cluster: a redirection without a host keeps the host, and redirections are "
    "limited") {
    RedisCluster cluster{2};
    const auto owner = cluster.owner(key);
    for (std::size_t i = 0; i < 2; ++i) {
        cluster.node(i).command(
            {"CONFIG", "SET", "cluster-preferred-endpoint-type", "unknown-endpoint"});
    }
    LinkScene scene{cluster.node(1 - owner), Duration{20'000}};
    CHECK(scene.ask(append, key, "1") == "1");
    CHECK(items(cluster.node(owner)) == std::vector<std::string>{"1"});

    // From now on each node redirects to the other.
    const auto slot = std::to_string(RedisCluster::slot_of(cluster.node(0), key));
    const auto first = cluster.node(0).command({"CLUSTER", "MYID"}).text;
    const auto second = cluster.node(1).command({"CLUSTER", "MYID"}).text;
    cluster.node(owner).command({"DEL", key});
    cluster.node(0).command({"CLUSTER", "SETSLOT", slot, "NODE", second});
    cluster.node(1).command({"CLUSTER", "SETSLOT", slot, "NODE", first});
    const Stopwatch watch;
    CHECK(scene.ask(append, key, "2").starts_with("unavailable: MOVED"));
    CHECK(watch.elapsed() < Duration{5'000});
}

TEST_CASE(
    "link to a cluster: a dead master is replaced, and any node leads to the promoted replica") {
    RedisCluster cluster{3, true};
    const auto owner = cluster.owner(key);
    LinkScene scene{
        {.addresses = {cluster.node((owner + 1) % 3).address()}, .timeout = Duration{1'000}}};
    scene.await_connected();
    CHECK(scene.ask(append, key, "1") == "1");
    const auto replica = owner + 3;
    cluster.node(owner).kill();
    REQUIRE(await([&] { return cluster.node(replica).info("role") == "master"; }));
    const Stopwatch watch;
    CHECK(await([&] { return std::atoi(scene.ask(append, key, "2").c_str()) > 0; }));
    CHECK(watch.elapsed() < Duration{2'500});
    CHECK_FALSE(items(cluster.node(replica)).empty());
}

TEST_CASE(
    "link to a cluster: a replica of a wrong slot leads to its master, and on to the right "
    "master") {
    RedisCluster cluster{3, true};
    const auto owner = cluster.owner(key);
    const auto other = (owner + 1) % 3;
    LinkScene scene{cluster.node(other + 3)};
    CHECK(scene.ask(append, key, "1") == "1");
    CHECK(items(cluster.node(owner)) == std::vector<std::string>{"1"});
}
