#include <doctest/doctest.h>
#include <netinet/in.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "routemaster/transport/http.hpp"
#include "support/deliveries.hpp"
#include "support/full_listener.hpp"
#include "support/private_network.hpp"
#include "support/scripted_receiver.hpp"

using namespace routemaster;
using namespace std::chrono_literals;
using test::deliver;
using test::delivery;
using test::DeliveryReports;
using test::PrivateNetwork;
using test::ReceivedRequest;
using test::ScriptedReceiver;
using test::status;

TEST_CASE("hosts that are unreachable, refuse or do not exist fail only their own deliveries") {
    test::FullListener dead;
    ScriptedReceiver healthy{[](const ReceivedRequest&) { return status(204); }};
    ScriptedReceiver breaking{[](const ReceivedRequest&) {
        return test::ScriptedReply{.bytes = "HTTP/1.1 200 OK\r\nContent-", .close = true};
    }};
    const std::string nobody = [] {
        const ScriptedReceiver gone{[](const ReceivedRequest&) { return test::silence(); }};
        return gone.url();
    }();
    DeliveryReports failures;
    std::atomic<bool> stopping = false;
    HttpTransport transport{{.connect_timeout = 400ms, .allow_http = true, .allow_loopback = true}};
    const auto keep_busy = [&](std::string url) {
        return std::jthread{[&, url = std::move(url)] {
            while (!stopping) {
                DeliveryReports reports;
                for (int i = 0; i < 3; ++i) transport.deliver(delivery(url), reports.keep());
                for (const auto& report : reports.wait_for(3)) failures.keep()(report);
            }
        }};
    };
    {
        const auto a = keep_busy("http://127.0.0.1:" + std::to_string(dead.port()) + "/events");
        const auto b = keep_busy("http://nosuch.invalid/events");
        const auto c = keep_busy(nobody);
        const auto d = keep_busy(breaking.url());
        const auto end = std::chrono::steady_clock::now() + 3s;
        while (std::chrono::steady_clock::now() < end) {
            healthy.close_connections();
            const auto report = deliver(transport, delivery(healthy.url()));
            if (!report.outcome) MESSAGE(report.outcome.error().message());
            CHECK(report.outcome);
            if (!report.outcome) break;
        }
        stopping = true;
    }
    CHECK(failures.all().size() > 100);
    for (const auto& report : failures.all()) {
        REQUIRE_FALSE(report.outcome);
        if (report.outcome.error().context().find("callback") != std::string::npos) {
            FAIL(report.outcome.error().message());
        }
    }
}

TEST_CASE("when one address of a host refuses connections, the next address is tried") {
    PrivateNetwork::run([](PrivateNetwork& network) {
        network.replace("/etc/hosts", "127.0.0.1 twofold.test\n127.0.0.2 twofold.test\n");
        // The first address has no listener.
        ScriptedReceiver healthy{[](const ReceivedRequest&) { return status(204); },
                                 INADDR_LOOPBACK + 1};
        HttpTransport transport{
            {.connect_timeout = 5'000ms, .allow_http = true, .allow_loopback = true}};
        const auto url = "http://twofold.test:" + std::to_string(healthy.port()) + "/events";
        CHECK(deliver(transport, delivery(url)).outcome);
        CHECK(healthy.requests().size() == 1);
    });
}
