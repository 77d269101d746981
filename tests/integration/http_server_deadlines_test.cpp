#include <doctest/doctest.h>

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "routemaster/server/http_server.hpp"
#include "support/await.hpp"
#include "support/http_client.hpp"
#include "support/http_server_scene.hpp"
#include "support/process_usage.hpp"
#include "support/recorded_log.hpp"

namespace rm = routemaster;
using namespace routemaster::test;
using namespace std::chrono_literals;

namespace {

constexpr auto half_a_head = "GET / HTTP/1.1\r\nHost: t\r\nX: ";

std::string body_of(std::size_t size) {
    return "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
}

/// Sends a byte every 20 ms until the server accepts no more, or until `timeout`. Returns the
/// duration.
std::chrono::duration<double> drip(HttpClient& client, std::string_view byte,
                                   std::chrono::seconds timeout) {
    const auto began = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::steady_clock::now() - began; };
    // The kernel still accepts the first byte after the end of a connection.
    while (passed() < timeout && client.try_send(byte)) std::this_thread::sleep_for(20ms);
    return passed();
}

}  // namespace

TEST_CASE("the head of a request must arrive in time, even when its bytes arrive slowly") {
    rm::HttpServer server{{.header_timeout = 300ms}, echo};
    SUBCASE("an incomplete head gets 408") {
        HttpClient silent{server.port()};
        silent.send(half_a_head);
        const auto began = std::chrono::steady_clock::now();
        const auto reply = silent.receive();
        CHECK(std::chrono::steady_clock::now() - began >= 250ms);
        CHECK(reply.status == 408);
        CHECK(reply.headers.at("connection") == "close");
        CHECK(silent.closed_by_peer());
    }
    SUBCASE("the head arrives byte by byte or field by field") {
        for (const std::string_view piece : {"x", "X: y\r\n"}) {
            HttpClient client{server.port()};
            client.send(piece == "x" ? half_a_head : "GET / HTTP/1.1\r\n");
            CHECK(drip(client, piece, 20s) < 10s);
        }
    }
    SUBCASE("the connection has had a complete request before") {
        HttpClient client{server.port()};
        CHECK(client.ask("GET", "/").status == 200);
        client.send("GET / HTT");
        CHECK(client.receive().status == 408);
        CHECK(client.closed_by_peer());
    }
    SUBCASE("the limit between two requests is longer") {
        HttpClient client{server.port()};
        for (int i = 0; i < 2; ++i) {
            CHECK(client.ask("GET", "/").status == 200);
            std::this_thread::sleep_for(600ms);
        }
        CHECK(client.ask("GET", "/").status == 200);
    }
    SUBCASE("a client that sends nothing is disconnected without a response") {
        HttpClient client{server.port()};
        CHECK(client.closed_by_peer());
    }
}

TEST_CASE("a body must arrive at a minimum rate, or the response is 408") {
    rm::HttpServer server{{.header_timeout = 200ms, .body_rate_min = 10'000}, echo};
    SUBCASE("a body that stops arriving gets 408") {
        HttpClient client{server.port()};
        client.send(body_of(10) + "abc");
        CHECK(client.receive().status == 408);
        CHECK(client.closed_by_peer());
    }
    SUBCASE("a body that arrives too slowly gets 408") {
        HttpClient client{server.port()};
        client.send(body_of(100'000));
        CHECK(drip(client, "x", 20s) < 10s);
    }
    SUBCASE("a body whose chunk headers alone arrive gets 408") {
        HttpClient client{server.port()};
        client.send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n");
        CHECK(drip(client, "1;" + std::string(200, 'e') + "\r\nx\r\n", 20s) < 10s);
    }
    SUBCASE("a body that is fast enough may take longer than a head") {
        HttpClient client{server.port()};
        client.send(body_of(100'000));
        const std::string part(5'000, 'x');
        for (int i = 0; i < 20; ++i) {
            client.send(part);
            std::this_thread::sleep_for(80ms);
        }
        CHECK(client.receive().status == 200);
    }
}

TEST_CASE("the minimum rate of a body is a setting") {
    rm::HttpServer server{{.header_timeout = 200ms, .body_rate_min = 100}, echo};
    HttpClient client{server.port()};
    constexpr int parts = 20;
    const std::string part(500, 'x');
    client.send(body_of(parts * part.size()));
    // Half of the default rate, for two seconds.
    for (int i = 0; i < parts; ++i) {
        client.send(part);
        std::this_thread::sleep_for(100ms);
    }
    CHECK(client.receive().status == 200);
}

TEST_CASE("a client must read a response at a minimum rate, or its connection is closed") {
    HttpRequestQueue requests;
    // Bytes that the kernel accepts at once count as read. At this rate they extend the time only
    // little.
    rm::HttpServer server{{.header_timeout = 200ms, .body_rate_min = 1'000'000'000},
                          requests.handler()};
    HttpClient client{server.port()};
    client.request("GET", "/");
    auto waiting = requests.take();
    const auto files = open_files(::getpid());
    waiting.respond({200, std::string(50'000'000, 'x'), "", {}});
    CHECK(await([&] { return open_files(::getpid()) == files - 1; }));
    CHECK(client.receive_all().size() < 50'000'000);
}

TEST_CASE("at the limit of connections, a new client replaces the oldest incomplete request") {
    RecordedLog log;
    rm::HttpServer server{{.threads = 2, .connections_max = 4, .log = log.sink()}, echo};
    HttpClient busy{server.port()};
    CHECK(busy.ask("GET", "/").status == 200);
    // Two threads may disagree about the older of two simultaneous connections.
    const auto next = [] { std::this_thread::sleep_for(100ms); };
    HttpClient silent{server.port()};
    next();
    HttpClient head{server.port()};
    head.send(half_a_head);
    next();
    HttpClient body{server.port()};
    body.send(body_of(10) + "abc");
    next();

    // The oldest incomplete request is closed first. Clients with a complete request, and clients
    // between two requests, are never closed.
    HttpClient first{server.port()};
    CHECK(first.ask("GET", "/first").status == 200);
    CHECK(silent.closed_by_peer());
    HttpClient second{server.port()};
    CHECK(second.ask("GET", "/second").status == 200);
    HttpClient third{server.port()};
    CHECK(third.ask("GET", "/third").status == 200);
    CHECK(head.closed_by_peer());
    CHECK(body.closed_by_peer());
    for (auto* kept : {&busy, &first, &second, &third}) CHECK(kept->ask("GET", "/").status == 200);
    CHECK(log.count(rm::LogLevel::info, "the oldest without a complete request was closed") > 0);
}

TEST_CASE("many incomplete requests do not lock out a new client") {
    rm::HttpServer server{{.threads = 2, .connections_max = 200}, echo};
    std::vector<std::unique_ptr<HttpClient>> crowd;
    for (int i = 0; i < 1'000; ++i) {
        crowd.push_back(std::make_unique<HttpClient>(server.port()));
        static_cast<void>(crowd.back()->try_send(half_a_head));
    }
    for (int i = 0; i < 5; ++i) {
        const auto began = std::chrono::steady_clock::now();
        CHECK(HttpClient{server.port()}.ask("GET", "/let-me-in").status == 200);
        CHECK(std::chrono::steady_clock::now() - began < 10s);
    }
}

TEST_CASE("incomplete requests get 503 when the server stops, and do not delay the stop") {
    HttpRequestQueue requests;
    rm::HttpServer server{{}, requests.handler()};
    std::vector<std::unique_ptr<HttpClient>> halves;
    for (int i = 0; i < 100; ++i) {
        halves.push_back(std::make_unique<HttpClient>(server.port()));
        halves.back()->send(i % 2 == 0 ? std::string{half_a_head} : body_of(10) + "abc");
    }
    HttpClient whole{server.port()};
    whole.request("GET", "/");
    auto waiting = requests.take();
    const auto began = std::chrono::steady_clock::now();
    std::thread stopping{[&] { server.stop(60s); }};
    for (auto& half : halves) {
        const auto answer = half->receive_all();
        CHECK(answer.starts_with("HTTP/1.1 503 "));
        CHECK(answer.find("Retry-After: 1\r\n") != std::string::npos);
    }
    waiting.respond({200, "whole", "", {}});
    CHECK(whole.receive().body == "whole");
    stopping.join();
    CHECK(std::chrono::steady_clock::now() - began < 10s);
}
