#include "routemaster/server/http_server.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "support/http_client.hpp"
#include "support/http_server_scene.hpp"
#include "support/recorded_log.hpp"

namespace rm = routemaster;
using namespace routemaster::test;

namespace {

std::string chunked_body(std::size_t size) {
    char length[32];
    std::snprintf(length, sizeof length, "%zx", size);
    return std::string{length} + "\r\n" + std::string(size, 'x') + "\r\n0\r\n\r\n";
}

constexpr auto chunked_header = "Transfer-Encoding: chunked\r\n";

}  // namespace

TEST_CASE("a response that HTTP cannot express becomes 500") {
    rm::HttpServer server{{}, [](const rm::HttpRequest& request, const rm::HttpResponder& respond) {
                              if (request.path == "/status") return respond({100, "", "", {}});
                              if (request.path == "/name") {
                                  return respond({200, "", "", {{"X Forged", "b"}}});
                              }
                              if (request.path == "/framing") {
                                  return respond({200, "", "", {{"Content-Length", "1"}}});
                              }
                              respond({200, "", "", {{"X-Split", "a\r\nX-Forged: b"}}});
                          }};
    HttpClient client{server.port()};
    for (const std::string_view path : {"/status", "/name", "/framing"}) {
        CHECK(client.ask("GET", path).status == 500);
    }
    const auto reply = client.ask("GET", "/header");
    CHECK(reply.status == 500);
    CHECK_FALSE(reply.has("x-forged"));
}

TEST_CASE("a body of exactly the limit is accepted") {
    rm::HttpServer server{{.body_max = 1000}, echo};
    HttpClient client{server.port()};
    const std::string body(1000, 'x');
    CHECK(client.ask("POST", "/", body).body == "POST / " + body);
    client.request("POST", "/", {}, chunked_header);
    client.send(chunked_body(1000));
    CHECK(client.receive().body == "POST / " + body);
}

TEST_CASE("a body over the limit is refused with 413") {
    RecordedLog log;
    std::atomic<int> handled{0};
    rm::HttpServer server{{.body_max = 1000, .log = log.sink()},
                          [&](const rm::HttpRequest& request, const rm::HttpResponder& respond) {
                              ++handled;
                              respond({200, std::to_string(request.body.size()), "", {}});
                          }};
    HttpClient client{server.port()};
    SUBCASE("the length of the body is announced") {
        client.request("POST", "/", std::string(1001, 'x'));
        const auto reply = client.receive();
        CHECK(reply.status == 413);
        CHECK(reply.body == "the body is larger than 1000 bytes\n");
        CHECK(reply.headers.at("connection") == "close");
        CHECK(client.closed_by_peer());
    }
    SUBCASE("the client keeps sending the body") {
        client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 50000000\r\n\r\n");
        // The response must arrive although the server discards the rest of the body.
        client.send(std::string(5'000'000, 'x'));
        CHECK(client.receive().status == 413);
        CHECK(client.closed_by_peer());
    }
    SUBCASE("the client waits for 100 Continue") {
        client.send(
            "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5000\r\n"
            "Expect: 100-continue\r\n\r\n");
        CHECK(client.receive().status == 413);
        CHECK(client.closed_by_peer());
    }
    SUBCASE("a chunked body grows too large") {
        client.request("POST", "/", {}, chunked_header);
        client.send(chunked_body(1001));
        CHECK(client.receive().status == 413);
        CHECK(client.ask("POST", "/", "short").body == "5");
        --handled;
    }
    SUBCASE("a chunk announces little more than the limit, and the connection stays open") {
        client.request("POST", "/", {}, chunked_header);
        client.send("3e9\r\n");
        CHECK(client.receive().status == 413);
        client.send(std::string(1001, 'x') + "\r\n0\r\n\r\n");
        CHECK(client.ask("POST", "/", "short").body == "5");
        --handled;
    }
    SUBCASE("a chunked body does not end, and the connection is closed") {
        client.request("POST", "/", {}, chunked_header);
        const std::string chunk = "3e8\r\n" + std::string(1000, 'x') + "\r\n";
        int accepted = 0;
        while (accepted < 1'000'000 && client.try_send(chunk)) ++accepted;
        CHECK(accepted < 1'000'000);
    }
    CHECK(handled == 0);
    CHECK(log.count(rm::LogLevel::info, "http: refused: the body is larger than 1000 bytes") > 0);
}

TEST_CASE("a client that expects 100 Continue gets this response") {
    rm::HttpServer server{{}, echo};
    HttpClient client{server.port()};
    client.send("POST /e HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    CHECK(client.receive().status == 100);
    client.send("body");
    CHECK(client.receive().body == "POST /e body");
}

TEST_CASE("a large body and a large response arrive complete") {
    rm::HttpServer server{{}, echo};
    HttpClient client{server.port()};
    std::string body(1U << 20U, 'x');
    for (std::size_t i = 0; i < body.size(); i += 101) body[i] = static_cast<char>('a' + i % 26);
    CHECK(client.ask("POST", "/l", body).body == "POST /l " + body);
}

TEST_CASE("malformed requests are refused with 400") {
    std::atomic<int> handled{0};
    rm::HttpServer server{{}, [&](const rm::HttpRequest&, const rm::HttpResponder& respond) {
                              ++handled;
                              respond({204, "", "", {}});
                          }};
    for (const std::string_view text :
         {"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: t\r\nno colon\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 12x\r\n\r\n",
          "GET /%4 HTTP/1.1\r\nHost: t\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: t\r\n\r\n"}) {
        CAPTURE(text);
        HttpClient client{server.port()};
        client.send(text);
        CHECK(client.receive().status == 400);
    }
    CHECK(handled == 0);
}

TEST_CASE("a response is framed as RFC 9110 requires") {
    rm::HttpServer server{{}, [](const rm::HttpRequest& request, const rm::HttpResponder& respond) {
                              const int status = std::stoi(request.path.substr(1));
                              if (request.body == "empty") return respond({status, "", "", {}});
                              respond({status, "text", "text/plain", {{"X-Kept", "yes"}}});
                          }};
    HttpClient client{server.port()};
    for (const std::string_view how : {"full", "empty"}) {
        const auto reply = client.ask("POST", "/204", how);
        CHECK(reply.status == 204);
        CHECK_FALSE(reply.has("content-length"));
        CHECK_FALSE(reply.has("content-type"));
        CHECK(reply.has("x-kept") == (how == "full"));
    }
    const auto empty = client.ask("POST", "/200", "empty");
    CHECK(empty.headers.at("content-length") == "0");
    CHECK_FALSE(empty.has("content-type"));
    CHECK(client.ask("POST", "/404", "full").headers.at("content-length") == "4");
}

TEST_CASE("the response to HEAD has the Content-Length of the omitted body") {
    std::string method;
    rm::HttpServer server{{},
                          [&](const rm::HttpRequest& request, const rm::HttpResponder& respond) {
                              method = request.method;
                              respond({200, "twelve bytes", "text/plain", {}});
                          }};
    HttpClient client{server.port()};
    const auto head = client.ask("HEAD", "/");
    CHECK(method == "HEAD");
    CHECK(head.status == 200);
    CHECK(head.headers.at("content-length") == "12");
    // A client would read a body as the start of the next response.
    CHECK(client.ask("GET", "/").body == "twelve bytes");
}

TEST_CASE("the query string of a request arrives as sent") {
    rm::HttpServer server{{}, [](const rm::HttpRequest& request, const rm::HttpResponder& respond) {
                              respond({200, request.path + ' ' + request.query, "", {}});
                          }};
    HttpClient client{server.port()};
    CHECK(client.ask("GET", "/a?b=%41&c?d").body == "/a b=%41&c?d");
    CHECK(client.ask("GET", "/a?").body == "/a ");
    CHECK(client.ask("GET", "/a").body == "/a ");
    CHECK(client.ask("GET", "http://host?q").body == "/ q");
}

TEST_CASE("the path of a request is decoded, without its query and origin") {
    using namespace std::string_literals;
    rm::HttpServer server{{}, [](const rm::HttpRequest& request, const rm::HttpResponder& respond) {
                              respond({200, request.path, "", {}});
                          }};
    HttpClient client{server.port()};
    CHECK(client.ask("GET", "/a%20b%2Fc?d=%41").body == "/a b/c");
    CHECK(client.ask("GET", "/%e2%82%AC").body == "/€");
    CHECK(client.ask("GET", "/a%00b").body == "/a\0b"s);
    CHECK(client.ask("GET", "/a+b").body == "/a+b");
    CHECK(client.ask("GET", "http://host:1/topics?x").body == "/topics");
    CHECK(client.ask("GET", "http://host").body == "/");
}
