#include "routemaster/server/http_server.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "routemaster/error.hpp"
#include "support/await.hpp"
#include "support/http_client.hpp"
#include "support/http_server_scene.hpp"

namespace rm = routemaster;
using namespace routemaster::test;
using namespace std::chrono_literals;

TEST_CASE("stopping a server waits for the response to a request in progress") {
    HttpRequestQueue requests;
    rm::HttpServer server{{.idle_timeout = 1ms}, requests.handler()};
    HttpClient client{server.port()};
    client.request("GET", "/");
    auto waiting = requests.take();
    SUBCASE("the server is stopped soon after the request") {}
    SUBCASE("the server is stopped a second after the request") { let_a_second_pass(server); }
    std::promise<void> stopped;
    std::thread stopping{[&] {
        server.stop(60s);
        stopped.set_value();
    }};
    while (listens(server.port())) std::this_thread::yield();
    CHECK(stopped.get_future().wait_for(0s) == std::future_status::timeout);
    waiting.respond({200, "in time", "", {}});
    const auto reply = client.receive();
    CHECK(reply.status == 200);
    CHECK(reply.body == "in time");
    CHECK(reply.headers.at("connection") == "close");
    CHECK(client.closed_by_peer());
    stopping.join();
    server.stop(60s);
}

TEST_CASE("stopping a server yields 503 for requests without a response in time") {
    HttpRequestQueue requests;
    auto server = std::make_unique<rm::HttpServer>(rm::HttpServerOptions{.idle_timeout = 1ms},
                                                   requests.handler());
    const auto port = server->port();
    HttpClient client{port};
    client.request("GET", "/");
    auto waiting = requests.take();
    SUBCASE("the server is stopped soon after the request") {}
    SUBCASE("the server is stopped a second after the request") { let_a_second_pass(*server); }
    HttpClient idle{port};
    server->stop(1ms);
    const auto reply = client.receive();
    CHECK(reply.status == 503);
    CHECK(reply.headers.at("connection") == "close");
    CHECK(client.closed_by_peer());
    CHECK(idle.closed_by_peer());
    CHECK_FALSE(listens(port));
    server.reset();
    waiting.respond({200, "too late", "", {}});
}

TEST_CASE("a responder may outlive its server without being called") {
    HttpRequestQueue requests;
    std::optional<WaitingRequest> waiting;
    {
        rm::HttpServer server{{}, requests.handler()};
        HttpClient client{server.port()};
        client.request("GET", "/");
        waiting = requests.take();
    }
    waiting.reset();
    CHECK_FALSE(waiting.has_value());
}

TEST_CASE("the error names an address that cannot be listened on") {
    const auto failure_of = [](rm::HttpServerOptions options) {
        try {
            rm::HttpServer server{std::move(options), echo};
        } catch (const rm::Failure& failure) {
            return failure;
        }
        throw std::runtime_error{"it listens"};
    };
    rm::HttpServer first{{}, echo};
    const auto in_use = failure_of({.port = first.port()});
    CHECK(in_use.code() == rm::Errc::unavailable);
    CHECK(std::string{in_use.what()}.find("127.0.0.1:" + std::to_string(first.port())) !=
          std::string::npos);
    CHECK(std::string{in_use.what()}.find("in use") != std::string::npos);

    const auto invalid = failure_of({.address = "localhost", .port = 80});
    CHECK(invalid.code() == rm::Errc::invalid);
    CHECK(std::string{invalid.what()}.find("localhost:80") != std::string::npos);

    const auto foreign = failure_of({.address = "192.0.2.1", .port = 8080});
    CHECK(foreign.code() == rm::Errc::unavailable);
}

TEST_CASE("the server listens on an IPv6 address") {
    rm::HttpServer server{{.address = "::1"}, echo};
    HttpClient client{server.port(), "::1"};
    CHECK(client.ask("GET", "/six").body == "GET /six ");
}

TEST_CASE("a port is free again once the server has stopped") {
    rm::HttpServer first{{}, echo};
    HttpClient client{first.port()};
    CHECK(client.ask("GET", "/").status == 200);
    first.stop(0ms);
    rm::HttpServer second{{.port = first.port()}, echo};
    CHECK(HttpClient{second.port()}.ask("GET", "/").status == 200);
}

TEST_CASE("a connection beyond the limit of connections waits until another connection ends") {
    std::vector<std::string> paths;
    rm::HttpServer server{{.threads = 1, .connections_max = 1},
                          [&](const rm::HttpRequest& request, const rm::HttpResponder& respond) {
                              paths.push_back(request.path);
                              respond({204, "", "", {}});
                          }};
    HttpClient first{server.port()};
    CHECK(first.ask("GET", "/first").status == 204);
    HttpClient second{server.port()};
    second.request("GET", "/second");
    for (int i = 0; i < 20; ++i) CHECK(first.ask("GET", "/first").status == 204);
    first.close();
    CHECK(second.receive().status == 204);
    REQUIRE(paths.size() == 22);
    CHECK(std::count(paths.begin(), paths.end() - 1, "/first") == 21);
    CHECK(paths.back() == "/second");
}

TEST_CASE("a silent connection is closed, except while it waits for its response") {
    HttpRequestQueue requests;
    rm::HttpServer server{{.idle_timeout = 1ms}, requests.handler()};
    HttpClient waiting{server.port()};
    HttpClient silent{server.port()};
    waiting.request("GET", "/");
    auto request = requests.take();
    CHECK(silent.closed_by_peer());
    request.respond({204, "", "", {}});
    CHECK(waiting.receive().status == 204);
    CHECK(waiting.closed_by_peer());
}

TEST_CASE("a server can be stopped under load, again and again") {
    for (int round = 0; round < 20; ++round) {
        HttpRequestQueue requests;
        rm::HttpServer server{{.threads = 2}, requests.handler()};
        std::atomic<bool> done{false};
        std::thread answering{[&] {
            for (auto waiting = requests.take(); !done; waiting = requests.take()) {
                waiting.respond({204, "", "", {}});
            }
        }};
        std::promise<void> warm;
        std::atomic<int> ended{0};
        std::vector<std::thread> clients;
        for (int number = 0; number < 4; ++number) {
            auto connected = std::make_unique<HttpClient>(server.port());
            clients.emplace_back([&, number, client = std::move(connected)] {
                try {
                    for (int i = 0;; ++i) {
                        client->ask("POST", "/", "x");
                        if (number == 0 && i == 50) warm.set_value();
                    }
                } catch (const std::runtime_error&) {
                    ++ended;
                }
            });
        }
        warm.get_future().wait();
        server.stop(round % 2 == 0 ? 0ms : 10s);
        for (auto& client : clients) client.join();
        CHECK(ended == 4);
        done = true;
        requests.handler()({}, [](const rm::HttpResponse&) {});
        answering.join();
    }
}

TEST_CASE("a handler that responds late can learn that its client has disconnected") {
    HttpRequestQueue requests;
    rm::HttpServer server{{}, requests.handler()};
    HttpClient client{server.port()};
    client.request("GET", "/");
    const auto waiting = requests.take();
    REQUIRE(waiting.request.client_gone != nullptr);
    CHECK(!waiting.request.client_gone->load());
    SUBCASE("the client has closed its connection") { client.close(); }
    SUBCASE("the client has closed only its sending half") { client.end(); }
    SUBCASE("the client has reset the connection") { client.reset(); }
    CHECK(await([&] { return waiting.request.client_gone->load(); }));
    waiting.respond({200, "late", "", {}});
}

TEST_CASE("a connected client is never reported as disconnected, over several requests") {
    HttpRequestQueue requests;
    rm::HttpServer server{{}, requests.handler()};
    HttpClient client{server.port()};
    for (int i = 0; i < 3; ++i) {
        client.request("GET", "/");
        const auto waiting = requests.take();
        CHECK(!waiting.request.client_gone->load());
        waiting.respond({200, "", "", {}});
        CHECK(client.receive().status == 200);
    }
}
