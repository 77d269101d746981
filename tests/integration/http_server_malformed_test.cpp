#include <doctest/doctest.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
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
using namespace std::string_literals;

namespace {

const std::string host = "Host: t\r\n";
const std::string post = "POST /p HTTP/1.1\r\n" + host;
const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";

struct Malformed {
    std::string what;
    std::string bytes;
    int status;
};

/// Different parsers interpret each of these requests differently.
const std::vector<Malformed> malformed{
    {"a chunk extension without end", chunked + "5;" + std::string(20'000, 'a'), 400},
    {"a chunk size without end", chunked + std::string(20'000, '0') + "5\r\nhello\r\n", 400},
    {"a chunk size that is not a number", chunked + "5g\r\nhello\r\n0\r\n\r\n", 400},
    {"a chunk size with a sign", chunked + "-5\r\nhello\r\n0\r\n\r\n", 400},
    {"a chunk size with a prefix", chunked + "0x5\r\nhello\r\n0\r\n\r\n", 400},
    {"a chunk size behind a space", chunked + " 5\r\nhello\r\n0\r\n\r\n", 400},
    {"a chunk size in front of a space", chunked + "5 \r\nhello\r\n0\r\n\r\n", 400},
    {"an empty chunk size", chunked + "\r\nhello\r\n0\r\n\r\n", 400},
    {"a chunk size that ends with LF", chunked + "5\nhello\r\n0\r\n\r\n", 400},
    {"a chunk extension with a LF inside", chunked + "5;a\nb\r\nhello\r\n0\r\n\r\n", 400},
    {"a chunk that exceeds the limit", chunked + "ffffffffffffffff\r\n", 413},
    {"chunks that exceed the limit", chunked + "5\r\nhello\r\n40000000\r\n", 413},
    {"a chunk size that overflows", chunked + "fffffffffffffffff\r\n", 413},
    {"a chunk that is longer than its size", chunked + "5\r\nhello!\r\n0\r\n\r\n", 400},
    {"a chunk that ends with LF", chunked + "5\r\nhello\n0\r\n\r\n", 400},
    {"a trailer that is not a field", chunked + "0\r\nno field\r\n\r\n", 400},
    {"a trailer that ends with LF", chunked + "0\r\na: b\n\r\n", 400},
    {"trailers that do not end", chunked + "0\r\na: " + std::string(20'000, 'b'), 431},

    {"an unknown coding", post + "Transfer-Encoding: gzip\r\n\r\nhello", 501},
    {"several codings", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
    {"no coding", post + "Transfer-Encoding: identity\r\n\r\n", 501},
    {"an empty coding", post + "Transfer-Encoding:\r\n\r\n", 501},
    {"a coding that only looks like it", post + "Transfer-Encoding: xchunked\r\n\r\n", 501},
    {"a coding twice",
     post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
    {"a coding in HTTP/1.0",
     "POST / HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
    {"a length and a coding",
     post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
    {"a coding and a length",
     post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400},
    {"a space before the colon of the coding",
     post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400},
    {"a tab before the colon of the coding", post + "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
     400},
    {"two lengths that differ", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", 400},
    {"two lengths that agree", post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400},
    {"two lengths in one line", post + "Content-Length: 5, 5\r\n\r\nhello", 400},
    {"a length with a sign", post + "Content-Length: +5\r\n\r\nhello", 400},
    {"a negative length", post + "Content-Length: -1\r\n\r\n", 400},
    {"a hexadecimal length", post + "Content-Length: 0x5\r\n\r\nhello", 400},
    {"an empty length", post + "Content-Length: \r\n\r\n", 400},
    {"a length that overflows", post + "Content-Length: 18446744073709551617\r\n\r\n", 413},

    {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
    {"two hosts that agree", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
    {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
    {"a host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
    {"a list of hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400},
    {"two credentials",
     "GET / HTTP/1.1\r\n" + host + "Authorization: Basic YQ==\r\nAuthorization: Basic Yg==\r\n\r\n",
     400},
    {"a NUL in a value", "GET / HTTP/1.1\r\n" + host + "X: a\0b\r\n\r\n"s, 400},
    {"a NUL in a name", "GET / HTTP/1.1\r\n" + host + "X\0Y: a\r\n\r\n"s, 400},
    {"a NUL in the target", "GET /\0 HTTP/1.1\r\n"s + host + "\r\n", 400},
    {"a CR in a value", "GET / HTTP/1.1\r\n" + host + "X: a\rb\r\n\r\n", 400},
    {"lines that end with LF", "GET / HTTP/1.1\nHost: t\n\n", 400},
    {"one field that ends with LF", "GET / HTTP/1.1\r\nHost: t\nX: y\r\n\r\n", 400},
    {"a head that ends with LF", "GET / HTTP/1.1\r\nHost: t\r\n\n", 400},
    {"a folded line", "GET / HTTP/1.1\r\n" + host + "X: a\r\n b\r\n\r\n", 400},
    {"a field without a name", "GET / HTTP/1.1\r\n" + host + ": a\r\n\r\n", 400},
    {"a field without a colon", "GET / HTTP/1.1\r\n" + host + "no colon\r\n\r\n", 400},
    {"a space in front of the first field", "GET / HTTP/1.1\r\n Host: t\r\n\r\n", 400},

    {"one word", "GARBAGE\r\n\r\n", 400},
    {"no version", "GET /\r\n\r\n", 400},
    {"two spaces", "GET  / HTTP/1.1\r\n" + host + "\r\n", 400},
    {"a tab", "GET\t/ HTTP/1.1\r\n" + host + "\r\n", 400},
    {"a space in the target", "GET /a b HTTP/1.1\r\n" + host + "\r\n", 400},
    {"a target that is not a path", "GET p HTTP/1.1\r\n" + host + "\r\n", 400},
    {"a method that is not a token", "G(T / HTTP/1.1\r\n" + host + "\r\n", 400},
    {"another protocol", "GET / FTP/1.1\r\n" + host + "\r\n", 400},
    {"a version in lower case", "GET / http/1.1\r\n" + host + "\r\n", 400},
    {"a version with more digits", "GET / HTTP/1.10\r\n" + host + "\r\n", 400},
    {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
    {"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s, 400},
    {"a path with half an escape", "GET /%4 HTTP/1.1\r\n" + host + "\r\n", 400},
    {"a path with no escape", "GET /%zz HTTP/1.1\r\n" + host + "\r\n", 400},
    {"an expectation that is unknown", post + "Expect: miracles\r\nContent-Length: 1\r\n\r\n", 417},
    {"a request line without end", "GET /" + std::string(100'000, 'a'), 414},
    {"a field without end", "GET / HTTP/1.1\r\n" + host + "X: " + std::string(100'000, 'a'), 431},
    {"fields without end",
     [] {
         std::string fields;
         for (int i = 0; i < 20'000; ++i) fields += "X: y\r\n";
         return "GET / HTTP/1.1\r\n" + host + fields;
     }(),
     431},
    {"empty lines without end",
     [] {
         std::string lines;
         for (int i = 0; i < 20'000; ++i) lines += "\r\n";
         return lines;
     }(),
     414},
};

/// Unusual but valid requests.
const std::vector<std::string> unusual{
    "GET /topics?" + std::string(4'000, '&') + " HTTP/1.1\r\n" + host + "\r\n",
    "\r\n\r\nGET / HTTP/1.1\r\n" + host + "\r\n",
    "GET / HTTP/1.1\r\nHOST:t\r\n\r\n",
    "GET / HTTP/1.1\r\nHost:\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: [::1]:80\r\nX: \xe2\x82\xac\ttab \r\nY:\r\n\r\n",
    "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "GET / HTTP/1.1\r\n" + host + "Expect: 100-continue\r\n\r\n",
    post + "Content-Length: 0\r\n\r\n",
    post + "content-length:   5\t\r\n\r\nhello",
    post + "transfer-encoding: Chunked\r\n\r\n005;a=\"b\"\r\nhello\r\n0;c\r\nTrailer: x\r\n\r\n",
    "POST /p HTTP/1.1\r\n" + host + "Content-Length: 0\r\nExpect: 100-Continue\r\n\r\n",
};

struct Refusals {
    std::atomic<int> handled{0};
    rm::HttpServer server{{.threads = 2},
                          [this](const rm::HttpRequest&, const rm::HttpResponder& respond) {
                              ++handled;
                              respond({200, "", "", {}});
                          }};
};

}  // namespace

TEST_CASE("a malformed request is refused at once, and its connection is closed") {
    Refusals refusals;
    const auto before = processor_time(::getpid());
    for (const auto& [what, bytes, status] : malformed) {
        CAPTURE(what);
        HttpClient client{refusals.server.port()};
        client.send(bytes);
        const auto reply = client.receive();
        CHECK(reply.status == status);
        CHECK(reply.headers.at("connection") == "close");
        CHECK(reply.headers.at("x-content-type-options") == "nosniff");
        CHECK(reply.headers.at("content-type") == "text/plain;charset=utf-8");
        CHECK(reply.body.size() > 1);
        CHECK(client.closed_by_peer());
    }
    CHECK(refusals.handled == 0);
    CHECK((processor_time(::getpid()) - before).count() < 2);
}

TEST_CASE("a malformed request is refused even if it arrives in pieces") {
    Refusals refusals;
    for (const auto& [what, bytes, status] : malformed) {
        if (bytes.size() > 1'000) continue;
        CAPTURE(what);
        for (const std::size_t piece : {1U, 7U}) {
            HttpClient client{refusals.server.port()};
            for (std::size_t at = 0; at < bytes.size(); at += piece) {
                if (!client.try_send(std::string_view{bytes}.substr(at, piece))) break;
            }
            CHECK(client.receive().status == status);
            CHECK(client.closed_by_peer());
        }
    }
    CHECK(refusals.handled == 0);
}

TEST_CASE("a malformed request after a valid request is refused after the first response") {
    Refusals refusals;
    for (const auto& [what, bytes, status] : malformed) {
        CAPTURE(what);
        HttpClient client{refusals.server.port()};
        client.send("POST /p HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc" + bytes);
        CHECK(client.receive().status == 200);
        CHECK(client.receive().status == status);
        CHECK(client.closed_by_peer());
    }
    CHECK(refusals.handled == static_cast<int>(malformed.size()));
}

TEST_CASE("an unusual but valid request is accepted even if it arrives in pieces") {
    Refusals refusals;
    int requests = 0;
    for (const auto& bytes : unusual) {
        CAPTURE(bytes.substr(0, 100));
        for (const std::size_t piece : {100'000U, 1U}) {
            HttpClient client{refusals.server.port()};
            for (int i = 0; i < 2; ++i) {
                for (std::size_t at = 0; at < bytes.size(); at += piece) {
                    client.send(std::string_view{bytes}.substr(at, piece));
                }
                CHECK(client.receive().status == 200);
                CHECK(refusals.handled == ++requests);
            }
        }
    }
}

TEST_CASE(
    "an HTTP/1.0 client gets its response, and its connection is closed unless it asks for "
    "keep-alive") {
    rm::HttpServer server{{}, echo};
    HttpClient brief{server.port()};
    brief.send("POST /old HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi");
    const auto reply = brief.receive();
    CHECK(reply.body == "POST /old hi");
    CHECK(reply.headers.at("connection") == "close");
    CHECK(brief.closed_by_peer());

    HttpClient lasting{server.port()};
    for (int i = 0; i < 2; ++i) {
        lasting.send("GET /old HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
        CHECK(lasting.receive().headers.at("connection") == "keep-alive");
    }
    lasting.send("GET /new HTTP/1.1\r\nHost: t\r\nConnection: foo, Close\r\n\r\n");
    CHECK(lasting.receive().headers.at("connection") == "close");
    CHECK(lasting.closed_by_peer());
}

TEST_CASE("a client that has closed its sending half still gets its responses") {
    rm::HttpServer server{{}, echo};
    HttpClient client{server.port()};
    client.request("GET", "/1");
    client.request("GET", "/2");
    client.end();
    CHECK(client.receive().body == "GET /1 ");
    CHECK(client.receive().body == "GET /2 ");
    CHECK(client.closed_by_peer());

    HttpClient halved{server.port()};
    halved.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc");
    halved.end();
    CHECK(halved.closed_by_peer());
}

TEST_CASE("refused requests are logged at most once a second, and counted") {
    RecordedLog log;
    {
        rm::HttpServer server{{.log = log.sink()}, echo};
        const auto refused = [&] {
            HttpClient client{server.port()};
            client.send("GARBAGE\r\n");
            CHECK(client.receive().status == 400);
        };
        const auto began = std::chrono::steady_clock::now();
        for (int i = 0; i < 100; ++i) refused();
        const auto seconds =
            std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - began);
        const auto lines = log.count(rm::LogLevel::info, "http: refused: ");
        CHECK(lines >= 1);
        CHECK(lines <= static_cast<std::size_t>(seconds.count()));
        // Further refusals are logged later, in a line of their own.
        CHECK(await([&] {
            return log.count(rm::LogLevel::info, ", occurrences since the last such line: ") > 0 &&
                   log.count(rm::LogLevel::info, "http: refused: ") > 1;
        }));
    }
    CHECK(log.count(rm::LogLevel::info, "http: refused: the request line is malformed") ==
          log.count(rm::LogLevel::info, ""));
}
