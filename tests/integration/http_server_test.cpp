#include "routemaster/server/http_server.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/http_client.hpp"
#include "support/http_server_scene.hpp"
#include "support/recorded_log.hpp"

namespace rm = routemaster;
using namespace routemaster::test;
using namespace std::chrono_literals;

TEST_CASE("a complete request reaches the handler, and its response reaches the client") {
    std::promise<rm::HttpRequest> seen;
    rm::HttpServer server{{}, [&](rm::HttpRequest request, const rm::HttpResponder& respond) {
                              seen.set_value(std::move(request));
                              respond({201, "made", "application/json", {{"X-Serial", "7"}}});
                          }};
    HttpClient client{server.port()};
    const auto reply = client.ask("POST", "/topics/orders?verbose=1", R"({"a":1})",
                                  "Authorization: Basic abc\r\nContent-Type: application/json\r\n");
    CHECK(reply.status == 201);
    CHECK(reply.body == "made");
    CHECK(reply.headers.at("content-type") == "application/json");
    CHECK(reply.headers.at("x-serial") == "7");
    CHECK(reply.has("date"));
    const auto request = seen.get_future().get();
    CHECK(request.method == "POST");
    CHECK(request.path == "/topics/orders");
    CHECK(request.body == R"({"a":1})");
    CHECK(request.authorization == "Basic abc");
    CHECK(request.has_authorization);
    CHECK(request.content_type == "application/json");
}

TEST_CASE("an empty Authorization header is distinguished from an absent header") {
    rm::HttpServer server{{}, [](rm::HttpRequest request, const rm::HttpResponder& respond) {
                              CHECK(request.authorization.empty());
                              respond({200, request.has_authorization ? "yes" : "no", "", {}});
                          }};
    HttpClient client{server.port()};
    CHECK(client.ask("GET", "/", {}, "Authorization: \r\n").body == "yes");
    CHECK(client.ask("GET", "/").body == "no");
}

TEST_CASE("a response may be sent later and from another thread") {
    HttpRequestQueue requests;
    rm::HttpServer server{{}, requests.handler()};
    HttpClient client{server.port()};
    client.request("POST", "/later", "body");
    auto waiting = requests.take();
    CHECK(waiting.request.body == "body");
    std::thread{[&] { waiting.respond({202, "done", "text/plain", {}}); }}.join();
    const auto reply = client.receive();
    CHECK(reply.status == 202);
    CHECK(reply.body == "done");
    client.request("GET", "/again");
    requests.take().respond({204, "", "", {}});
    CHECK(client.receive().status == 204);
}

TEST_CASE("a waiting request occupies no thread") {
    HttpRequestQueue requests;
    auto park = requests.handler();
    rm::HttpServer server{{.threads = 1}, [&](rm::HttpRequest request, rm::HttpResponder respond) {
                              if (request.path == "/park") {
                                  park(std::move(request), std::move(respond));
                              } else {
                                  respond({204, "", "", {}});
                              }
                          }};
    std::vector<std::unique_ptr<HttpClient>> patient;
    std::vector<WaitingRequest> waiting;
    for (int i = 0; i < 20; ++i) {
        patient.push_back(std::make_unique<HttpClient>(server.port()));
        patient.back()->request("GET", "/park");
        waiting.push_back(requests.take());
    }
    HttpClient brisk{server.port()};
    CHECK(brisk.ask("GET", "/now").status == 204);
    waiting.clear();
    for (auto& client : patient) CHECK(client->receive().status == 500);
}

TEST_CASE("requests pipelined on one connection get their responses in order") {
    const auto pipeline = [](rm::HttpHandler handler) {
        rm::HttpServer server{{}, std::move(handler)};
        HttpClient client{server.port()};
        std::string all;
        for (int i = 0; i < 200; ++i) {
            const auto body = std::to_string(i);
            all += "POST /p HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(body.size()) +
                   "\r\n\r\n" + body;
        }
        client.send(all);
        for (int i = 0; i < 200; ++i) {
            REQUIRE(client.receive().body == "POST /p " + std::to_string(i));
        }
    };
    SUBCASE("the handler responds at once") { pipeline(echo); }
    SUBCASE("another thread responds") {
        HttpRequestQueue requests;
        std::thread answering{[&] {
            for (int i = 0; i < 200; ++i) {
                auto waiting = requests.take();
                echo(std::move(waiting.request), waiting.respond);
            }
        }};
        pipeline(requests.handler());
        answering.join();
    }
}

TEST_CASE("a responder that is never called yields 500") {
    RecordedLog log;
    SUBCASE("the handler drops the responder") {
        rm::HttpServer server{{.log = log.sink()},
                              [](const rm::HttpRequest&, const rm::HttpResponder&) {}};
        HttpClient client{server.port()};
        CHECK(client.ask("GET", "/").status == 500);
        CHECK(client.ask("GET", "/").status == 500);
    }
    SUBCASE("the responder is dropped later") {
        HttpRequestQueue requests;
        rm::HttpServer server{{.log = log.sink()}, requests.handler()};
        HttpClient client{server.port()};
        client.request("GET", "/");
        requests.take();
        CHECK(client.receive().status == 500);
    }
    CHECK(log.count(rm::LogLevel::error, "http: the handler dropped a request") > 0);
}

TEST_CASE("only the first call of a responder counts") {
    rm::HttpServer server{{}, [](const rm::HttpRequest&, const rm::HttpResponder& respond) {
                              respond({200, "first", "", {}});
                              respond({500, "second", "", {}});
                          }};
    HttpClient client{server.port()};
    CHECK(client.ask("GET", "/").body == "first");
    CHECK(client.ask("GET", "/").body == "first");
}

TEST_CASE("a handler that throws yields 500, and the server keeps running") {
    RecordedLog log;
    std::optional<rm::HttpResponder> kept;
    rm::HttpServer server{{.threads = 1, .log = log.sink()},
                          [&](const rm::HttpRequest& request, const rm::HttpResponder& respond) {
                              if (request.path == "/keep") kept = respond;
                              if (request.path == "/number") throw 42;
                              if (request.path == "/answered") respond({200, "kept", "", {}});
                              if (request.path != "/fine")
                                  throw std::runtime_error{"broken on purpose"};
                              respond({204, "", "", {}});
                          }};
    HttpClient client{server.port()};
    CHECK(client.ask("GET", "/bad").status == 500);
    CHECK(log.count(rm::LogLevel::error, "http: the handler threw: broken on purpose") > 0);
    CHECK(client.ask("GET", "/keep").status == 500);
    CHECK(client.ask("GET", "/number").status == 500);
    CHECK(client.ask("GET", "/answered").body == "kept");
    CHECK(client.ask("GET", "/fine").status == 204);
}

TEST_CASE("a client that disconnects while its request waits does no harm") {
    std::signal(SIGPIPE, SIG_DFL);
    HttpRequestQueue requests;
    // With only two connections, two clients can connect once the earlier ones are closed.
    rm::HttpServer server{{.threads = 1, .connections_max = 2, .idle_timeout = 1ms},
                          requests.handler()};
    for (const bool late : {false, true}) {
        for (const bool abruptly : {true, false}) {
            CAPTURE(late);
            CAPTURE(abruptly);
            HttpClient leaving{server.port()};
            leaving.request("POST", "/", "body");
            auto waiting = requests.take();
            if (late) let_a_second_pass(server);
            if (abruptly) {
                leaving.reset();
            } else {
                leaving.close();
            }
            HttpClient other{server.port()};
            other.request("GET", "/");
            requests.take().respond({204, "", "", {}});
            CHECK(other.receive().status == 204);
            waiting.respond({200, std::string(1'000'000, 'x'), "", {}});
        }
    }
    HttpClient first{server.port()};
    HttpClient second{server.port()};
    first.request("GET", "/");
    second.request("GET", "/");
    requests.take().respond({204, "", "", {}});
    requests.take().respond({204, "", "", {}});
    CHECK(first.receive().status == 204);
    CHECK(second.receive().status == 204);
    std::signal(SIGPIPE, SIG_IGN);
}

TEST_CASE("a client may disconnect before its response is ready") {
    HttpRequestQueue requests;
    rm::HttpServer server{{.threads = 1}, requests.handler()};
    HttpClient staying{server.port()};
    std::vector<WaitingRequest> late;
    for (int round = 0; round < 30; ++round) {
        HttpClient leaving{server.port()};
        leaving.request("GET", "/");
        requests.take().respond({204, "", "", {}});
        REQUIRE(leaving.receive().status == 204);
        leaving.request("GET", "/");
        auto waiting = requests.take();
        leaving.reset();
        // The loop notices that the client left before it serves the next request.
        staying.request("GET", "/");
        requests.take().respond({200, "still here", "", {}});
        REQUIRE(staying.receive().body == "still here");
        if (round % 3 == 0) waiting.respond({200, "for nobody", "", {}});
        if (round % 3 == 1) late.push_back(std::move(waiting));
    }
    server.stop(0ms);
    CHECK(late.size() == 10);
    late.front().respond({200, "for nobody", "", {}});
}

TEST_CASE("responses may be late, and many requests may wait for them") {
    HttpRequestQueue requests;
    rm::HttpServer server{{.threads = 1, .idle_timeout = 1ms}, requests.handler()};
    std::vector<std::unique_ptr<HttpClient>> clients;
    std::vector<WaitingRequest> waiting;
    for (int i = 0; i < 400; ++i) {
        clients.push_back(std::make_unique<HttpClient>(server.port()));
        clients.back()->request("POST", "/", std::to_string(i));
    }
    for (int i = 0; i < 400; ++i) waiting.push_back(requests.take());
    SUBCASE("responses are early") {}
    SUBCASE("responses are late") { let_a_second_pass(server); }
    for (auto& each : waiting) echo(std::move(each.request), each.respond);
    for (std::size_t i = 0; i < 400; ++i) {
        REQUIRE(clients[i]->receive().body == "POST / " + std::to_string(i));
    }
}

TEST_CASE("many clients get their own responses from many threads") {
    constexpr int clients = 8;
    constexpr int per_client = 250;
    HttpRequestQueue requests;
    auto later = requests.handler();
    rm::HttpServer server{{.threads = 3}, [&](rm::HttpRequest request, rm::HttpResponder respond) {
                              if (request.body.back() % 3 == 0) {
                                  echo(std::move(request), respond);
                              } else {
                                  later(std::move(request), std::move(respond));
                              }
                          }};
    std::vector<std::thread> threads;
    std::atomic<int> correct{0};
    for (int number = 0; number < clients; ++number) {
        threads.emplace_back([&, number] {
            HttpClient client{server.port()};
            for (int i = 0; i < per_client; ++i) {
                const auto body = std::to_string(number) + '-' + std::to_string(i);
                if (client.ask("POST", "/", body).body == "POST / " + body) ++correct;
            }
        });
    }
    std::atomic<bool> done{false};
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            for (auto waiting = requests.take(); !done; waiting = requests.take()) {
                echo(std::move(waiting.request), waiting.respond);
            }
        });
    }
    for (int i = 0; i < clients; ++i) threads[static_cast<std::size_t>(i)].join();
    done = true;
    for (int i = 0; i < 2; ++i) later({}, [](const rm::HttpResponse&) {});
    for (std::size_t i = clients; i < threads.size(); ++i) threads[i].join();
    CHECK(correct == clients * per_client);
}
