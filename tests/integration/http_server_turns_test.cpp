#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "routemaster/server/http_server.hpp"
#include "support/await.hpp"
#include "support/http_client.hpp"
#include "support/http_server_scene.hpp"

namespace rm = routemaster;
using namespace routemaster::test;
using namespace std::chrono_literals;

namespace {

std::set<std::filesystem::path> threads_of_this_process() {
    const std::filesystem::directory_iterator tasks{"/proc/self/task"};
    return {begin(tasks), end(tasks)};
}

/// A server with one loop. The test observes the loop's thread.
struct WatchedLoop {
    HttpRequestQueue requests;
    std::set<std::filesystem::path> others = threads_of_this_process();
    rm::HttpServer server{{.threads = 1}, requests.handler()};
    std::filesystem::path thread = the_new_one();

    [[nodiscard]] std::filesystem::path the_new_one() const {
        for (const auto& each : threads_of_this_process()) {
            if (!others.contains(each)) return each;
        }
        throw std::runtime_error{"the server has no thread"};
    }

    /// A field of the thread's status.
    [[nodiscard]] std::string status(const std::string& name) const {
        std::ifstream file{thread / "status"};
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
        }
        throw std::runtime_error{"no " + name};
    }

    [[nodiscard]] bool sleeps() const { return status("State").starts_with('S'); }
    [[nodiscard]] std::uint64_t sleeps_so_far() const {
        return std::stoull(status("voluntary_ctxt_switches"));
    }
};

}  // namespace

TEST_CASE(
    "the only waiting response is sent by the responding thread, without waking the event loop") {
    constexpr std::uint64_t exchanges = 50;
    WatchedLoop loop;
    HttpClient client{loop.server.port()};
    std::string large(5'000, 'x');
    const auto exchange = [&](const std::string& body) {
        client.request("GET", "/");
        auto waiting = loop.requests.take();
        REQUIRE(await([&] { return loop.sleeps(); }));
        waiting.respond({200, body, "", {}});
        REQUIRE(client.receive().body == body);
        REQUIRE(await([&] { return loop.sleeps(); }));
    };
    exchange("warm");
    const auto before = loop.sleeps_so_far();
    SUBCASE("a short response does not wake the event loop") {
        for (std::uint64_t i = 0; i < exchanges; ++i) exchange(std::to_string(i));
        CHECK(loop.sleeps_so_far() - before < exchanges * 3 / 2);
    }
    SUBCASE("a large response wakes the event loop") {
        for (std::uint64_t i = 0; i < exchanges; ++i) exchange(large);
        CHECK(loop.sleeps_so_far() - before >= exchanges * 2);
    }
    SUBCASE("a response beside a second waiting request wakes the event loop") {
        HttpClient other{loop.server.port()};
        other.request("GET", "/");
        const auto waiting = loop.requests.take();
        for (std::uint64_t i = 0; i < exchanges; ++i) exchange(std::to_string(i));
        CHECK(loop.sleeps_so_far() - before >= exchanges * 2);
    }
}

TEST_CASE("a connection is served after a response that was sent without the event loop") {
    WatchedLoop loop;
    HttpClient client{loop.server.port()};
    const auto answer_next = [&] {
        auto waiting = loop.requests.take();
        REQUIRE(await([&] { return loop.sleeps(); }));
        waiting.respond({200, waiting.request.path, "", {}});
    };
    SUBCASE("the next request that has already arrived is served soon") {
        auto fastest = std::chrono::steady_clock::duration::max();
        for (int i = 0; i < 5; ++i) {
            client.send("GET /1 HTTP/1.1\r\nHost: t\r\n\r\nGET /2 HTTP/1.1\r\nHost: t\r\n\r\n");
            answer_next();
            const auto answered = std::chrono::steady_clock::now();
            CHECK(client.receive().body == "/1");
            answer_next();
            fastest = std::min(fastest, std::chrono::steady_clock::now() - answered);
            CHECK(client.receive().body == "/2");
        }
        CHECK(fastest < 500ms);
    }
    SUBCASE("the connection is closed as the client asked") {
        client.send("GET /1 HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
        answer_next();
        CHECK(client.receive().body == "/1");
        CHECK(client.closed_by_peer());
    }
}

TEST_CASE(
    "a server that stops ends with its last response, even if the event loop was not woken for "
    "it") {
    auto fastest = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 5; ++i) {
        WatchedLoop loop;
        HttpClient client{loop.server.port()};
        client.request("GET", "/");
        auto waiting = loop.requests.take();
        std::thread stopping{[&] { loop.server.stop(60s); }};
        REQUIRE(await([&] { return !listens(loop.server.port()) && loop.sleeps(); }));
        const auto began = std::chrono::steady_clock::now();
        waiting.respond({204, "", "", {}});
        stopping.join();
        fastest = std::min(fastest, std::chrono::steady_clock::now() - began);
        CHECK(client.receive().status == 204);
    }
    CHECK(fastest < 500ms);
}
