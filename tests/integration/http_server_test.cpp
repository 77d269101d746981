#include "routemaster/server/http_server.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "routemaster/error.hpp"
#include "support/http_client.hpp"

namespace rm = routemaster;
using namespace std::chrono_literals;
using rm::test::HttpClient;

namespace {

/// A request that waits for its answer.
struct Waiting {
    rm::HttpRequest request;
    rm::HttpResponder respond;
};

/// A handler that answers nothing: the test takes the requests and answers them.
class Inbox {
public:
    rm::HttpHandler handler() {
        return [this](rm::HttpRequest request, rm::HttpResponder respond) {
            const std::lock_guard lock{mutex_};
            waiting_.push_back({std::move(request), std::move(respond)});
            arrived_.notify_one();
        };
    }

    /// The next request; waits for it.
    Waiting take() {
        std::unique_lock lock{mutex_};
        if (!arrived_.wait_for(lock, 30s, [&] { return !waiting_.empty(); })) {
            throw std::runtime_error{"no request came"};
        }
        Waiting first = std::move(waiting_.front());
        waiting_.pop_front();
        return first;
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<Waiting> waiting_;
};

/// Collects log lines.
class Lines {
public:
    rm::Log log() {
        return [this](rm::LogLevel level, std::string_view line) {
            const std::lock_guard lock{mutex_};
            lines_.emplace_back(std::string{rm::to_string(level)} + ": " + std::string{line});
        };
    }

    bool have(std::string_view text) {
        const std::lock_guard lock{mutex_};
        return std::any_of(lines_.begin(), lines_.end(), [&](const std::string& line) {
            return line.find(text) != std::string::npos;
        });
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

void echo(rm::HttpRequest request, const rm::HttpResponder& respond) {
    respond({200, request.method + ' ' + request.path + ' ' + request.body, "text/plain", {}});
}

/// Whether a client can still connect.
bool listens(std::uint16_t port) {
    try {
        HttpClient{port};
        return true;
    } catch (const std::runtime_error&) {
        return false;
    }
}

/// Waits, by the server's own clock, longer than it lets a request wait unsuspended.
void let_a_second_pass(const rm::HttpServer& server) {
    HttpClient silent{server.port()};
    REQUIRE(silent.closed_by_peer());
}

std::string chunked(std::size_t size) {
    char length[32];
    std::snprintf(length, sizeof length, "%zx", size);
    return std::string{length} + "\r\n" + std::string(size, 'x') + "\r\n0\r\n\r\n";
}

constexpr auto chunked_header = "Transfer-Encoding: chunked\r\n";

}  // namespace

TEST_CASE("a request reaches the handler whole, and its answer the client") {
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

TEST_CASE("an empty authorization is told from an absent one") {
    rm::HttpServer server{{}, [](rm::HttpRequest request, const rm::HttpResponder& respond) {
                              CHECK(request.authorization.empty());
                              respond({200, request.has_authorization ? "yes" : "no", "", {}});
                          }};
    HttpClient client{server.port()};
    CHECK(client.ask("GET", "/", {}, "Authorization: \r\n").body == "yes");
    CHECK(client.ask("GET", "/").body == "no");
}

TEST_CASE("an answer may come later and from another thread") {
    Inbox inbox;
    rm::HttpServer server{{}, inbox.handler()};
    HttpClient client{server.port()};
    client.request("POST", "/later", "body");
    auto waiting = inbox.take();
    CHECK(waiting.request.body == "body");
    std::thread{[&] { waiting.respond({202, "done", "text/plain", {}}); }}.join();
    const auto reply = client.receive();
    CHECK(reply.status == 202);
    CHECK(reply.body == "done");
    client.request("GET", "/again");
    inbox.take().respond({204, "", "", {}});
    CHECK(client.receive().status == 204);
}

TEST_CASE("a waiting request holds no thread") {
    Inbox inbox;
    auto park = inbox.handler();
    rm::HttpServer server{{.threads = 1}, [&](rm::HttpRequest request, rm::HttpResponder respond) {
                              if (request.path == "/park") {
                                  park(std::move(request), std::move(respond));
                              } else {
                                  respond({204, "", "", {}});
                              }
                          }};
    std::vector<std::unique_ptr<HttpClient>> patient;
    std::vector<Waiting> waiting;
    for (int i = 0; i < 20; ++i) {
        patient.push_back(std::make_unique<HttpClient>(server.port()));
        patient.back()->request("GET", "/park");
        waiting.push_back(inbox.take());
    }
    HttpClient brisk{server.port()};
    CHECK(brisk.ask("GET", "/now").status == 204);
    waiting.clear();
    for (auto& client : patient) CHECK(client->receive().status == 500);
}

TEST_CASE("requests pipelined on one connection are answered in order") {
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
    SUBCASE("answered at once") { pipeline(echo); }
    SUBCASE("answered by another thread") {
        Inbox inbox;
        std::thread answering{[&] {
            for (int i = 0; i < 200; ++i) {
                auto waiting = inbox.take();
                echo(std::move(waiting.request), waiting.respond);
            }
        }};
        pipeline(inbox.handler());
        answering.join();
    }
}

TEST_CASE("a responder that nobody calls answers 500") {
    Lines lines;
    SUBCASE("dropped by the handler") {
        rm::HttpServer server{{.log = lines.log()},
                              [](const rm::HttpRequest&, const rm::HttpResponder&) {}};
        HttpClient client{server.port()};
        CHECK(client.ask("GET", "/").status == 500);
        CHECK(client.ask("GET", "/").status == 500);
    }
    SUBCASE("dropped later") {
        Inbox inbox;
        rm::HttpServer server{{.log = lines.log()}, inbox.handler()};
        HttpClient client{server.port()};
        client.request("GET", "/");
        inbox.take();
        CHECK(client.receive().status == 500);
    }
    CHECK(lines.have("error: http: a request was dropped"));
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

TEST_CASE("a handler that throws answers 500 and the server lives on") {
    Lines lines;
    std::optional<rm::HttpResponder> kept;
    rm::HttpServer server{{.threads = 1, .log = lines.log()},
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
    CHECK(lines.have("error: http: the handler threw: broken on purpose"));
    CHECK(client.ask("GET", "/keep").status == 500);
    CHECK(client.ask("GET", "/number").status == 500);
    CHECK(client.ask("GET", "/answered").body == "kept");
    CHECK(client.ask("GET", "/fine").status == 204);
}

TEST_CASE("what cannot be said in HTTP answers 500") {
    rm::HttpServer server{{}, [](const rm::HttpRequest& request, const rm::HttpResponder& respond) {
                              if (request.path == "/status") return respond({100, "", "", {}});
                              respond({200, "", "", {{"X-Split", "a\r\nX-Forged: b"}}});
                          }};
    HttpClient client{server.port()};
    CHECK(client.ask("GET", "/status").status == 500);
    const auto reply = client.ask("GET", "/header");
    CHECK(reply.status == 500);
    CHECK_FALSE(reply.has("x-forged"));
}

TEST_CASE("a body of exactly the limit is taken") {
    rm::HttpServer server{{.body_max = 1000}, echo};
    HttpClient client{server.port()};
    const std::string body(1000, 'x');
    CHECK(client.ask("POST", "/", body).body == "POST / " + body);
    client.request("POST", "/", {}, chunked_header);
    client.send(chunked(1000));
    CHECK(client.receive().body == "POST / " + body);
}

TEST_CASE("a body over the limit is refused with 413") {
    Lines lines;
    std::atomic<int> handled{0};
    rm::HttpServer server{{.body_max = 1000, .log = lines.log()},
                          [&](const rm::HttpRequest& request, const rm::HttpResponder& respond) {
                              ++handled;
                              respond({200, std::to_string(request.body.size()), "", {}});
                          }};
    HttpClient client{server.port()};
    SUBCASE("when its length says so") {
        client.request("POST", "/", std::string(1001, 'x'));
        const auto reply = client.receive();
        CHECK(reply.status == 413);
        CHECK(reply.body == "the body is larger than 1000 bytes\n");
        CHECK(reply.headers.at("connection") == "close");
        CHECK(client.closed_by_peer());
    }
    SUBCASE("while the client keeps sending") {
        client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 50000000\r\n\r\n");
        // The answer must survive that nobody wants the rest.
        client.send(std::string(5'000'000, 'x'));
        CHECK(client.receive().status == 413);
        CHECK(client.closed_by_peer());
    }
    SUBCASE("before a client is told to go on") {
        client.send(
            "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5000\r\n"
            "Expect: 100-continue\r\n\r\n");
        CHECK(client.receive().status == 413);
        CHECK(client.closed_by_peer());
    }
    SUBCASE("when a chunked one grows too large") {
        client.request("POST", "/", {}, chunked_header);
        client.send(chunked(1001));
        CHECK(client.receive().status == 413);
        CHECK(client.ask("POST", "/", "short").body == "5");
        --handled;
    }
    SUBCASE("when a chunked one does not end, by closing") {
        client.request("POST", "/", {}, chunked_header);
        const std::string chunk = "3e8\r\n" + std::string(1000, 'x') + "\r\n";
        int accepted = 0;
        while (accepted < 1'000'000 && client.try_send(chunk)) ++accepted;
        CHECK(accepted < 1'000'000);
    }
    CHECK(handled == 0);
    CHECK(lines.have("info: http: refused: the body is larger than 1000 bytes"));
}

TEST_CASE("a client that expects to be told to go on is told") {
    rm::HttpServer server{{}, echo};
    HttpClient client{server.port()};
    client.send("POST /e HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    CHECK(client.receive().status == 100);
    client.send("body");
    CHECK(client.receive().body == "POST /e body");
}

TEST_CASE("a large body and a large answer arrive whole") {
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

TEST_CASE("an answer is framed as RFC 9110 wants it") {
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

TEST_CASE("a HEAD is answered with the length of the body that it leaves out") {
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
    // A body that was sent all the same would be taken for the start of the next answer.
    CHECK(client.ask("GET", "/").body == "twelve bytes");
}

TEST_CASE("the path is decoded and comes without query and origin") {
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

TEST_CASE("a client that leaves while its request waits harms nobody") {
    std::signal(SIGPIPE, SIG_DFL);
    Inbox inbox;
    // Two places only: two clients get in when everything of the ones before is gone.
    rm::HttpServer server{{.threads = 1, .connections_max = 2, .idle_timeout = 1ms},
                          inbox.handler()};
    for (const bool late : {false, true}) {
        for (const bool abruptly : {true, false}) {
            CAPTURE(late);
            CAPTURE(abruptly);
            HttpClient leaving{server.port()};
            leaving.request("POST", "/", "body");
            auto waiting = inbox.take();
            if (late) let_a_second_pass(server);
            if (abruptly) {
                leaving.reset();
            } else {
                leaving.close();
            }
            HttpClient other{server.port()};
            other.request("GET", "/");
            inbox.take().respond({204, "", "", {}});
            CHECK(other.receive().status == 204);
            waiting.respond({200, std::string(1'000'000, 'x'), "", {}});
        }
    }
    HttpClient first{server.port()};
    HttpClient second{server.port()};
    first.request("GET", "/");
    second.request("GET", "/");
    inbox.take().respond({204, "", "", {}});
    inbox.take().respond({204, "", "", {}});
    CHECK(first.receive().status == 204);
    CHECK(second.receive().status == 204);
    std::signal(SIGPIPE, SIG_IGN);
}

TEST_CASE("a client may be gone before its answer is given") {
    Inbox inbox;
    rm::HttpServer server{{.threads = 1}, inbox.handler()};
    HttpClient staying{server.port()};
    std::vector<Waiting> late;
    for (int round = 0; round < 30; ++round) {
        HttpClient leaving{server.port()};
        leaving.request("GET", "/");
        inbox.take().respond({204, "", "", {}});
        REQUIRE(leaving.receive().status == 204);
        leaving.request("GET", "/");
        auto waiting = inbox.take();
        leaving.reset();
        // Its loop sees the client leave before it serves the next request.
        staying.request("GET", "/");
        inbox.take().respond({200, "still here", "", {}});
        REQUIRE(staying.receive().body == "still here");
        if (round % 3 == 0) waiting.respond({200, "for nobody", "", {}});
        if (round % 3 == 1) late.push_back(std::move(waiting));
    }
    server.stop(0ms);
    CHECK(late.size() == 10);
    late.front().respond({200, "for nobody", "", {}});
}

TEST_CASE("answers may take their time, and many requests may wait") {
    Inbox inbox;
    rm::HttpServer server{{.threads = 1, .idle_timeout = 1ms}, inbox.handler()};
    std::vector<std::unique_ptr<HttpClient>> clients;
    std::vector<Waiting> waiting;
    for (int i = 0; i < 400; ++i) {
        clients.push_back(std::make_unique<HttpClient>(server.port()));
        clients.back()->request("POST", "/", std::to_string(i));
    }
    for (int i = 0; i < 400; ++i) waiting.push_back(inbox.take());
    SUBCASE("answered soon") {}
    SUBCASE("answered late") { let_a_second_pass(server); }
    for (auto& each : waiting) echo(std::move(each.request), each.respond);
    for (std::size_t i = 0; i < 400; ++i) {
        REQUIRE(clients[i]->receive().body == "POST / " + std::to_string(i));
    }
}

TEST_CASE("stopping waits for the answer of a request in progress") {
    Inbox inbox;
    rm::HttpServer server{{.idle_timeout = 1ms}, inbox.handler()};
    HttpClient client{server.port()};
    client.request("GET", "/");
    auto waiting = inbox.take();
    SUBCASE("soon") {}
    SUBCASE("late") { let_a_second_pass(server); }
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

TEST_CASE("stopping answers 503 to what is not answered in time") {
    Inbox inbox;
    auto server = std::make_unique<rm::HttpServer>(rm::HttpServerOptions{.idle_timeout = 1ms},
                                                   inbox.handler());
    const auto port = server->port();
    HttpClient client{port};
    client.request("GET", "/");
    auto waiting = inbox.take();
    SUBCASE("soon") {}
    SUBCASE("late") { let_a_second_pass(*server); }
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

TEST_CASE("a responder may outlive its server uncalled") {
    Inbox inbox;
    std::optional<Waiting> waiting;
    {
        rm::HttpServer server{{}, inbox.handler()};
        HttpClient client{server.port()};
        client.request("GET", "/");
        waiting = inbox.take();
    }
    waiting.reset();
    CHECK_FALSE(waiting.has_value());
}

TEST_CASE("an address that cannot be listened at is named") {
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

TEST_CASE("an IPv6 address can be listened at") {
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

TEST_CASE("a connection over the limit waits until another one ends") {
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

TEST_CASE("a silent connection is closed, one that waits for its answer is not") {
    Inbox inbox;
    rm::HttpServer server{{.idle_timeout = 1ms}, inbox.handler()};
    HttpClient waiting{server.port()};
    HttpClient silent{server.port()};
    waiting.request("GET", "/");
    auto request = inbox.take();
    CHECK(silent.closed_by_peer());
    request.respond({204, "", "", {}});
    CHECK(waiting.receive().status == 204);
    CHECK(waiting.closed_by_peer());
}

TEST_CASE("many clients and many answering threads do not mix anything up") {
    constexpr int clients = 8;
    constexpr int requests = 250;
    Inbox inbox;
    auto later = inbox.handler();
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
            for (int i = 0; i < requests; ++i) {
                const auto body = std::to_string(number) + '-' + std::to_string(i);
                if (client.ask("POST", "/", body).body == "POST / " + body) ++correct;
            }
        });
    }
    std::atomic<bool> done{false};
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            for (auto waiting = inbox.take(); !done; waiting = inbox.take()) {
                echo(std::move(waiting.request), waiting.respond);
            }
        });
    }
    for (int i = 0; i < clients; ++i) threads[static_cast<std::size_t>(i)].join();
    done = true;
    for (int i = 0; i < 2; ++i) later({}, [](const rm::HttpResponse&) {});
    for (std::size_t i = clients; i < threads.size(); ++i) threads[i].join();
    CHECK(correct == clients * requests);
}

TEST_CASE("a server can be stopped under load, again and again") {
    for (int round = 0; round < 20; ++round) {
        Inbox inbox;
        rm::HttpServer server{{.threads = 2}, inbox.handler()};
        std::atomic<bool> done{false};
        std::thread answering{[&] {
            for (auto waiting = inbox.take(); !done; waiting = inbox.take()) {
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
        inbox.handler()({}, [](const rm::HttpResponse&) {});
        answering.join();
    }
}
