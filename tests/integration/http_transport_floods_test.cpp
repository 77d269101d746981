// Receivers that never stop sending, and a healthy subscriber.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "routemaster/transport/http.hpp"
#include "support/await.hpp"
#include "support/deliveries.hpp"
#include "support/delivery_reports.hpp"
#include "support/endless_receiver.hpp"
#include "support/flooding_receiver.hpp"
#include "support/floods.hpp"
#include "support/http2_receiver.hpp"
#include "support/scripted_receiver.hpp"
#include "support/tls_peer.hpp"

using namespace routemaster;
using namespace std::chrono_literals;
using test::deliver;
using test::delivery;
using test::DeliveryReports;
using test::EndlessReceiver;
using test::Flood;
using test::FloodingReceiver;
using test::Http2Receiver;
using test::ScriptedReceiver;
using test::status;

namespace {

using Steady = std::chrono::steady_clock;

const HttpTransportOptions patient{
    .total_timeout = 120s, .verify_tls = false, .allow_http = true, .allow_loopback = true};

HttpTransportOptions patient_over_http2() {
    HttpTransportOptions options = patient;
    options.http2 = true;
    return options;
}

/// Delivers to a receiver that never stops sending, and at the same time to a healthy one.
void deliver_beside(const std::string& url, const HttpTransportOptions& options,
                    const std::function<bool()>& has_begun) {
    const ScriptedReceiver healthy{[](const auto&) { return status(204); }};
    DeliveryReports reports;
    HttpTransport transport{options};
    transport.deliver(delivery(url), reports.keep());
    REQUIRE(test::await(has_begun));
    Steady::duration longest{0};
    for (int i = 0; i < 50; ++i) {
        const auto begun = Steady::now();
        REQUIRE(deliver(transport, delivery(healthy.url())).outcome);
        longest = std::max(longest, Steady::now() - begun);
    }
    CHECK(longest < 10s);
    const auto report = reports.wait_for(1).front();
    REQUIRE_FALSE(report.outcome);
    CHECK(report.outcome.error().code() == Errc::unavailable);
}

}  // namespace

TEST_CASE("a receiver that never stops sending is cut off, and delays no other subscriber") {
    SUBCASE("the receiver uses TLS") {
        for (const auto& flood : test::tls_floods()) {
            CAPTURE(flood.name);
            const FloodingReceiver receiver{flood};
            deliver_beside(receiver.url(), flood.http2 ? patient_over_http2() : patient,
                           [&] { return receiver.floods() > 0; });
            CHECK(test::await([&] { return receiver.closed() > 0; }));
        }
    }
    SUBCASE("the receiver does not use TLS") {
        for (const auto& flood : test::http1_floods()) {
            CAPTURE(flood.name);
            const EndlessReceiver receiver{flood.beginning, flood.part};
            deliver_beside(receiver.url(), patient, [&] { return receiver.sent() > 0; });
        }
    }
}

TEST_CASE("a receiver that sends a few bytes now and then has the full timeout") {
    HttpTransportOptions options = patient_over_http2();
    options.total_timeout = 500ms;
    DeliveryReports reports;
    std::vector<std::unique_ptr<FloodingReceiver>> receivers;
    HttpTransport transport{options};
    for (Flood flood : test::tls_floods()) {
        if (flood.handshake == Flood::Handshake::renegotiations) continue;
        flood.pause = 20ms;
        receivers.push_back(std::make_unique<FloodingReceiver>(flood));
        transport.deliver(delivery(receivers.back()->url()), reports.keep());
    }
    const auto begun = Steady::now();
    for (const auto& report : reports.wait_for(receivers.size())) CHECK_FALSE(report.outcome);
    CHECK(Steady::now() - begun < 10s);
}

TEST_CASE("a small piece of a response counts towards the flood limit like a large piece") {
    HttpTransportOptions options = patient;
    options.response_max = 10'000;
    HttpTransport transport{options};
    const auto deliver_to = [&](const std::string& url) {
        const auto report = deliver(transport, delivery(url));
        REQUIRE_FALSE(report.outcome);
        return report.outcome.error().context();
    };
    const auto* const cut_off = "the receiver sent too many bytes or parts with its answer";
    const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    SUBCASE("the pieces are TLS records") {
        const FloodingReceiver receiver{
            {.name = "extension", .beginning = chunked + "1;", .part = "b", .pause = 1ms}};
        CHECK(deliver_to(receiver.url()) == cut_off);
        CHECK(receiver.sent() < 50'000);
    }
    SUBCASE("the pieces are packets") {
        const EndlessReceiver receiver{chunked + "1;", "b", 1ms};
        CHECK(deliver_to(receiver.url()) == cut_off);
        CHECK(receiver.sent() < 10'000);
    }
    SUBCASE("the pieces are chunks") {
        const EndlessReceiver receiver{chunked, "1\r\nb\r\n"};
        CHECK(deliver_to(receiver.url()) == cut_off);
    }
}

TEST_CASE("a receiver gets HTTP/2 only if an option allows HTTP/2") {
    SUBCASE("the receiver supports both versions") {
        for (const bool http2 : {false, true}) {
            CAPTURE(http2);
            test::TlsPeer receiver{"h2,http/1.1"};
            HttpTransport transport{http2 ? patient_over_http2() : patient};
            transport.deliver(delivery(receiver.url()), [](const DeliveryReport&) {});
            const std::string offered = "ALPN protocols advertised by the client: ";
            receiver.wait_for(offered + (http2 ? "h2, http/1.1\n" : "http/1.1\n"));
            receiver.wait_for(http2 ? "PRI * HTTP/2.0\r\n" : "POST /events HTTP/1.1\r\n");
        }
    }
    SUBCASE("the receiver supports only HTTP/2") {
        const Http2Receiver receiver{1'000};
        HttpTransport transport{patient};
        CHECK_FALSE(deliver(transport, delivery(receiver.url())).outcome);
        HttpTransport over_http2{patient_over_http2()};
        CHECK(deliver(over_http2, delivery(receiver.url())).outcome);
    }
    SUBCASE("the receiver selects HTTP/2 although the TLS handshake does not offer HTTP/2") {
        const FloodingReceiver receiver{test::http2_floods().front()};
        HttpTransport transport{patient};
        CHECK_FALSE(deliver(transport, delivery(receiver.url())).outcome);
        CHECK(receiver.floods() == 0);
    }
}

TEST_CASE(
    "all deliveries that share a flooded connection are cut off, and the connection is closed") {
    constexpr std::size_t count = 16;
    const FloodingReceiver receiver{test::http2_floods().front()};
    DeliveryReports reports;
    HttpTransport transport{patient_over_http2()};
    for (std::size_t i = 0; i < count; ++i) {
        transport.deliver(delivery(receiver.url()), reports.keep());
    }
    for (const auto& report : reports.wait_for(count)) {
        REQUIRE_FALSE(report.outcome);
        CHECK(report.outcome.error().code() == Errc::unavailable);
    }
    CHECK(test::await([&] { return receiver.closed() == receiver.floods(); }));
}

TEST_CASE("large responses that share a connection are not cut off as a flood") {
    constexpr std::size_t count = 40;
    const Http2Receiver receiver{1'000'000};
    DeliveryReports reports;
    HttpTransport transport{patient_over_http2()};
    for (std::size_t i = 0; i < count; ++i) {
        transport.deliver(delivery(receiver.url()), reports.keep());
    }
    for (const auto& report : reports.wait_for(count)) {
        if (!report.outcome) FAIL_CHECK(report.outcome.error().message());
    }
}

TEST_CASE("a response with a transfer coding that the request did not offer is refused") {
    std::string line;
    ScriptedReceiver receiver{[&](const auto&) {
        return test::ScriptedReply{.bytes = "HTTP/1.1 200 OK\r\n" + line + "\r\n\r\n0\r\n\r\n"};
    }};
    HttpTransport transport{patient};
    for (const auto* refused :
         {"Transfer-Encoding: gzip, chunked", "transfer-encoding: chunked, gzip",
          "TRANSFER-ENCODING:gzip", "Transfer-Encoding: chunked\r\nTransfer-Encoding: deflate"}) {
        CAPTURE(refused);
        line = refused;
        const auto report = deliver(transport, delivery(receiver.url()));
        REQUIRE_FALSE(report.outcome);
        CHECK(report.outcome.error().context() ==
              "the answer has a transfer coding other than chunked");
    }
    for (const auto* accepted : {"Transfer-Encoding: chunked", "transfer-encoding:  Chunked "}) {
        CAPTURE(accepted);
        line = accepted;
        CHECK(deliver(transport, delivery(receiver.url())).outcome);
    }
}
