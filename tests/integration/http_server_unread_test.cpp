#include <doctest/doctest.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
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

constexpr std::size_t one_mebibyte = 1U << 20U;
constexpr std::string_view not_read = "a client does not read its response";

/// Responds with as many MiB as the path says, in one piece.
void answer_large(rm::HttpRequest request, const rm::HttpResponder& respond) {
    respond({200, std::string(std::stoul(request.path.substr(1)) * one_mebibyte, 'x'), "", {}});
}

/// Clients that send requests and read no response.
std::vector<std::unique_ptr<HttpClient>> silent_clients(const rm::HttpServer& server, int count,
                                                        std::string_view target) {
    std::vector<std::unique_ptr<HttpClient>> clients;
    for (int i = 0; i < count; ++i) {
        clients.push_back(std::make_unique<HttpClient>(server.port()));
        clients.back()->request("GET", target);
    }
    return clients;
}

/// A response of `parts` parts. Counts the produced parts.
struct Parts {
    static constexpr std::size_t size = 65'536;
    std::size_t parts = 0;
    std::atomic<std::size_t> produced{0};

    [[nodiscard]] rm::HttpHandler handler() {
        return [this](const rm::HttpRequest&, const rm::HttpResponder& respond) {
            rm::HttpResponse response{200, "begin", "text/plain", {}};
            response.rest = [this](std::string& part) {
                part.append(size, 'p');
                return ++produced < parts;
            };
            response.rest_bytes = size;
            respond(std::move(response));
        };
    }

    [[nodiscard]] std::string text() const { return "begin" + std::string(parts * size, 'p'); }
};

}  // namespace

TEST_CASE("bytes of a response that only the kernel has accepted do not count as read") {
    RecordedLog log;
    rm::HttpServer server{{.header_timeout = 300ms, .log = log.sink()}, answer_large};
    const auto files = open_files(::getpid());
    // The kernel would accept more than a mebibyte, which at 10,000 bytes per second would allow
    // minutes.
    const auto clients = silent_clients(server, 3, "/8");
    CHECK(await([&] { return log.count(rm::LogLevel::info, not_read) > 0; }));
    CHECK(await([&] { return open_files(::getpid()) == files + clients.size(); }));
    for (const auto& client : clients) CHECK(client->receive_all().size() < 8 * one_mebibyte);
}

TEST_CASE("a client that reads a response slowly gets the whole response") {
    RecordedLog log;
    rm::HttpServer server{{.header_timeout = 2s, .body_rate_min = 1'000, .log = log.sink()},
                          answer_large};
    HttpClient client{server.port()};
    client.request("GET", "/4", "", "Connection: close\r\n");
    const auto began = std::chrono::steady_clock::now();
    while (client.skip_some()) ::usleep(15'000);
    CHECK(std::chrono::steady_clock::now() - began > 3s);
    CHECK(log.count(rm::LogLevel::info, not_read) == 0);
}

TEST_CASE("responses that wait for clients to read are bounded in bytes") {
    RecordedLog log;
    rm::HttpServer server{
        {.answer_bytes_max = 10 * one_mebibyte, .header_timeout = 60s, .log = log.sink()},
        answer_large};
    const auto silent = silent_clients(server, 1, "/4");
    HttpClient other{server.port()};
    REQUIRE(await([&] { return other.ask("GET", "/7").status == 503; }));
    const auto refused = other.ask("GET", "/7");
    CHECK(refused.status == 503);
    CHECK(refused.body == "too many responses wait for their clients\n");
    CHECK(refused.headers.at("retry-after") == "1");
    CHECK(log.count(rm::LogLevel::info,
                    "http: refused: too many responses wait for their clients") > 0);
    CHECK(other.ask("HEAD", "/1").status == 200);
    CHECK(other.ask("GET", "/0").status == 200);
    // A request whose action was executed always gets its response.
    CHECK(other.ask("POST", "/7").status == 200);
    CHECK(other.ask("GET", "/5").status == 200);
    silent.front()->close();
    CHECK(await([&] { return other.ask("GET", "/7").status == 200; }));
}

TEST_CASE("memory for a large response is reserved before the handler makes it") {
    RecordedLog log;
    HttpRequestQueue requests;
    rm::HttpServer server{{.answer_bytes_max = 3 * one_mebibyte, .log = log.sink()},
                          requests.handler()};
    std::vector<std::unique_ptr<HttpClient>> clients;
    const auto ask = [&](const char* method) {
        clients.push_back(std::make_unique<HttpClient>(server.port()));
        clients.back()->request(method, "/");
        return requests.take();
    };
    std::vector<WaitingRequest> made;
    for (int i = 0; i < 3; ++i) {
        made.push_back(ask("GET"));
        REQUIRE(made.back().request.reserve_answer(one_mebibyte));
    }
    const auto refused = ask("GET");
    CHECK_FALSE(refused.request.reserve_answer(one_mebibyte));
    refused.respond({200, "ignored", "", {}});
    const auto answer = clients.back()->receive();
    CHECK(answer.status == 503);
    CHECK(answer.headers.at("retry-after") == "1");
    CHECK(log.count(rm::LogLevel::info,
                    "http: refused: too many responses wait for their clients") == 1);
    CHECK_FALSE(ask("POST").request.reserve_answer);
    const auto fits = [&] {
        const auto next = ask("GET");
        const bool reserved = next.request.reserve_answer(one_mebibyte);
        next.respond({200, "", "", {}});
        CHECK(clients.back()->receive().status == (reserved ? 200 : 503));
        return reserved;
    };
    CHECK_FALSE(fits());
    SUBCASE("the reservation ends when a small response arrives") {
        made[0].respond({200, "small", "", {}});
        CHECK(clients[0]->receive().body == "small");
        CHECK(await(fits));
    }
    SUBCASE("the reservation ends when the responder is destroyed") {
        made.pop_back();
        CHECK(clients[2]->receive().status == 500);
        CHECK(await(fits));
    }
    SUBCASE("a response beyond its reservation must fit within the bound as well") {
        made[0].respond({200, std::string(2 * one_mebibyte, 'x'), "", {}});
        CHECK(clients[0]->receive().status == 503);
        made[1].respond({200, std::string(2 * one_mebibyte, 'x'), "", {}});
        CHECK(clients[1]->receive().body.size() == 2 * one_mebibyte);
        CHECK(await(fits));
        made[2].respond({200, std::string(7 * one_mebibyte, 'x'), "", {}});
        CHECK(clients[2]->receive().body.size() == 7 * one_mebibyte);
    }
}

TEST_CASE(
    "a response larger than the bound on all responses is sent when it is the only response") {
    rm::HttpServer server{{.answer_bytes_max = one_mebibyte}, answer_large};
    CHECK(HttpClient{server.port()}.ask("GET", "/3").body.size() == 3 * one_mebibyte);
}

TEST_CASE(
    "when memory for responses is nearly used up, clients that read nothing are disconnected") {
    RecordedLog log;
    rm::HttpServer server{{.answer_bytes_max = 9 * one_mebibyte,
                           .header_timeout = 600s,
                           .idle_timeout = 1s,
                           .log = log.sink()},
                          answer_large};
    SUBCASE("more than half of the memory is used") {
        const auto clients = silent_clients(server, 2, "/4");
        CHECK(await([&] { return log.count(rm::LogLevel::info, not_read) > 0; }));
        HttpClient other{server.port()};
        CHECK(await([&] { return other.ask("GET", "/4").status == 200; }));
    }
    SUBCASE("at most half of the memory is used") {
        const auto clients = silent_clients(server, 1, "/4");
        for (int i = 0; i < 3; ++i) let_a_second_pass(server);
        CHECK(log.count(rm::LogLevel::info, not_read) == 0);
        CHECK(clients.front()->receive().body.size() == 4 * one_mebibyte);
    }
}

TEST_CASE("a large response is produced while its client reads it") {
    Parts parts{.parts = 400};
    rm::HttpServer server{{.threads = 1}, parts.handler()};
    HttpClient client{server.port()};
    SUBCASE("the response is chunked, and the connection stays open") {
        for (int i = 0; i < 2; ++i) {
            parts.produced = 0;
            const auto reply = client.ask("GET", "/");
            CHECK(reply.headers.at("transfer-encoding") == "chunked");
            CHECK_FALSE(reply.has("content-length"));
            CHECK(reply.body == parts.text());
        }
    }
    SUBCASE("to an HTTP/1.0 client, the response ends with the connection") {
        client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        const auto answer = client.receive_all();
        CHECK(answer.find("Transfer-Encoding") == std::string::npos);
        CHECK(answer.find("Connection: close\r\n") != std::string::npos);
        CHECK(answer.ends_with("\r\n\r\n" + parts.text()));
    }
    SUBCASE("for HEAD, no body is produced") {
        CHECK(client.ask("HEAD", "/").status == 200);
        CHECK(client.ask("HEAD", "/").status == 200);
        CHECK(parts.produced == 0);
    }
    SUBCASE("no more is produced than the client reads") {
        parts.parts = 1'000'000;
        client.request("GET", "/");
        REQUIRE(await([&] { return parts.produced > 0; }));
        HttpClient other{server.port()};
        for (int i = 0; i < 10; ++i) CHECK(other.ask("HEAD", "/").status == 200);
        CHECK(parts.produced < 100);
    }
}

TEST_CASE("a large response that cannot be completed closes the connection") {
    RecordedLog log;
    rm::HttpServer server{{.log = log.sink()}, [](const auto&, const auto& respond) {
                              rm::HttpResponse response{200, "begin", "", {}};
                              response.rest = [](std::string&) -> bool {
                                  throw std::runtime_error{"no more"};
                              };
                              respond(std::move(response));
                          }};
    HttpClient client{server.port()};
    client.request("GET", "/");
    const auto answer = client.receive_all();
    CHECK(answer.ends_with("\r\n\r\n5\r\nbegin\r\n"));
    CHECK(log.count(rm::LogLevel::error, "no more") == 1);
}

TEST_CASE("after each part of a large response, its event loop serves other connections") {
    constexpr std::size_t sent_at = 100;
    std::size_t produced = 0;
    std::atomic<std::size_t> handled_at{0};
    std::unique_ptr<HttpClient> other;
    rm::HttpServer server{{.threads = 1},
                          [&](const rm::HttpRequest& request, const rm::HttpResponder& respond) {
                              rm::HttpResponse response{200, "", "", {}};
                              if (request.path == "/other") handled_at = produced;
                              if (request.path == "/large") {
                                  response.rest = [&](std::string& part) {
                                      part.append(65'536, 'p');
                                      if (++produced == sent_at) other->request("GET", "/other");
                                      return produced < 10 * sent_at;
                                  };
                              }
                              respond(std::move(response));
                          }};
    other = std::make_unique<HttpClient>(server.port());
    CHECK(other->ask("GET", "/").status == 200);
    CHECK(HttpClient{server.port()}.ask("GET", "/large").body.size() == 10 * sent_at * 65'536);
    CHECK(other->receive().status == 200);
    CHECK(handled_at >= sent_at);
    CHECK(handled_at <= sent_at + 16);
}
