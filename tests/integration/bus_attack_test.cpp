#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "support/await.hpp"
#include "support/free_port.hpp"
#include "support/process_usage.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using namespace routemaster::test;
using namespace std::chrono_literals;

namespace {

const std::string host_line = "Host: t\r\n";
const std::string half_a_request = "GET /health HTTP/1.1\r\n" + host_line;

std::string publication(std::string_view token, std::size_t size) {
    return "POST /topics/orders HTTP/1.1\r\n" + host_line + authorization(token) +
           "Content-Length: " + std::to_string(size) + "\r\n\r\n";
}

std::vector<std::unique_ptr<HttpClient>> crowd(const RunningBus& bus, int size,
                                               const std::string& bytes) {
    std::vector<std::unique_ptr<HttpClient>> clients;
    for (int i = 0; i < size; ++i) {
        clients.push_back(std::make_unique<HttpClient>(bus.port()));
        static_cast<void>(clients.back()->try_send(bytes));
    }
    return clients;
}

/// Makes a DEAD batch of `billing` of one mebibyte, six as JSON. Returns its id.
std::string large_dead_batch(const RunningBus& bus) {
    // A port without a listener.
    const std::string callback = "http://127.0.0.1:" + std::to_string(free_port()) + "/";
    REQUIRE(bus.subscribe("billing", R"(["orders"])", callback,
                          R"("timeout":60000,"max":17,"attempts_max":1)")
                .status == 204);
    std::string text;
    for (int i = 0; i < 60'000; ++i) text += "\\u0001";
    for (int i = 0; i < 17; ++i) {
        REQUIRE(bus.ask("POST", "/topics/orders", "shop",
                        R"({"type":"update","url":"https://shop.example/1","data":{"x":")" + text +
                            "\"}}")
                    .status == 200);
    }
    std::string listed;
    REQUIRE(await([&] {
        listed = bus.ask("GET", "/subscriber/dead", "billing").body;
        return listed.size() > 10;
    }));
    const auto begin = listed.find(R"("uid":")") + 7;
    return listed.substr(begin, listed.find('"', begin) - begin);
}

}  // namespace

TEST_CASE("bytes of clients without credentials cost the bus little time") {
    const TemporaryFolder folder;
    RunningBus bus{folder.path()};
    const auto pid = bus.process().pid();
    const std::string chunked =
        "POST /topics/a HTTP/1.1\r\n" + host_line + "Transfer-Encoding: chunked\r\n\r\n";
    const auto files = open_files(pid);
    const auto before = processor_time(pid);
    for (int i = 0; i < 20; ++i) {
        for (const auto& bytes :
             {chunked + "5;" + std::string(20'000, 'a'), chunked + std::string(20'000, '0'),
              "GET /health?" + std::string(4'000, '&') + " HTTP/1.1\r\n" + host_line + "\r\n",
              "POST /topics/a HTTP/1.1\r\n" + host_line + "Transfer-Encoding: gzip\r\n\r\nx",
              half_a_request + std::string(100'000, 'x'), std::string(10'000, '\n')}) {
            HttpClient client{bus.port()};
            client.send(bytes);
            client.end();
            CHECK(client.receive_all().starts_with("HTTP/1.1 "));
        }
    }
    CHECK((processor_time(pid) - before).count() < 1.5);
    CHECK(await([&] { return open_files(pid) <= files; }));
    CHECK(bus.stop() == 0);
    // 100 refusals make one log line per second.
    const auto errors = bus.process().errors();
    CHECK(errors.find("http: refused: ") != std::string::npos);
    CHECK(errors.find(", occurrences since the last such line: ") != std::string::npos);
    CHECK(errors.find("ERROR") == std::string::npos);
}

TEST_CASE("credentials are checked before a body is kept in memory") {
    const TemporaryFolder folder;
    RunningBus bus{folder.path()};
    for (const auto& each : std::vector<std::tuple<std::string, std::string, int>>{
             {"shop", "/topics/orders", 0},
             {"stranger", "/topics/orders", 401},
             {test::root_key, "/topics/orders", 401},
             {test::root_key, "/api_tokens", 0},
             {"shop", "/api_tokens", 401},
             {"shop", "/nowhere", 404},
             {"shop", "/health", 404}}) {
        const auto token = std::get<0>(each);
        const auto path = std::get<1>(each);
        const auto status = std::get<2>(each);
        CAPTURE(token);
        CAPTURE(path);
        HttpClient client{bus.port()};
        client.send("POST " + path + " HTTP/1.1\r\n" + host_line + authorization(token) +
                    "Content-Length: 100000\r\nExpect: 100-continue\r\n\r\n");
        CHECK(client.receive().status == (status == 0 ? 100 : status));
    }
    HttpClient huge{bus.port()};
    huge.send(publication("stranger", 2U << 20U));
    CHECK(huge.receive().status == 413);

    const auto pid = bus.process().pid();
    const auto before = resident_bytes(pid);
    const auto clients =
        crowd(bus, 200, publication("stranger", 1U << 20U) + std::string((1U << 20U) - 1, 'x'));
    if (memory_tells) CHECK(resident_bytes(pid) < before + (20U << 20U));
    CHECK(bus.publish("orders", "https://shop.example/1").status == 200);
}

TEST_CASE("bodies of requests in memory are bounded over all clients") {
    const TemporaryFolder folder;
    std::vector<std::string> flags;
    std::size_t bound = 64U << 20U;
    SUBCASE("the bound is 64 MiB by default") {}
    SUBCASE("the bound is a setting") {
        flags = {"--buffered-bytes-max", "8388608"};
        bound = 8U << 20U;
    }
    std::string limits;
    // A sanitizer needs more memory than the limit.
    if (memory_tells) {
        SUBCASE("the bound is an eighth of the memory limit") {
            limits = "-d 262144";
            bound = 32U << 20U;
        }
    }
    RunningBus bus{folder.path(), flags, {}, limits};
    const auto pid = bus.process().pid();
    const auto before = resident_bytes(pid);
    const std::size_t size = 1U << 20U;
    const auto publish = [&] { return bus.publish("orders", "https://shop.example/1").status; };
    // Exactly this number of requests fits into the limit.
    auto clients = crowd(bus, static_cast<int>(bound / size),
                         publication("shop", size) + std::string(size - 1, ' '));
    REQUIRE(await([&] {
        auto late = std::make_unique<HttpClient>(bus.port(), "127.0.0.1", 1s);
        static_cast<void>(late->try_send(publication("shop", size) + std::string(size - 1, ' ')));
        try {
            // While a part of this request was in memory, the bus may have refused a request of the
            // crowd.
            return late->receive().status == 503 && publish() == 503;
        } catch (const std::runtime_error&) {
            // This request was accepted: a request of the crowd arrived later, and was refused
            // instead.
            clients.push_back(std::move(late));
            return false;
        }
    }));
    // Now the limit is reached.
    if (memory_tells) CHECK(resident_bytes(pid) < before + bound + (24U << 20U));
    clients.clear();
    CHECK(await([&] { return publish() == 200; }));
}

TEST_CASE(
    "responses that clients do not read take a bounded amount of memory, and delay no client") {
    const TemporaryFolder folder;
    std::vector<std::string> flags;
    std::size_t bound = 64U << 20U;
    SUBCASE("the bound is 64 MiB by default") {}
    SUBCASE("the bound is a setting") {
        flags = {"--answer-bytes-max", "8388608"};
        bound = 8U << 20U;
    }
    RunningBus bus{folder.path(), flags};
    const auto uid = large_dead_batch(bus);
    const auto target = "/subscriber/dead/" + uid;
    CHECK(bus.ask("GET", target, "billing").body.size() > 6'000'000);
    const auto pid = bus.process().pid();
    const auto before = resident_bytes(pid);
    const auto files = open_files(pid);
    auto silent =
        crowd(bus, 300,
              "GET " + target + " HTTP/1.1\r\n" + host_line + authorization("billing") + "\r\n");
    std::size_t most = 0;
    REQUIRE(await([&] {
        most = std::max(most, resident_bytes(pid));
        return open_files(pid) >= files + silent.size() / 2;
    }));
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) {
        CHECK(bus.publish("orders", "https://shop.example/1").status == 200);
        most = std::max(most, resident_bytes(pid));
    }
    CHECK(std::chrono::steady_clock::now() - began < 10s);
    // Clients that read nothing are disconnected.
    CHECK(await([&] {
        most = std::max(most, resident_bytes(pid));
        return bus.ask("GET", target, "billing").status == 200;
    }));
    if (memory_tells) CHECK(most < before + bound + (64U << 20U));
    silent.clear();
    if (memory_tells) {
        CHECK(await([&] { return resident_bytes(pid) < before + (24U << 20U); }));
    }
    CHECK(bus.stop() == 0);
    const auto errors = bus.process().errors();
    CHECK(errors.find("http: refused: too many responses wait for their clients") !=
          std::string::npos);
}

TEST_CASE("pages of jobs that clients do not read take bounded memory, and delay no publication") {
    const TemporaryFolder folder;
    std::string limits;
    std::size_t bound = 64U << 20U;
    int count = 600;
    SUBCASE("the bound is 64 MiB") {}
    SUBCASE("the bound is an eighth of the memory limit") {
        limits = "-d 204800";
        bound = 25U << 20U;
        count = 60;
    }
    RunningBus bus{folder.path(), {}, {}, limits};
    std::string jobs = "[";
    for (int i = 0; i < 100; ++i) {
        jobs += jobs.size() > 1 ? "," : "";
        jobs += R"({"name":"resize","arguments":[)" + std::to_string(i) + ",\"" +
                std::string(9'000, 'x') + "\"]}";
    }
    CHECK(bus.ask("POST", "/v1/queues/images/jobs", test::root_key, jobs + "]").status == 200);
    const std::string target = "/v1/queues/images/jobs?state=ready";
    CHECK(bus.ask("GET", target, test::root_key).body.size() > 900'000);
    const auto pid = bus.process().pid();
    const auto before = resident_bytes(pid);
    const auto silent = crowd(
        bus, count,
        "GET " + target + " HTTP/1.1\r\n" + host_line + authorization(test::root_key) + "\r\n");
    std::size_t most = 0;
    for (int i = 0; i < 50; ++i) {
        CHECK(bus.publish("orders", "https://shop.example/1").status == 200);
        most = std::max(most, resident_bytes(pid));
    }
    CHECK(bus.process().await_error("http: refused: too many responses wait for their clients"));
    if (memory_tells) CHECK(most < before + bound + (48U << 20U));
    CHECK(bus.stop() == 0);
}

TEST_CASE("control characters sent by a client do not reach the terminal of a reader of the log") {
    const TemporaryFolder folder;
    RunningBus bus{folder.path()};
    CHECK(bus.ask("POST", "/v1/queues/images/jobs", test::root_key, R"({"name":"a"})").status ==
          200);
    const auto leased = bus.ask("POST", "/v1/queues/images/lease", test::root_key, "{}").body;
    const auto at = leased.find(R"("lease":")") + 9;
    const auto lease = leased.substr(at, leased.find('"', at) - at);
    const auto id = leased.substr(leased.find(R"("id":)") + 5, 1);
    CHECK(bus.ask("POST", "/v1/queues/images/jobs/" + id + "/nack", test::root_key,
                  R"({"lease":")" + lease + R"(","error":"one\u009b31mtwo\u202ethree\u2066four"})")
              .status == 200);
    CHECK(bus.process().await_error("failed: one 31mtwo three four"));
}

TEST_CASE("incomplete requests do not delay the end of the bus") {
    const TemporaryFolder folder;
    RunningBus bus{folder.path()};
    auto heads = crowd(bus, 250, half_a_request);
    auto bodies = crowd(bus, 250, publication("shop", 1'000) + "abc");
    CHECK(bus.ask("GET", "/health").status == 200);
    const auto began = std::chrono::steady_clock::now();
    CHECK(bus.stop() == 0);
    CHECK(std::chrono::steady_clock::now() - began < 4s);
}

TEST_CASE("the number of open connections is a setting") {
    const TemporaryFolder folder;
    std::vector<std::string> flags;
    SUBCASE(
        "with a limit of one connection, the older of two connections is "
        "closed") {
        flags = {"--connections-max", "2"};
    }
    SUBCASE("by default more connections are possible") {}
    const RunningBus bus{folder.path(), flags};
    const auto older = crowd(bus, 1, half_a_request);
    // Two threads may disagree about the older of two simultaneous connections.
    ::usleep(200'000);
    const auto younger = crowd(bus, 1, half_a_request);
    CHECK(bus.ask("GET", "/health").status == 200);
    CHECK(older.front()->try_send("\r\n"));
    if (flags.empty()) {
        CHECK(older.front()->receive().status == 200);
    } else {
        CHECK(older.front()->closed_by_peer());
    }
    CHECK(younger.front()->try_send("\r\n"));
    CHECK(younger.front()->receive().status == 200);
}

TEST_CASE("deadlines of requests are settings") {
    const TemporaryFolder folder;
    SUBCASE("the deadline for the head of a request is a setting") {
        const RunningBus bus{folder.path(), {"--header-timeout", "0.3"}};
        HttpClient client{bus.port()};
        const auto began = std::chrono::steady_clock::now();
        client.send(half_a_request);
        CHECK(client.receive().status == 408);
        // The default is 10 s.
        CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{9});
    }
    SUBCASE("the deadline for the body of a request is a setting") {
        const RunningBus bus{folder.path(),
                             {"--header-timeout", "0.3", "--body-rate-min", "1000000000"}};
        HttpClient client{bus.port()};
        client.send(publication("shop", 1'000'000) + std::string(500'000, ' '));
        CHECK(client.receive().status == 408);
    }
    SUBCASE("the minimum rate of the body of a request is a setting") {
        const RunningBus bus{folder.path(), {"--header-timeout", "0.3", "--body-rate-min", "1"}};
        HttpClient client{bus.port()};
        client.send(publication("shop", 1'000'000) + std::string(500'000, ' '));
        ::usleep(1'500'000);
        client.send(std::string(500'000, ' '));
        CHECK(client.receive().status == 400);
    }
    SUBCASE("the deadline between two requests is a setting") {
        const RunningBus bus{folder.path(), {"--idle-timeout", "1"}};
        HttpClient client{bus.port()};
        CHECK(client.ask("GET", "/health").status == 200);
        CHECK(client.closed_by_peer());
    }
    SUBCASE("by default the deadlines are long") {
        const RunningBus bus{folder.path()};
        HttpClient head{bus.port()};
        HttpClient body{bus.port()};
        HttpClient idle{bus.port()};
        CHECK(idle.ask("GET", "/health").status == 200);
        head.send(half_a_request);
        body.send(publication("shop", 10'000));
        ::usleep(2'500'000);
        head.send("\r\n");
        CHECK(head.receive().status == 200);
        body.send(std::string(10'000, ' '));
        CHECK(body.receive().status == 400);
        CHECK(idle.ask("GET", "/health").status == 200);
        const auto began = std::chrono::steady_clock::now();
        head.send(half_a_request);
        CHECK(head.receive().status == 408);
        CHECK(std::chrono::steady_clock::now() - began > 8s);
        CHECK(std::chrono::steady_clock::now() - began < 15s);
    }
}
