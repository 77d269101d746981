#include "routemaster/transport/http.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "routemaster/clock.hpp"
#include "support/deliveries.hpp"
#include "support/delivery_reports.hpp"
#include "support/full_listener.hpp"
#include "support/local_delivery.hpp"
#include "support/scripted_receiver.hpp"
#include "support/tls_peer.hpp"

using namespace routemaster;
using namespace std::chrono_literals;
using test::deliver;
using test::delivery;
using test::DeliveryReports;
using test::local;
using test::local_within;
using test::ReceivedRequest;
using test::ScriptedReceiver;
using test::ScriptedReply;
using test::silence;
using test::status;
namespace {

/// The URL of a port without a listener.
std::string deserted_url() {
    const ScriptedReceiver gone{[](const ReceivedRequest&) { return silence(); }};
    return gone.url();
}

}  // namespace

TEST_CASE("a delivery has the request format of Ruby Routemaster, and identifies its batch") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    HttpTransport transport{local};
    Delivery third = delivery(receiver.url());
    const Uid third_batch{0x123456789abcdef0, 0xfedcba9876543210};
    third.batch = third_batch;
    third.attempt = 3;
    third.created_at = system_clock().now() + 1h;  // From a clock that is ahead.
    const auto report = deliver(transport, std::move(third));
    CHECK(report.outcome);
    CHECK(report.undecodable == 0);
    REQUIRE(receiver.requests().size() == 1);
    CHECK(receiver.requests().front().bytes ==
          "POST /events HTTP/1.1\r\n"
          "Host: 127.0.0.1:" +
              std::to_string(receiver.port()) +
              "\r\n"
              "Accept: */*\r\n"
              "User-Agent: routemaster-faraday-0.11.0\r\n"
              "Authorization: Basic c2VjcmV0Ong=\r\n"
              "Content-Type: application/json\r\n"
              "Routemaster-Batch: " +
              std::string{third_batch.text()} +
              "\r\n"
              "Routemaster-Attempt: 3\r\n"
              "Routemaster-Age: 0\r\n"
              "Content-Length: 87\r\n"
              "\r\n"
              R"([{"topic":"cats","type":"create","url":"https://example.com/cats/1",)"
              R"("t":1795222853691}])");
}

TEST_CASE("a delivery has the age of its batch at the time of sending") {
    ScriptedReceiver receiver{[](const ReceivedRequest& request) {
        return request.number == 0 ? silence() : status(204);
    }};
    HttpTransportOptions options = local_within(300ms);
    options.in_flight_max = 1;
    HttpTransport transport{options};
    DeliveryReports reports;
    for (int i = 0; i < 2; ++i) {
        Delivery aged = delivery(receiver.url());
        aged.created_at = system_clock().now() - 5s;
        transport.deliver(std::move(aged), reports.keep());
    }
    std::ignore = reports.wait_for(2);
    const auto age_of = [&](std::size_t n) {
        const std::string bytes = receiver.requests().at(n).bytes;
        return std::stoi(bytes.substr(bytes.find("Routemaster-Age: ") + 17));
    };
    CHECK(age_of(0) >= 5'000);
    CHECK(age_of(0) < 5'300);
    CHECK(age_of(1) >= 5'270);  // The delivery had to wait.
    CHECK(age_of(1) < 10'000);
}

TEST_CASE("the User-Agent header of deliveries is an option") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    HttpTransportOptions options = local;
    options.user_agent = "shop-bus/2.0";
    HttpTransport transport{options};
    REQUIRE(deliver(transport, delivery(receiver.url())).outcome);
    CHECK(receiver.requests().front().bytes.find("\r\nUser-Agent: shop-bus/2.0\r\n") !=
          std::string::npos);
}

TEST_CASE("the statuses of permanent failures, and the largest head of a response, are options") {
    const std::string large_head = "X-A: " + std::string(2'000, 'x') + "\r\n";
    ScriptedReceiver receiver{[&](const ReceivedRequest& request) -> ScriptedReply {
        if (request.target() == "/large") {
            return {.bytes = "HTTP/1.1 200 OK\r\n" + large_head + "Content-Length: 0\r\n\r\n"};
        }
        return status(request.target() == "/gone" ? 410 : 404);
    }};
    HttpTransportOptions options = local;
    options.permanent_statuses = {404};
    options.head_max = 3'000;
    HttpTransport transport{options};
    CHECK(deliver(transport, delivery(receiver.url("/missing"))).permanent);
    CHECK(!deliver(transport, delivery(receiver.url("/gone"))).permanent);
    CHECK(deliver(transport, delivery(receiver.url("/large"))).outcome);
    options.head_max = 1'000;
    HttpTransport strict{options};
    const auto cut_off = deliver(strict, delivery(receiver.url("/large"))).outcome;
    REQUIRE(!cut_off);
    CHECK(cut_off.error().context() == "the answer has more than 1000 bytes of headers");
}

TEST_CASE(
    "the credentials of a delivery come from the uuid, even if the callback contains credentials") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    HttpTransport transport{local};
    const auto authorization = [&](Delivery delivery) {
        REQUIRE(deliver(transport, std::move(delivery)).outcome);
        const std::string bytes = receiver.requests().back().bytes;
        const auto start = bytes.find("Authorization: ");
        REQUIRE(start != std::string::npos);
        CHECK(bytes.find("Authorization: ", start + 1) == std::string::npos);
        return bytes.substr(start, bytes.find("\r\n", start) - start);
    };
    auto with_user = delivery("http://user:password@127.0.0.1:" + std::to_string(receiver.port()));
    CHECK(authorization(with_user) == "Authorization: Basic c2VjcmV0Ong=");
    auto nobody = delivery(receiver.url());
    nobody.uuid = "";
    CHECK(authorization(nobody) == "Authorization: Basic Ong=");
    auto longer = delivery(receiver.url());
    longer.uuid = "ab";
    CHECK(authorization(longer) == "Authorization: Basic YWI6eA==");
    longer.uuid = "a\r\nX: \xff";
    CHECK(authorization(longer) == "Authorization: Basic YQ0KWDog/zp4");
}

TEST_CASE("large bodies arrive complete, without 100 Continue") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    HttpTransport transport{local};
    Delivery large = delivery(receiver.url());
    const std::string message{*large.messages.begin()};
    for (int i = 1; i < 20'000; ++i) large.messages.append(message);
    REQUIRE(deliver(transport, std::move(large)).outcome);
    REQUIRE(receiver.requests().size() == 1);
    const ReceivedRequest request = receiver.requests().front();
    CHECK(request.body().size() == 20'000 * 86 + 1);
    CHECK(request.body().ends_with("\"t\":1795222853691}]"));
    CHECK(request.bytes.find("Expect") == std::string::npos);
}

TEST_CASE("messages that cannot be decoded are left out and reported") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    HttpTransport transport{local};
    Delivery damaged{.subscriber = "billing", .callback = receiver.url()};
    damaged.messages.append("garbage");
    const auto report = deliver(transport, std::move(damaged));
    CHECK(report.outcome);
    CHECK(report.undecodable == 1);
    CHECK(receiver.requests().back().body() == "[]");
}

TEST_CASE("only a 2xx status is a success, and redirects are not followed") {
    ScriptedReceiver receiver{[](const ReceivedRequest& request) {
        const int code = std::stoi(std::string{request.target().substr(1)});
        ScriptedReply reply = status(code);
        if (code == 301 || code == 302) {
            reply.bytes.insert(reply.bytes.find("\r\n") + 2, "Location: /200\r\n");
        }
        return reply;
    }};
    HttpTransport transport{local};
    for (const int code : {200, 204, 205, 299}) {
        CAPTURE(code);
        CHECK(deliver(transport, delivery(receiver.url("/" + std::to_string(code)))).outcome);
    }
    for (const int code : {301, 302, 404, 410, 429, 500, 503}) {
        CAPTURE(code);
        const auto report = deliver(transport, delivery(receiver.url("/" + std::to_string(code))));
        REQUIRE_FALSE(report.outcome);
        CHECK(report.outcome.error().code() == Errc::unavailable);
        CHECK(report.outcome.error().context() == "HTTP " + std::to_string(code));
    }
    CHECK(receiver.requests().size() == 11);
}

TEST_CASE("a delivery to a port without a listener fails as unavailable") {
    HttpTransport transport{local};
    const auto report = deliver(transport, delivery(deserted_url()));
    REQUIRE_FALSE(report.outcome);
    CHECK(report.outcome.error().code() == Errc::unavailable);
    CHECK(report.outcome.error().context().find("connect") != std::string::npos);
}

TEST_CASE(
    "a delivery whose connection closes before the response is complete fails as unavailable") {
    for (const auto* answer :
         {"", "HTTP/1.1 20", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n", "garbage",
          "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"}) {
        CAPTURE(answer);
        ScriptedReceiver receiver{
            [=](const ReceivedRequest&) { return ScriptedReply{.bytes = answer, .close = true}; }};
        HttpTransport transport{local};
        const auto report = deliver(transport, delivery(receiver.url()));
        REQUIRE_FALSE(report.outcome);
        CHECK(report.outcome.error().code() == Errc::unavailable);
        CHECK_FALSE(report.outcome.error().context().empty());
    }
}

TEST_CASE("a delivery to a receiver that does not respond times out") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return silence(); }};
    HttpTransport transport{local_within(150ms)};
    const auto begin = std::chrono::steady_clock::now();
    const auto report = deliver(transport, delivery(receiver.url()));
    REQUIRE_FALSE(report.outcome);
    CHECK(report.outcome.error().code() == Errc::timed_out);
    CHECK_FALSE(report.outcome.error().context().empty());
    CHECK(std::chrono::steady_clock::now() - begin >= 135ms);
}

TEST_CASE("deliveries that began together and get no response time out a few at a time") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return silence(); }};
    using Clock = std::chrono::steady_clock;
    std::mutex mutex;
    std::vector<Clock::duration> took;
    DeliveryReports reports;
    HttpTransport transport{local_within(3'000ms)};
    const auto begin = Clock::now();
    UidSource uids{1, 2};
    for (int i = 0; i < 40; ++i) {
        auto one = delivery(receiver.url());
        one.batch = uids.next();
        transport.deliver(std::move(one), [&, keep = reports.keep()](DeliveryReport report) {
            {
                const std::lock_guard lock{mutex};
                took.push_back(Clock::now() - begin);
            }
            keep(std::move(report));
        });
    }
    std::ignore = reports.wait_for(40);
    std::sort(took.begin(), took.end());
    CHECK(took.front() >= 2'690ms);
    CHECK(took.back() - took.front() >= 50ms);
    int pauses = 0;
    for (std::size_t i = 1; i < took.size(); ++i) pauses += took[i] - took[i - 1] >= 40ms ? 1 : 0;
    CHECK(pauses >= 2);
}

TEST_CASE("a delivery to a machine that does not accept connections times out sooner") {
    const test::FullListener listener;
    HttpTransportOptions options = local;
    options.connect_timeout = 150ms;
    HttpTransport transport{options};
    const auto report = deliver(
        transport, delivery("http://127.0.0.1:" + std::to_string(listener.port()) + "/events"));
    REQUIRE_FALSE(report.outcome);
    CHECK(report.outcome.error().code() == Errc::timed_out);
    CHECK(report.outcome.error().message() == "no connection within 150 ms: timed out");
}

TEST_CASE("deliveries one after another share a connection") {
    ScriptedReceiver receiver{
        [](const ReceivedRequest& request) { return status(request.number == 1 ? 500 : 200); }};
    HttpTransport transport{local};
    for (int i = 0; i < 5; ++i) std::ignore = deliver(transport, delivery(receiver.url()));
    CHECK(receiver.requests().size() == 5);
    CHECK(receiver.connections() == 1);
}

TEST_CASE(
    "a receiver that closed an idle connection gets the next delivery over a new connection") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    HttpTransport transport{local};
    REQUIRE(deliver(transport, delivery(receiver.url())).outcome);
    receiver.close_connections();
    CHECK(deliver(transport, delivery(receiver.url())).outcome);
    CHECK(receiver.connections() == 2);
}

TEST_CASE("a kept-alive connection that turns out to be dead is replaced") {
    ScriptedReceiver receiver{[](const ReceivedRequest& request) {
        return request.number == 1 ? ScriptedReply{.close = true} : status(204);
    }};
    HttpTransport transport{local};
    REQUIRE(deliver(transport, delivery(receiver.url())).outcome);
    CHECK(deliver(transport, delivery(receiver.url())).outcome);
    CHECK(receiver.requests().size() == 3);
}

TEST_CASE("this machine is refused as a target, under any name") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    HttpTransport transport{{.allow_http = true}};
    const std::string port = std::to_string(receiver.port());
    for (const auto* host : {"127.0.0.1", "127.8.9.10", "localhost", "0.0.0.0", "[::1]", "[::]",
                             "[::ffff:127.0.0.1]", "[::ffff:0.0.0.0]", "2130706433", "0x7f.1"}) {
        CAPTURE(host);
        const auto report =
            deliver(transport, delivery("http://" + std::string{host} + ":" + port + "/events"));
        REQUIRE_FALSE(report.outcome);
        CHECK(report.outcome.error().code() == Errc::invalid);
        CHECK(report.outcome.error().context().ends_with("leads back to this machine"));
    }
    CHECK(receiver.connections() == 0);
}

TEST_CASE("only https callbacks are served, and http callbacks if allowed") {
    HttpTransport strict{{.allow_loopback = true}};
    CHECK(strict.serves("https://billing.example/events"));
    CHECK(strict.serves("HTTPS://billing.example/events"));
    CHECK_FALSE(strict.serves("http://billing.example/events"));
    CHECK_FALSE(strict.serves("https://"));
    CHECK_FALSE(strict.serves("local:billing"));
    CHECK_FALSE(strict.serves(""));
    HttpTransport lenient{local};
    CHECK(lenient.serves("http://billing.example/events"));
    CHECK_FALSE(lenient.serves("ftp://billing.example/events"));

    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    const auto report = deliver(strict, delivery(receiver.url()));
    REQUIRE_FALSE(report.outcome);
    CHECK(report.outcome.error().code() == Errc::invalid);
    CHECK(receiver.connections() == 0);
}

TEST_CASE("a callback that is not a URL is refused as invalid") {
    HttpTransport transport{local};
    for (const auto* url : {"http://", "http:// /", "http://127.0.0.1:99999/", "http://[::1/",
                            "http://127.0.0.1/\r\nX: y"}) {
        CAPTURE(url);
        const auto report = deliver(transport, delivery(url));
        REQUIRE_FALSE(report.outcome);
        CHECK(report.outcome.error().code() == Errc::invalid);
    }
}

TEST_CASE("responses are read up to a size limit") {
    ScriptedReceiver receiver{[](const ReceivedRequest& request) {
        const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: ";
        const std::size_t size = (request.target() == "/large" ? 100'001 : 100'000) - 42;
        return ScriptedReply{.bytes =
                                 head + std::to_string(size) + "\r\n\r\n" + std::string(size, 'x')};
    }};
    HttpTransportOptions options = local;
    options.response_max = 100'000;
    HttpTransport transport{options};
    CHECK(deliver(transport, delivery(receiver.url("/fits"))).outcome);
    const auto report = deliver(transport, delivery(receiver.url("/large")));
    REQUIRE_FALSE(report.outcome);
    CHECK(report.outcome.error().code() == Errc::unavailable);
    CHECK(report.outcome.error().context() == "the answer has more than 100000 bytes");
    CHECK(deliver(transport, delivery(receiver.url("/fits"))).outcome);
}

TEST_CASE("destroying a transport cancels each of its deliveries once") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return silence(); }};
    DeliveryReports reports;
    {
        HttpTransportOptions options = local;
        options.in_flight_max = 10;
        HttpTransport transport{options};
        for (int i = 0; i < 30; ++i) transport.deliver(delivery(receiver.url()), reports.keep());
        receiver.wait_for_requests(10);
    }
    CHECK(receiver.requests().size() == 10);
    CHECK(reports.all().size() == 30);
    for (const auto& report : reports.all()) {
        REQUIRE_FALSE(report.outcome);
        CHECK(report.outcome.error().code() == Errc::cancelled);
    }
}

TEST_CASE("a delivery begun while its transport is destroyed is cancelled at once") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return silence(); }};
    DeliveryReports reports;
    auto transport = std::make_unique<HttpTransport>(local);
    HttpTransport& alive = *transport;
    alive.deliver(delivery(receiver.url()),
                  [&](DeliveryReport) { alive.deliver(delivery(receiver.url()), reports.keep()); });
    receiver.wait_for_requests(1);
    transport.reset();
    REQUIRE(reports.all().size() == 1);
    REQUIRE_FALSE(reports.all().front().outcome);
    CHECK(reports.all().front().outcome.error().code() == Errc::cancelled);
}

TEST_CASE("a certificate without a trusted issuer is refused, unless verification is off") {
    test::TlsPeer peer;
    HttpTransportOptions options{.allow_loopback = true};
    {
        HttpTransport transport{options};
        const auto report = deliver(transport, delivery(peer.url()));
        REQUIRE_FALSE(report.outcome);
        CHECK(report.outcome.error().code() == Errc::unavailable);
        CHECK(report.outcome.error().context().find("certificate") != std::string::npos);
    }
    options.verify_tls = false;
    HttpTransport transport{options};
    DeliveryReports reports;
    transport.deliver(delivery(peer.url()), reports.keep());
    peer.wait_for("\"t\":1795222853691}]");
    peer.say("HTTP/1.1 204 No Content\r\n\r\n");
    CHECK(reports.wait_for(1).front().outcome);
}

TEST_CASE("invalid options of a transport are refused by name") {
    const auto refused = [](HttpTransportOptions options) -> std::string {
        try {
            const HttpTransport transport{options};
        } catch (const Failure& failure) {
            return failure.error().context();
        }
        return "accepted";
    };
    CHECK(refused({.connect_timeout = 0ms}) == "connect_timeout: must be positive");
    CHECK(refused({.total_timeout = -1ms}) == "total_timeout: must be positive");
    CHECK(refused({.in_flight_max = 0}) == "in_flight_max: must not be 0");
    CHECK(refused({.connections_kept_max = 0}) == "connections_kept_max: must not be 0");
    CHECK(refused({.proxy = "http://"}).starts_with("proxy: "));
    CHECK(refused({.proxy = "proxy.example:8080"}).starts_with("proxy: "));
    CHECK(refused({.proxy = "socks4://proxy.example:8080"}) ==
          "proxy: is not http://, https:// or socks5h://");
    CHECK(refused({.proxy = "http://proxy.example"}) == "proxy: names no port");
    CHECK(refused({.user_agent = "a\r\nX: y"}) == "user_agent: contains control characters");
}
