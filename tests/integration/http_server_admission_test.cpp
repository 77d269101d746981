#include <doctest/doctest.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
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

std::string head_of(const std::string& path, std::size_t size, const std::string& extra = {}) {
    return "POST " + path + " HTTP/1.1\r\nHost: t\r\nAuthorization: Basic abc\r\n" + extra +
           "Content-Length: " + std::to_string(size) + "\r\n\r\n";
}

/// Admits requests to `/in`, and counts the calls.
struct Doorkeeper {
    rm::HttpHandler admission() {
        return [this](const rm::HttpRequest& head, const rm::HttpResponder& respond) {
            ++asked;
            CHECK(head.method == "POST");
            CHECK(head.authorization == "Basic abc");
            CHECK(head.body.empty());
            if (head.path == "/throw") throw 42;
            if (head.path == "/drop") return;
            respond({head.path == "/in" ? 100 : 401, "", "", {}});
        };
    }
    std::atomic<int> asked{0};
};

}  // namespace

TEST_CASE("the admission of a request decides after the head, before the body arrives") {
    Doorkeeper keeper;
    rm::HttpServer server{{}, echo, keeper.admission()};
    HttpClient client{server.port()};
    SUBCASE(
        "the admission refuses the body, and the client sends the next request without the body") {
        client.send(head_of("/out", 500'000));
        const auto reply = client.receive();
        CHECK(reply.status == 401);
        CHECK(reply.headers.at("connection") == "close");
        client.send(std::string(500'000, 'x'));
        CHECK(client.closed_by_peer());
    }
    SUBCASE("the admission refuses the body, and the server skips a short body") {
        for (int i = 0; i < 2; ++i) {
            client.send(head_of("/out", 20'000));
            const auto reply = client.receive();
            CHECK(reply.status == 401);
            CHECK_FALSE(reply.has("connection"));
            client.send(std::string(20'000, 'x'));
        }
        client.request("POST", "/c", {},
                       "Authorization: Basic abc\r\nTransfer-Encoding: chunked\r\n");
        CHECK(client.receive().status == 401);
        client.send("3\r\nabc\r\n0\r\n\r\n");
        CHECK(client.ask("GET", "/next").body == "GET /next ");
        CHECK(keeper.asked == 3);
    }
    SUBCASE("the admission refuses the body, and garbage in the body ends the connection") {
        client.request("POST", "/c", {},
                       "Authorization: Basic abc\r\nTransfer-Encoding: chunked\r\n");
        CHECK(client.receive().status == 401);
        client.send("garbage\r\n");
        CHECK(client.closed_by_peer());
    }
    SUBCASE("the admission accepts the body") {
        client.send(head_of("/in", 6) + "abc");
        CHECK(await([&] { return keeper.asked == 1; }));
        client.send("def");
        CHECK(client.receive().body == "POST /in abcdef");
    }
    SUBCASE("the admission decides before the client gets 100 Continue") {
        client.send(head_of("/in", 3, "Expect: 100-continue\r\n"));
        CHECK(client.receive().status == 100);
        client.send("abc");
        CHECK(client.receive().body == "POST /in abc");
        client.send(head_of("/out", 3, "Expect: 100-continue\r\n"));
        const auto reply = client.receive();
        CHECK(reply.status == 401);
        CHECK(reply.headers.at("connection") == "close");
        CHECK(client.closed_by_peer());
    }
    SUBCASE("the admission throws, and the response is 500") {
        for (const auto* path : {"/throw", "/drop"}) {
            HttpClient other{server.port()};
            other.send(head_of(path, 3));
            CHECK(other.receive().status == 500);
        }
    }
}

TEST_CASE("a small body that arrives with its head is not subject to admission") {
    Doorkeeper keeper;
    rm::HttpServer server{{}, echo, keeper.admission()};
    HttpClient client{server.port()};
    client.send(head_of("/out", 3) + "abc");
    CHECK(client.receive().body == "POST /out abc");
    CHECK(keeper.asked == 0);
}

TEST_CASE("an admission may decide later, and the client may disconnect meanwhile") {
    HttpRequestQueue requests;
    rm::HttpServer server{{.threads = 1}, echo, requests.handler()};
    HttpClient patient{server.port()};
    patient.send(head_of("/in", 3));
    auto first = requests.take();
    {
        HttpClient leaving{server.port()};
        leaving.send(head_of("/in", 100'000));
        auto second = requests.take();
        leaving.send(std::string(50'000, 'x'));
        leaving.reset();
        second.respond({100, "", "", {}});
    }
    patient.send("abc");
    first.respond({100, "", "", {}});
    CHECK(patient.receive().body == "POST /in abc");
}

TEST_CASE("bodies of refused requests take no memory") {
    Doorkeeper keeper;
    rm::HttpServer server{{}, echo, keeper.admission()};
    constexpr std::size_t size = 1U << 20U;
    const std::string nearly_all(size - 1, 'x');
    const auto before = resident_bytes(::getpid());
    std::vector<std::unique_ptr<HttpClient>> clients;
    for (int i = 0; i < 100; ++i) {
        clients.push_back(std::make_unique<HttpClient>(server.port()));
        static_cast<void>(clients.back()->try_send(head_of("/out", size) + nearly_all));
    }
    if (memory_tells) CHECK(resident_bytes(::getpid()) < before + (20U << 20U));
}

TEST_CASE("the bodies of all requests together stay within their bound") {
    RecordedLog log;
    HttpRequestQueue requests;
    rm::HttpServer server{
        {.threads = 1, .body_max = 100'000, .buffered_bytes_max = 250'000, .log = log.sink()},
        requests.handler()};
    const std::string body(100'000, 'x');
    std::vector<std::unique_ptr<HttpClient>> senders;
    const auto send_nearly_all = [&] {
        senders.push_back(std::make_unique<HttpClient>(server.port()));
        senders.back()->send(head_of("/", body.size()) + body.substr(1));
    };
    send_nearly_all();
    // A request that waits for its response counts too.
    HttpClient waits{server.port()};
    waits.send(head_of("/", body.size()) + body);
    auto waiting = requests.take();

    HttpClient refused{server.port()};
    refused.send(head_of("/", body.size()) + body.substr(1));
    const auto reply = refused.receive();
    CHECK(reply.status == 503);
    CHECK(reply.headers.at("retry-after") == "1");
    CHECK(refused.closed_by_peer());
    CHECK(log.count(rm::LogLevel::info, "http: refused: too many bodies") == 1);

    // A response frees space, and so does a client that disconnects.
    waiting.respond({200, "", "", {}});
    CHECK(waits.receive().status == 200);
    for (int round = 0; round < 3; ++round) {
        HttpClient next{server.port()};
        next.send(head_of("/", body.size()) + body);
        requests.take().respond({204, "", "", {}});
        CHECK(next.receive().status == 204);
    }
    senders.clear();
    HttpClient first{server.port()};
    HttpClient second{server.port()};
    first.send(head_of("/", body.size()) + body);
    auto one = requests.take();
    second.send(head_of("/", body.size()) + body);
    auto two = requests.take();
    one.respond({204, "", "", {}});
    two.respond({204, "", "", {}});
    CHECK(first.receive().status == 204);
    CHECK(second.receive().status == 204);
}

TEST_CASE("a body of the largest size is accepted, whatever the bound on all bodies") {
    rm::HttpServer server{{.body_max = 100'000, .buffered_bytes_max = 1}, echo};
    HttpClient client{server.port()};
    for (int i = 0; i < 3; ++i) {
        CHECK(client.ask("POST", "/", std::string(100'000, 'x')).status == 200);
    }
}
