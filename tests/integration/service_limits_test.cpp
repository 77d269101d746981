/// @file
/// The limits and the durability of the service. Each test checks the default and a change.

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/await.hpp"
#include "support/batch_receiver.hpp"
#include "support/programs.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::RunningBus;

namespace {

constexpr std::size_t mebibyte = 1'048'576;

std::string list_of_topics(int count) {
    std::string list;
    for (int i = 0; i < count; ++i) {
        list += list.empty() ? "[\"" : ",\"";
        for (const char digit : std::to_string(i)) list += static_cast<char>('a' + digit - '0');
        list += '"';
    }
    return list + "]";
}

/// Whether `GET /subscribers` shows this number of queued events.
bool queues(const RunningBus& bus, int events) {
    return bus.ask("GET", "/subscribers", test::root_key)
               .body.find("\"queued\":" + std::to_string(events)) != std::string::npos;
}

/// Whether a connection still gets responses. It may have been closed in favour of another one.
bool answers(test::HttpClient& client) {
    try {
        return client.ask("GET", "/health").status == 200;
    } catch (const std::runtime_error&) {
        return false;
    }
}

/// Allows the test to open more connections than the bus.
void raise_own_limit() {
    rlimit limit{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/// Starts a program under a limit that is too low. Returns its error.
std::string refused(const std::string& program, std::vector<std::string> flags) {
    flags.insert(flags.begin(), test::program(program));
    test::Process process{test::limited("-n 64", flags)};
    CHECK(process.wait() == 1);
    return process.errors();
}

/// Publishes large events to a topic until several are refused. Returns the URLs of accepted
/// events.
std::vector<std::string> publish_large(const RunningBus& bus, const std::string& topic) {
    const std::string data(60'000, 'x');
    std::vector<std::string> accepted;
    test::HttpClient shop{bus.port()};
    int refused = 0;
    for (int i = 0; i < 20'000 && refused < 500; ++i) {
        const auto url = "https://shop.example/" + topic + "/" + std::to_string(i);
        const auto status =
            shop.ask("POST", "/topics/" + topic,
                     R"({"type":"update","url":")" + url + R"(","data":{"a":")" + data + R"("}})",
                     test::authorization("shop"))
                .status;
        REQUIRE((status == 200 || status == 503));
        status == 200 ? accepted.push_back(url) : void(++refused);
    }
    CHECK(refused == 500);
    return accepted;
}

}  // namespace

TEST_CASE("a body may be as large as the setting says") {
    const test::TemporaryFolder folder;
    std::vector<std::string> flags;
    std::size_t limit = mebibyte;
    SUBCASE("the limit is a mebibyte by default") {}
    SUBCASE("the limit is set") {
        flags = {"--body-max", "2kB"};
        limit = 2'000;
    }
    const RunningBus bus{folder.path(), flags};
    CHECK(bus.ask("POST", "/topics/orders", "shop", std::string(limit, ' ')).status == 400);
    CHECK(bus.ask("POST", "/topics/orders", "shop", std::string(limit + 1, ' ')).status == 413);
}

TEST_CASE("no more connections are open than the setting allows") {
    const test::TemporaryFolder folder;
    std::vector<std::string> flags;
    std::size_t limit = 3;
    SUBCASE("many connections are allowed by default") {}
    SUBCASE("the limit is set") {
        flags = {"--connections-max", "2"};
        limit = 2;
    }
    const RunningBus bus{folder.path(), flags};
    std::vector<std::unique_ptr<test::HttpClient>> clients;
    std::size_t served = 0;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(
            std::make_unique<test::HttpClient>(bus.port(), "127.0.0.1", std::chrono::seconds{1}));
        static_cast<void>(answers(*clients.back()));
    }
    for (auto& client : clients) served += answers(*client) ? 1U : 0U;
    CHECK(served == limit);
}

TEST_CASE("the data of an event may be as large as the setting says") {
    const test::TemporaryFolder folder;
    std::vector<std::string> flags;
    std::size_t limit = 65'536;
    std::size_t around = 6;  // MessagePack: 1 byte for the map, 2 for the key, 3 for the size.
    SUBCASE("the limit is 64 KiB by default") {}
    SUBCASE("the limit is set") {
        flags = {"--event-data-max", "100"};
        limit = 100;
        around = 5;
    }
    const RunningBus bus{folder.path(), flags};
    const auto status = [&](std::size_t size) {
        return bus
            .ask("POST", "/topics/orders", "shop",
                 R"({"type":"noop","url":"https://a.example","data":{"a":")" +
                     std::string(size - around, 'x') + R"("}})")
            .status;
    };
    CHECK(status(limit) == 200);
    CHECK(status(limit + 1) == 400);
}

TEST_CASE("a job may be as large as the setting says") {
    const test::TemporaryFolder folder;
    std::vector<std::string> flags;
    std::size_t limit = 0;
    std::size_t around = 9;  // MessagePack: 1 + 2 + 1 bytes for lists and name, 5 for the size.
    SUBCASE("the limit is less than the default") {
        flags = {"--job-bytes-max", "100"};
        limit = 100;
        around = 6;
    }
    SUBCASE("the limit is more than the default") {
        flags = {"--job-bytes-max", "2000000", "--body-max", "8000000"};
        limit = 2'000'000;
    }
    const RunningBus bus{folder.path(), flags};
    const auto status = [&](std::size_t size) {
        return bus
            .ask("POST", "/v1/queues/images/jobs", test::root_key,
                 R"({"name":"a","arguments":[")" + std::string(size - around, 'x') + R"("]})")
            .status;
    };
    CHECK(status(limit) == 200);
    CHECK(status(limit + 1) == 400);
}

TEST_CASE("a subscriber may have as many topics as the setting says") {
    const test::TemporaryFolder folder;
    std::vector<std::string> flags;
    int limit = 1'000;
    SUBCASE("the limit is a thousand by default") {}
    SUBCASE("the limit is set") {
        flags = {"--topics-max", "3"};
        limit = 3;
    }
    const RunningBus bus{folder.path(), flags};
    const auto status = [&](int topics) {
        return bus.subscribe("billing", list_of_topics(topics), "https://a.example").status;
    };
    CHECK(status(limit) == 204);
    CHECK(status(limit + 1) == 400);
}

TEST_CASE("the numbers of queues and of timer namespaces in a store are limited") {
    const test::TemporaryFolder folder;
    // The bus's own queues, and its namespace of actions, do not count.
    const RunningBus bus{folder.path(),
                         {"--store", "file:" + (folder.path() / "bus.db").string() +
                                         "?queues_max=1&timer_namespaces_max=1"}};
    const auto post = [&](const std::string& path, const std::string& body) {
        return bus.ask("POST", path, test::root_key, body);
    };
    CHECK(post("/v1/queues/a/jobs", R"({"name":"x"})").status == 200);
    const auto refused = post("/v1/queues/b/jobs", R"({"name":"x"})");
    CHECK(refused.status == 403);
    CHECK(refused.body == "queue: there are 1 queues already, as many as queues_max allows");
    CHECK(post("/v1/queues/b/pause", {}).status == 403);
    CHECK(bus.ask("PUT", "/v1/queues/b/rate_limits", test::root_key, R"({"queue":{"jobs":1}})")
              .status == 403);
    CHECK(post("/v1/queues/b/jobs", R"([{"name":"x"}])").body.find("queues_max") !=
          std::string::npos);
    CHECK(post("/v1/queues/a/jobs", R"({"name":"y"})").status == 200);
    CHECK(post("/v1/timers/x", R"({"payload":1,"delay":60000})").status == 200);
    CHECK(post("/v1/timers/y", R"({"payload":1,"delay":60000})").status == 403);
}

TEST_CASE("the scaling pulse reports a busy bus from a set number of due deliveries on") {
    const test::TemporaryFolder folder;
    std::vector<std::string> flags;
    std::string due = "0";
    std::string busy = "false";
    SUBCASE("the default is 100 deliveries due within a second") {}
    SUBCASE("the threshold and the span are set") {
        flags = {"--scaling-threshold", "1", "--scaling-deadline", "3600000"};
        due = "1";
        busy = "true";
    }
    const RunningBus bus{folder.path(), flags};
    REQUIRE(bus.subscribe("billing", R"(["orders"])", "https://a.example", R"("timeout":60000)")
                .status == 204);
    REQUIRE(bus.publish("orders", "https://shop.example/1").status == 200);
    const auto pulse = bus.ask("GET", "/pulse/scaling", "shop");
    CHECK(pulse.headers.at("routemaster-jobs-due") == due);
    CHECK(pulse.headers.at("routemaster-busy") == busy);
}

TEST_CASE("a bus drops the oldest batches above a memory limit only with this setting") {
    const test::TemporaryFolder folder;
    {
        const RunningBus bus{folder.path()};
        REQUIRE(
            bus.subscribe("billing", R"(["orders"])", "https://a.example", R"("timeout":3600000)")
                .status == 204);
        for (int i = 0; i < 20; ++i) {
            REQUIRE(bus.publish("orders", "https://shop.example/1").status == 200);
        }
    }
    SUBCASE("by default no batch is dropped") {
        RunningBus bus{folder.path(), {"--monitor-interval", "0.05"}};
        REQUIRE(bus.process().await_error("INFO: gauge:subscriber.queue.events:20 "));
        CHECK(bus.process().errors().find("dropped") == std::string::npos);
        CHECK(queues(bus, 20));
    }
    SUBCASE("the limit is set") {
        RunningBus bus{folder.path(), {"--drop-oldest-above", "1k"}};
        CHECK(bus.process().await_error("WARN: dropped the oldest 1 batches, with 20 events: "));
        CHECK(queues(bus, 0));
    }
}

TEST_CASE("the data folder is a setting") {
    const test::TemporaryFolder folder;
    const auto elsewhere = folder.path() / "made for it";
    const auto start = [&](const std::string& flags) {
        const auto command = "cd '" + folder.path().string() + "' && exec '" +
                             test::routemaster_binary +
                             "' serve --listen 127.0.0.1:0 --root-key r" + flags;
        test::Process process{{"sh", "-c", command}};
        CHECK(process.line().starts_with("routemaster: listening"));
    };
    start("");
    CHECK(std::filesystem::exists(folder.path() / "routemaster.db"));
    start(" --data-dir '" + elsewhere.string() + "'");
    CHECK(std::filesystem::exists(elsewhere / "routemaster.db"));
}

TEST_CASE("a response waits for the disk, unless durability is relaxed") {
    const test::TemporaryFolder folder;
    const auto busy = folder.path() / "busy";
    std::string store = "file:" + (folder.path() / "bus.db").string();
    bool waits = true;
    SUBCASE("durability has its default") {}
    SUBCASE("durability is strict") { store += "?durability=strict"; }
    SUBCASE("durability is relaxed") {
        store += "?durability=relaxed";
        waits = false;
    }
    const RunningBus bus{folder.path(),
                         {"--store", store},
                         {{"LD_PRELOAD", ROUTEMASTER_FAILING_DISK},
                          {"FAILING_DISK", busy.string()},
                          {"FAILING_DISK_WAITS", "1"}}};
    const auto publish = [&](std::chrono::seconds timeout) {
        test::HttpClient client{bus.port(), "127.0.0.1", timeout};
        client.request("POST", "/topics/orders", RunningBus::event_json("https://shop.example/1"),
                       test::authorization("shop"));
        return client.receive().status;
    };
    REQUIRE(publish(std::chrono::seconds{30}) == 200);
    std::ofstream{busy} << "now";
    if (waits) {
        CHECK_THROWS(publish(std::chrono::seconds{1}));
    } else {
        CHECK(publish(std::chrono::seconds{30}) == 200);
    }
    std::filesystem::remove(busy);
    CHECK(publish(std::chrono::seconds{30}) == 200);
}

TEST_CASE("idle connections leave descriptors for deliveries, however low the limit") {
    raise_own_limit();
    const test::TemporaryFolder folder;
    const test::BatchReceiver receiver;
    std::string limit = "1024";
    SUBCASE("the limit has a common value") {}
    SUBCASE("the limit is near the lowest possible limit") { limit = "200"; }
    RunningBus bus{
        folder.path(), {"--header-timeout", "600", "--idle-timeout", "600"}, {}, "-n " + limit};
    CHECK(bus.process().await_error("the limit of open files, " + limit +
                                    ", cuts --connections-max from 10000 to "));
    CHECK(bus.process().await_error(", and --deliveries-max from 1024 to "));
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(),
                          R"("timeout":0,"max":1,"max_in_flight":50)")
                .status == 204);
    test::HttpClient shop{bus.port()};
    const auto publish = [&](int number) {
        const auto url = "https://shop.example/" + std::to_string(number);
        return shop
            .ask("POST", "/topics/orders", RunningBus::event_json(url), test::authorization("shop"))
            .status;
    };
    REQUIRE(publish(0) == 200);
    REQUIRE(receiver.await_event("https://shop.example/0"));

    std::vector<std::unique_ptr<test::HttpClient>> idle;
    for (int i = 0; i < 1'200; ++i) idle.push_back(std::make_unique<test::HttpClient>(bus.port()));
    for (int i = 1; i <= 50; ++i) CHECK(publish(i) == 200);
    for (int i = 1; i <= 50; ++i) {
        CHECK(receiver.await_event("https://shop.example/" + std::to_string(i)));
    }
    CHECK(bus.process().errors().find("failed to deliver") == std::string::npos);
}

TEST_CASE("settings that fit into the limit of open files are not lowered") {
    const test::TemporaryFolder folder;
    RunningBus bus{
        folder.path(), {"--connections-max", "20", "--deliveries-max", "8"}, {}, "-n 200"};
    CHECK(bus.stop() == 0);
    CHECK(bus.process().errors().find("the limit of open files") == std::string::npos);
}

TEST_CASE("a limit of open files too low for any work ends a service at its start") {
    const std::vector<std::string> flags{"--store", "redis://127.0.0.1:1"};
    auto web = flags;
    web.insert(web.end(), {"--root-key", "r"});
    const auto serve =
        refused(ROUTEMASTER_BINARY, {"serve", "--store", "memory:", "--root-key", "r"});
    for (const auto& text :
         {serve, refused(ROUTEMASTER_WEB_BINARY, web), refused(ROUTEMASTER_WORKER_BINARY, flags)}) {
        CHECK(text.find("the limit of open files, 64, is less than the ") != std::string::npos);
        CHECK(text.find("LimitNOFILE") != std::string::npos);
    }
}

TEST_CASE("near its memory limit the bus refuses events, and delivers its backlog") {
    const test::TemporaryFolder folder;
    test::BatchReceiver receiver;
    receiver.pause();
    // In KiB.
    RunningBus bus{folder.path(), {}, {}, "-v 614400"};
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("timeout":0,"max":10)")
                .status == 204);
    const auto accepted = publish_large(bus, "orders");
    CHECK(accepted.size() > 500);
    CHECK(bus.process().await_error("memory is short: new events and jobs are refused"));
    receiver.resume();
    for (const auto& url : accepted) REQUIRE(receiver.await_event(url));
    CHECK(test::await([&] { return bus.publish("orders", "https://a.example/").status == 200; }));
    CHECK(bus.process().errors().find("the journal is read again") == std::string::npos);
    CHECK(bus.stop() == 0);
}
