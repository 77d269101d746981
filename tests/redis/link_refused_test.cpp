// The link to a server that refuses its requests.

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "link_scene.hpp"
#include "link_trouble.hpp"
#include "redis/link.hpp"
#include "support/redis_server.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A server of a different protocol: it only sends a greeting.
class Greeter {
public:
    explicit Greeter(std::string greeting) : greeting_{std::move(greeting)} {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        auto* const any = reinterpret_cast<sockaddr*>(&at);
        REQUIRE(::bind(listener_, any, size) == 0);
        REQUIRE(::listen(listener_, 4) == 0);
        REQUIRE(::getsockname(listener_, any, &size) == 0);
        port_ = ntohs(at.sin_port);
        thread_ = std::thread{[this] { run(); }};
    }
    ~Greeter() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    Greeter(const Greeter&) = delete;
    Greeter& operator=(const Greeter&) = delete;

    [[nodiscard]] RedisAddress address() const { return {"127.0.0.1", port_}; }

private:
    void run() const {
        std::vector<int> taken;
        while (true) {
            const int socket = ::accept(listener_, nullptr, nullptr);
            if (socket < 0) break;
            taken.push_back(socket);
            ::send(socket, greeting_.data(), greeting_.size(), MSG_NOSIGNAL);
        }
        for (const int socket : taken) ::close(socket);
    }

    std::string greeting_;
    int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::uint16_t port_ = 0;
    std::thread thread_;
};

}  // namespace

TEST_CASE("link refused: a missing permission to subscribe is logged once, and calls are served") {
    const RedisServer server;
    server.command({"ACL", "SETUSER", "bus", "on", ">pw", "~*", "+@all"});
    LinkScene scene{{.addresses = {server.address()}, .user = "bus", .password = "pw"}};
    CHECK(scene.ask_echo("x") == "x");
    CHECK(await([&] {
        return scene.log.count(LogLevel::warning, "cannot subscribe to notifications: NOPERM") == 1;
    }));
    server.command({"ACL", "SETUSER", "bus", "allchannels"});
    CHECK(scene.heard.await(1).size() == 1);
    CHECK(scene.log.count(LogLevel::warning, "cannot subscribe to notifications") == 1);
    CHECK(await(
        [&] { return scene.log.count(LogLevel::info, "subscribed to notifications again") == 1; }));
}

TEST_CASE("link refused: a wrong password is logged once, and tried again") {
    const RedisServer server{{"--requirepass", "right"}};
    LinkScene scene{
        {.addresses = {server.address()}, .password = "wrong", .timeout = Duration{400}}};
    CHECK(scene.ask_echo("x").starts_with("unavailable: redis 127.0.0.1:"));
    CHECK(scene.ask_echo("x").find("WRONGPASS") != std::string::npos);
    CHECK(scene.log.count(LogLevel::warning, "WRONGPASS") == 1);
    RedisClient client{server.address()};
    client.command({"AUTH", "right"});
    client.command({"CONFIG", "SET", "requirepass", "wrong"});
    CHECK(recovers(scene));
}

TEST_CASE("link refused: a missing password is reported when the server requires one") {
    const RedisServer server{{"--requirepass", "right"}};
    LinkScene scene{server, Duration{200}};
    CHECK(scene.ask_echo("x").find("NOAUTH") != std::string::npos);
}

TEST_CASE("link refused: the error of a server with too many clients is reported word for word") {
    const RedisServer server;
    RedisClient client{server.address()};
    client.command({"CONFIG", "SET", "maxclients", "1"});
    LinkScene scene{server, Duration{300}};
    CHECK(scene.ask_echo("x").find("max number of clients") != std::string::npos);
    client.command({"CONFIG", "SET", "maxclients", "10"});
    CHECK(recovers(scene, Duration{20'000}));
}

TEST_CASE("link refused: the link waits for a server that is loading") {
    RedisServer server{
        {"--key-load-delay", "6000", "--loading-process-events-interval-bytes", "1024"}};
    server.command({"EVAL", "for i = 1, 500 do redis.call('set', i, i) end", "0"});
    LinkScene scene{server, Duration{30'000}};
    scene.await_connected();
    server.command({"SAVE"});
    server.kill();
    server.start(false);
    CHECK(scene.ask(run, {}, "return redis.call('get', '500')") == "500");
    CHECK(scene.log.count(LogLevel::warning, "LOADING") == 1);
}

TEST_CASE(
    "link refused: a call refused because of the server's state is unavailable and was not done") {
    const RedisServer server;
    LinkScene scene{server};
    scene.await_connected();
    server.command({"CONFIG", "SET", "maxmemory", "1"});
    CHECK(scene.ask(append, "list", "x").starts_with("unavailable: OOM"));
    server.command({"CONFIG", "SET", "maxmemory", "0"});
    server.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
    CHECK(scene.ask(append, "list", "x").starts_with("unavailable: NOREPLICAS"));
    server.command({"CONFIG", "SET", "min-replicas-to-write", "0"});
    CHECK(scene.ask(append, "list", "x") == "1");
    CHECK(losses(scene) == 0);
}

TEST_CASE("link refused: a user who loses a permission gets errors until the permission is back") {
    const RedisServer server;
    server.command({"ACL", "SETUSER", "bus", "on", ">pw", "~*", "&*", "+@all"});
    LinkScene scene{{.addresses = {server.address()}, .user = "bus", .password = "pw"}};
    scene.await_connected();
    // The script fails in its middle: it is unknown what the script has done before.
    server.command({"ACL", "SETUSER", "bus", "-rpush"});
    CHECK(scene.ask(append, "list", "x").starts_with("corrupted: "));
    server.command({"ACL", "SETUSER", "bus", "-evalsha"});
    CHECK(scene.ask(append, "list", "x").starts_with("unavailable: NOPERM"));
    CHECK(scene.ask(append, "list", "x").starts_with("unavailable: NOPERM"));
    CHECK(scene.log.count(LogLevel::error, "NOPERM") == 1);
    server.command({"ACL", "SETUSER", "bus", "+@all"});
    CHECK(scene.ask(append, "list", "x") == "1");
}

TEST_CASE("link refused: a server busy with another program's script refuses calls until it ends") {
    const RedisServer server{{"--busy-reply-threshold", "20"}};
    LinkScene scene{server};
    scene.await_connected();
    auto endless = std::async(std::launch::async, [&] {
        try {
            return server.command({"EVAL", "while true do end", "0"}).text;
        } catch (const RedisFailure& failure) {
            return std::string{failure.what()};
        }
    });
    CHECK(await([&] { return scene.ask_echo("x").starts_with("unavailable: BUSY"); }));
    server.command({"SCRIPT", "KILL"});
    CHECK(endless.get().find("killed") != std::string::npos);
    CHECK(scene.ask_echo("x") == "x");
    CHECK(losses(scene) == 0);
}

TEST_CASE("link refused: a call whose script is killed is unavailable") {
    const RedisServer server{{"--busy-reply-threshold", "20"}};
    LinkScene scene{server};
    scene.await_connected();
    auto answer = scene.begin(run, {}, "while true do end");
    CHECK(await([&] {
        try {
            return server.command({"SCRIPT", "KILL"}).text == "OK";
        } catch (const RedisFailure&) {
            return false;
        }
    }));
    CHECK(is_refused(LinkScene::end(std::move(answer))));
}

TEST_CASE("link refused: the link leaves a master that becomes a replica for the new master") {
    const RedisServer first;
    const RedisServer second;
    LinkScene scene{first};
    scene.await_connected();
    first.command({"REPLICAOF", "127.0.0.1", std::to_string(second.port())});
    CHECK(scene.ask(append, "list", "x").starts_with("unavailable: READONLY"));
    CHECK(scene.ask(append, "list", "y") == "1");
    CHECK(second.command({"LRANGE", "list", "0", "-1"}).dump() == "[y]");
    CHECK(scene.log.count(LogLevel::warning, "READONLY") == 1);
    CHECK(scene.heard.await(2).size() == 2);
    second.command({"PUBLISH", "wake", "orders"});
    CHECK(scene.heard.await(3).back() == "orders");
}

TEST_CASE("link refused: a replica is refused, and the next address is tried") {
    const RedisServer master;
    const RedisServer dead_master;
    RedisServer replica{{"--replicaof", "127.0.0.1 1"}};
    LinkScene scene{{.addresses = {replica.address(), master.address()}}};
    scene.await_connected();
    CHECK(scene.ask(append, "list", "x") == "1");
    CHECK(master.command({"LLEN", "list"}).number == 1);
    CHECK(scene.log.count(LogLevel::warning, "this is a replica of 127.0.0.1:1") == 1);
}

TEST_CASE("link refused: a server that does not speak RESP is not mistaken for Redis") {
    const Greeter greeter{"SSH-2.0-OpenSSH_9.2\r\n"};
    LinkScene scene{{.addresses = {greeter.address()}, .timeout = Duration{300}}};
    CHECK(scene.ask_echo("x").find("not a Redis reply") != std::string::npos);
    CHECK(scene.log.count(LogLevel::warning, "not a Redis reply") == 1);
}
