#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "routemaster/error.hpp"
#include "routemaster/server/http_server.hpp"
#include "support/await.hpp"
#include "support/http_client.hpp"
#include "support/http_server_scene.hpp"
#include "support/recorded_log.hpp"

namespace rm = routemaster;
using namespace routemaster::test;
using namespace std::chrono_literals;

namespace {

const std::string large_body(20'000, 'x');

/// A handler that spends as much time on a large body as the test wants.
struct SlowReader {
    std::promise<void> release{};
    std::shared_future<void> released{release.get_future()};
    std::atomic<int> reading{0};

    [[nodiscard]] rm::HttpHandler handler() {
        return [this](rm::HttpRequest request, const rm::HttpResponder& respond) {
            if (request.body.size() == large_body.size()) {
                ++reading;
                released.wait();
            }
            echo(std::move(request), respond);
        };
    }
};

}  // namespace

TEST_CASE("requests with large bodies delay no other request of their event loop") {
    SlowReader reader;
    rm::HttpServer server{{.threads = 1}, reader.handler()};
    HttpClient large{server.port()};
    HttpClient next_large{server.port()};
    large.request("POST", "/large", large_body);
    next_large.request("POST", "/next", large_body);
    REQUIRE(await([&] { return reader.reading > 0; }));
    HttpClient small{server.port()};
    for (int i = 0; i < 10; ++i) CHECK(small.ask("POST", "/small", "body").status == 200);
    reader.release.set_value();
    CHECK(large.receive().body == "POST /large " + large_body);
    CHECK(next_large.receive().body == "POST /next " + large_body);
    CHECK(large.ask("GET", "/again").status == 200);
}

TEST_CASE("requests with large responses delay no other request of their event loop") {
    std::promise<void> release;
    const auto released = release.get_future().share();
    std::atomic<int> making{0};
    rm::HttpServer server{
        {.threads = 1,
         .answers_large = [](const rm::HttpRequest& request) { return request.path == "/large"; }},
        [&](rm::HttpRequest request, const rm::HttpResponder& respond) {
            if (request.path == "/large" && request.method == "GET") {
                ++making;
                released.wait();
            }
            echo(std::move(request), respond);
        }};
    HttpClient large{server.port()};
    large.request("GET", "/large");
    REQUIRE(await([&] { return making > 0; }));
    HttpClient small{server.port()};
    for (int i = 0; i < 10; ++i) CHECK(small.ask("GET", "/small").status == 200);
    CHECK(small.ask("POST", "/large", "body").status == 200);
    release.set_value();
    CHECK(large.receive().body == "GET /large ");
}

TEST_CASE("the size at which a body counts as large is a setting") {
    std::mutex mutex;
    std::set<std::thread::id> threads;
    rm::HttpServer server{{.threads = 1, .large_body_min = 100},
                          [&](rm::HttpRequest request, const rm::HttpResponder& respond) {
                              const std::lock_guard lock{mutex};
                              threads.insert(std::this_thread::get_id());
                              echo(std::move(request), respond);
                          }};
    HttpClient client{server.port()};
    CHECK(client.ask("GET", "/").status == 200);
    CHECK(client.ask("POST", "/", std::string(99, 'x')).status == 200);
    CHECK(threads.size() == 1);
    CHECK(client.ask("POST", "/", std::string(100, 'x')).status == 200);
    CHECK(threads.size() == 2);
}

TEST_CASE("a handler that throws while it handles a large body yields 500") {
    RecordedLog log;
    rm::HttpServer server{{.log = log.sink()},
                          [](const auto&, const auto&) { throw std::runtime_error{"no idea"}; }};
    HttpClient client{server.port()};
    CHECK(client.ask("POST", "/", large_body).status == 500);
    CHECK(client.ask("POST", "/", large_body).status == 500);
    CHECK(log.count(rm::LogLevel::error, "http: the handler threw: no idea") == 1);
}

TEST_CASE("stopping a server waits for the handler of a large body") {
    SlowReader reader;
    rm::HttpServer server{{.threads = 2}, reader.handler()};
    HttpClient large{server.port()};
    HttpClient next{server.port()};
    large.request("POST", "/large", large_body);
    next.request("POST", "/next", large_body);
    REQUIRE(await([&] { return reader.reading == 1; }));
    std::atomic<bool> stopped = false;
    std::thread stopping{[&] {
        server.stop(0s);
        stopped = true;
    }};
    CHECK(large.receive().status == 503);
    CHECK(next.receive().status == 503);
    CHECK(!stopped);
    reader.release.set_value();
    stopping.join();
    const auto read = reader.reading.load();
    std::this_thread::sleep_for(50ms);
    CHECK(reader.reading == read);
}

TEST_CASE("stopping a server inside the handler of a large body is refused") {
    std::unique_ptr<rm::HttpServer> server;
    const auto stop = [&](const rm::HttpRequest&, const rm::HttpResponder& respond) {
        rm::HttpResponse response;
        try {
            server->stop(0s);
        } catch (const rm::Failure& failure) {
            response.body = failure.error().context();
        }
        respond(std::move(response));
    };
    server = std::make_unique<rm::HttpServer>(rm::HttpServerOptions{.threads = 1}, stop);
    HttpClient client{server->port()};
    CHECK(client.ask("POST", "/", large_body).body == "stop: must not be called inside a handler");
}
