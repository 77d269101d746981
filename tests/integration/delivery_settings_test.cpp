/// @file
/// The settings of deliveries for security, order and limits. Each test checks the default and a
/// change, on the running programs.

#include <doctest/doctest.h>

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/await.hpp"
#include "support/batch_receiver.hpp"
#include "support/full_listener.hpp"
#include "support/redis_server.hpp"
#include "support/running_bus.hpp"
#include "support/running_fleet.hpp"
#include "support/temporary_folder.hpp"
#include "support/tls_peer.hpp"

using namespace routemaster;
using test::RunningBus;
using test::RunningWeb;
using test::RunningWorker;

namespace {

const std::string event_url = "https://shop.example/orders/1";

/// With these settings retries follow at once.
const std::vector<std::string> prompt{"--max-backoff", "1", "--metrics", "none"};

std::vector<std::string> with(std::vector<std::string> flags, std::vector<std::string> more) {
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
}

/// A bus, or a worker process on Redis, that finds one event for a callback in its store.
class Deliverer {
public:
    enum class Kind { bus, worker };

    Deliverer(Kind kind, const std::string& callback) : kind_{kind} {
        if (kind == Kind::bus) {
            fill(RunningBus{folder_.path(), {"--metrics", "none"}}, callback);
        } else {
            redis_ = std::make_unique<test::RedisServer>();
            fill(RunningWeb{redis_->url()}, callback);
        }
    }

    /// Starts the program with only these flags.
    test::Process& start(const std::vector<std::string>& flags) {
        auto command = kind_ == Kind::bus ? std::vector<std::string>{test::routemaster_binary,
                                                                     "serve",
                                                                     "--listen",
                                                                     "127.0.0.1:0",
                                                                     "--data-dir",
                                                                     folder_.path().string(),
                                                                     "--root-key",
                                                                     test::root_key}
                                          : std::vector<std::string>{test::worker_binary, "--store",
                                                                     redis_->url()};
        process_.emplace(with(with(std::move(command), prompt), flags));
        return *process_;
    }

private:
    /// Subscribes, and makes a batch that waits for one more event, to be published while the
    /// program runs.
    template <class Front>
    static void fill(const Front& front, const std::string& callback) {
        REQUIRE(front.subscribe("billing", R"(["orders"])", callback, R"("timeout":500)").status ==
                204);
        REQUIRE(front.publish("orders", event_url).status == 200);
    }

    Kind kind_;
    test::TemporaryFolder folder_;
    std::unique_ptr<test::RedisServer> redis_;
    std::optional<test::Process> process_;
};

}  // namespace

TEST_CASE("a receiver with a self-signed certificate is refused by default") {
    for (const auto kind : {Deliverer::Kind::bus, Deliverer::Kind::worker}) {
        test::TlsPeer receiver;
        Deliverer deliverer{kind, receiver.url()};
        const auto& refusing = deliverer.start({"--allow-http-callbacks"});
        REQUIRE(refusing.await_error("WARN: failed to deliver 1 events to 'bill…', attempt 3: "));
        CHECK(refusing.errors().find("certificate") != std::string::npos);

        deliverer.start({"--allow-http-callbacks", "--ssl-verify", "no"});
        receiver.wait_for(event_url);
    }
}

TEST_CASE(
    "receivers that support HTTP/2 get HTTP/1.1 by default, and HTTP/2 if a setting allows it") {
    const std::vector<std::string> local{"--allow-http-callbacks", "--ssl-verify", "no"};
    for (const auto kind : {Deliverer::Kind::bus, Deliverer::Kind::worker}) {
        test::TlsPeer receiver{"h2,http/1.1"};
        Deliverer deliverer{kind, receiver.url()};
        deliverer.start(local);
        receiver.wait_for("ALPN protocols advertised by the client: http/1.1\n");
        receiver.wait_for("POST /events HTTP/1.1\r\n");

        deliverer.start(with(local, {"--http2"}));
        receiver.wait_for("ALPN protocols advertised by the client: h2, http/1.1\n");
        receiver.wait_for("PRI * HTTP/2.0\r\n");
    }
}

TEST_CASE("a stored callback that leads to this machine is refused at its delivery") {
    for (const auto kind : {Deliverer::Kind::bus, Deliverer::Kind::worker}) {
        const test::TlsPeer peer;
        Deliverer deliverer{kind, peer.url()};
        const auto& refusing = deliverer.start({"--ssl-verify", "no"});
        CHECK(refusing.await_error("127.0.0.1 leads back to this machine"));
    }
}

TEST_CASE("a callback on this machine, over http, is refused by default") {
    for (const auto kind : {Deliverer::Kind::bus, Deliverer::Kind::worker}) {
        const test::BatchReceiver receiver;
        Deliverer deliverer{kind, receiver.url()};
        const auto& refusing = deliverer.start({});
        CHECK(refusing.await_error("no transport for http://127.0.0.1:"));
        CHECK(receiver.deliveries().empty());
        deliverer.start({"--allow-http-callbacks"});
        CHECK(receiver.await_event(event_url));
    }
}

TEST_CASE("no more deliveries are under way than a setting allows") {
    const test::TemporaryFolder folder;
    test::BatchReceiver receiver;
    receiver.pause();
    std::vector<std::string> flags{"--metrics", "none"};
    std::size_t allowed = 2;
    SUBCASE("by default two deliveries are under way at once") {}
    SUBCASE("with a limit of one, a single delivery is under way") {
        flags = with(std::move(flags), {"--deliveries-max", "1"});
        allowed = 1;
    }
    const RunningBus bus{folder.path(), flags};
    for (const auto* token : {"billing", "audit"}) {
        REQUIRE(bus.subscribe(token, R"(["orders"])", receiver.url(), R"("max":1)").status == 204);
    }
    REQUIRE(bus.publish("orders", event_url).status == 200);
    REQUIRE(receiver.await_deliveries(allowed));
    // A delivery beyond the limit would have arrived by now.
    ::usleep(200'000);
    CHECK(receiver.deliveries().size() == allowed);
    receiver.resume();
    CHECK(receiver.await_deliveries(2));
}

TEST_CASE("connecting to a receiver times out") {
    using Seconds = std::chrono::duration<double>;
    const test::FullListener listener;
    const test::TemporaryFolder folder;
    std::vector<std::string> flags{"--metrics", "none"};
    Seconds limit{2};
    SUBCASE("the connect timeout is 2 s by default") {}
    SUBCASE("the connect timeout is set") {
        flags = with(std::move(flags), {"--connect-timeout", "5"});
        limit = Seconds{5};
    }
    RunningBus bus{folder.path(), flags};
    REQUIRE(bus.subscribe("billing", R"(["orders"])",
                          "http://127.0.0.1:" + std::to_string(listener.port()), R"("max":1)")
                .status == 204);
    const auto began = std::chrono::steady_clock::now();
    REQUIRE(bus.publish("orders", event_url).status == 200);
    REQUIRE(bus.process().await_error("WARN: failed to deliver 1 events to 'bill…', attempt 1: "));
    const Seconds took = std::chrono::steady_clock::now() - began;
    CHECK(took >= 0.9 * limit);
    CHECK(took < limit + Seconds{2.9});
}

TEST_CASE("the statuses that make a batch DEAD at once are a setting, which may be empty") {
    // The value by flag, variable and file, each with its syntax for lists.
    struct Way {
        std::string name;
        std::vector<std::string> flags;
        test::Process::Environment environment;
        std::string file;
        std::string attempts;  // The number of attempts at a batch that gets 410 and is DEAD after
                               // the third attempt.
    };
    const std::vector<Way> ways{
        {"by default", {}, {}, {}, "1"},
        {"410 among others", {"--permanent-statuses", "404,410"}, {}, {}, "1"},
        {"none", {"--permanent-statuses", "none"}, {}, {}, "3"},
        {"an empty flag", {"--permanent-statuses", ""}, {}, {}, "3"},
        {"a variable", {}, {{"ROUTEMASTER_PERMANENT_STATUSES", "none"}}, {}, "3"},
        {"an empty list in the file", {}, {}, "permanent-statuses = []\n", "3"},
        {"a list in the file", {}, {}, "permanent-statuses = [410, 422]\n", "1"},
    };
    for (const auto& way : ways) {
        CAPTURE(way.name);
        const test::TemporaryFolder folder;
        const auto file = folder.path() / "settings.toml";
        std::ofstream{file} << way.file;
        auto flags = with(with(prompt, {"--config", file.string()}), way.flags);
        const RunningBus bus{folder.path(), flags, way.environment};
        test::BatchReceiver receiver;
        receiver.answer({410, 410, 410});
        REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(),
                              R"("timeout":0,"max":1,"attempts_max":3)")
                    .status == 204);
        REQUIRE(bus.publish("orders", event_url).status == 200);
        std::string dead;
        REQUIRE(test::await([&] {
            dead = bus.ask("GET", "/subscriber/dead", "billing").body;
            return dead != "[]";
        }));
        CHECK(dead.find(R"("attempts":)" + way.attempts + ',') != std::string::npos);
    }
}

TEST_CASE("text that is not a list of statuses is refused, and the error names the setting") {
    for (const std::string list : {"299", "600", "410,x", "none,410", "410,none", "4e2"}) {
        CAPTURE(list);
        test::Process bus{{test::routemaster_binary, "serve", "--store", "memory:", "--root-key",
                           test::root_key, "--permanent-statuses", list}};
        CHECK(bus.wait() == 2);
        CHECK(bus.errors().find("--permanent-statuses") != std::string::npos);
        CHECK(bus.errors().find("is neither a number from 300 to 599 nor") != std::string::npos);
    }
}

TEST_CASE("a subscriber loses and gains health at the rates that are set") {
    const test::RedisServer redis;
    const RunningWeb web{redis.url()};
    test::BatchReceiver receiver;
    std::vector<std::string> flags{"--metrics", "none", "--max-backoff", "1"};
    std::string hurt = "98";
    std::string healed = "99";
    SUBCASE("the rates have their defaults") {}
    SUBCASE("the rates are set") {
        flags = with(std::move(flags), {"--damage-rate", "-50", "--heal-rate", "7"});
        hurt = "50";
        healed = "57";
    }
    RunningWorker worker{redis.url(), flags};
    REQUIRE(web.subscribe("billing", R"(["orders"])", receiver.url(), R"("max":1)").status == 204);
    const auto health_is = [&](const std::string& points) {
        return test::await([&] {
            return redis.command({"HGET", "subscriber:billing", "health_points"}).text == points;
        });
    };
    receiver.answer({500});
    receiver.pause();
    REQUIRE(web.publish("orders", event_url).status == 200);
    REQUIRE(receiver.await_deliveries(1));
    receiver.resume();
    receiver.pause();
    CHECK(health_is(hurt));
    REQUIRE(receiver.await_deliveries(2));
    receiver.resume();
    CHECK(health_is(healed));
}

TEST_CASE("after a failure the next attempt waits, up to the longest wait that is set") {
    const test::TemporaryFolder folder;
    test::BatchReceiver receiver;
    std::vector<std::string> flags{"--metrics", "none", "--damage-rate", "-100"};
    bool soon = false;
    SUBCASE("without any health, the wait is a minute by default") {}
    SUBCASE("the longest wait is set") {
        flags = with(std::move(flags), {"--max-backoff", "100"});
        soon = true;
    }
    const RunningBus bus{folder.path(), flags};
    receiver.answer({500});
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("max":1)").status == 204);
    REQUIRE(bus.publish("orders", event_url).status == 200);
    REQUIRE(receiver.await_deliveries(1));
    if (soon) {
        CHECK(receiver.await_event(event_url));
    } else {
        ::usleep(500'000);
        CHECK(receiver.deliveries().size() == 1);
    }
}
