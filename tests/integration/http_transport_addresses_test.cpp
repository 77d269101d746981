#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "routemaster/transport/http.hpp"
#include "support/deliveries.hpp"
#include "support/private_network.hpp"
#include "support/scripted_receiver.hpp"

using namespace routemaster;
using namespace std::chrono_literals;
using test::deliver;
using test::delivery;
using test::PrivateNetwork;
using test::ReceivedRequest;
using test::ScriptedReceiver;
using test::status;

namespace {

/// Whether the delivery was refused because its address is this machine.
bool is_refused(HttpTransport& transport, const std::string& url) {
    const auto report = deliver(transport, delivery(url));
    return !report.outcome && report.outcome.error().code() == Errc::invalid &&
           report.outcome.error().context().ends_with("leads back to this machine");
}

}  // namespace

TEST_CASE(
    "the addresses of this machine's network interfaces are refused like loopback addresses") {
    PrivateNetwork::run([](PrivateNetwork& network) {
        network.ip("link add veth0 type veth peer name veth1");
        network.ip("address add 10.9.8.1/24 dev veth0");
        network.ip("address add fd00:9:8::1/64 dev veth0 nodad");
        network.ip("link set veth0 up");
        network.replace("/etc/hosts", "10.9.8.1 myself.test\n");
        HttpTransport transport{{.connect_timeout = 100ms, .allow_http = true}};
        for (const std::string host :
             {"10.9.8.1", "[fd00:9:8::1]", "[::ffff:10.9.8.1]", "myself.test"}) {
            CAPTURE(host);
            CHECK(is_refused(transport, "http://" + host + "/events"));
        }
        CHECK_FALSE(is_refused(transport, "http://10.9.8.2/events"));
        CHECK_FALSE(is_refused(transport, "http://[fd00:9:8::2]/events"));
    });
}

TEST_CASE("an address that this machine gets later is refused as a target within seconds") {
    PrivateNetwork::run([](PrivateNetwork& network) {
        network.ip("link add veth0 type veth peer name veth1");
        network.ip("link set veth0 up");
        HttpTransport transport{{.connect_timeout = 100ms, .allow_http = true}};
        CHECK_FALSE(is_refused(transport, "http://10.9.8.1/events"));
        network.ip("address add 10.9.8.1/24 dev veth0");
        const auto end = std::chrono::steady_clock::now() + 5s;
        bool refused = false;
        while (!refused && std::chrono::steady_clock::now() < end) {
            refused = is_refused(transport, "http://10.9.8.1/events");
        }
        CHECK(refused);
        network.ip("address del 10.9.8.1/24 dev veth0");
        std::this_thread::sleep_for(1'500ms);
        CHECK_FALSE(is_refused(transport, "http://10.9.8.1/events"));
    });
}

TEST_CASE("proxies set by environment variables are ignored") {
    ScriptedReceiver proxy{[](const ReceivedRequest&) { return status(204); }};
    for (const auto* name :
         {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
        ::setenv(name, proxy.url("").c_str(), 1);
    }
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    HttpTransport transport{{.allow_http = true}};
    CHECK(is_refused(transport, receiver.url()));
    HttpTransport local{{.allow_http = true, .allow_loopback = true}};
    CHECK(deliver(local, delivery(receiver.url())).outcome);
    CHECK(receiver.requests().size() == 1);
    CHECK(proxy.connections() == 0);
    for (const auto* name :
         {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
        ::unsetenv(name);
    }
}

TEST_CASE("a proxy carries all deliveries, and callbacks that name this machine are refused") {
    PrivateNetwork::run([](PrivateNetwork& network) {
        network.replace("/etc/hosts", "127.0.0.1 proxy.test\n");
        ScriptedReceiver proxy{[](const ReceivedRequest&) { return status(204); }};
        HttpTransport transport{
            {.allow_http = true, .proxy = "http://proxy.test:" + std::to_string(proxy.port())}};
        CHECK(deliver(transport, delivery("http://billing.test:81/events")).outcome);
        REQUIRE(proxy.requests().size() == 1);
        const std::string bytes = proxy.requests().front().bytes;
        CHECK(
            bytes.starts_with("POST http://billing.test:81/events HTTP/1.1\r\nHost: billing.test"));
        for (const std::string host : {"127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0",
                                       "0x7f.1", "localhost", "LocalHost.", "a.localhost"}) {
            CAPTURE(host);
            CHECK(is_refused(transport, "http://" + host + "/events"));
        }
        CHECK(deliver(transport, delivery("http://notlocalhost/events")).outcome);
        CHECK(proxy.requests().size() == 2);
    });
}

TEST_CASE("a proxy sees no credentials of subscribers when TLS is tunnelled through the proxy") {
    ScriptedReceiver proxy{[](const ReceivedRequest&) { return status(502); }};
    HttpTransport transport{{.proxy = proxy.url("")}};
    CHECK_FALSE(deliver(transport, delivery("https://billing.test/events")).outcome);
    REQUIRE(proxy.requests().size() == 1);
    CHECK(proxy.requests().front().bytes.starts_with("CONNECT billing.test:443 HTTP/1.1\r\n"));
    CHECK(proxy.requests().front().bytes.find("Authorization") == std::string::npos);
    CHECK(proxy.requests().front().bytes.find("Routemaster-") == std::string::npos);
}
