#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/running_bus.hpp"
#include "support/scripted_receiver.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::ReceivedRequest;
using test::RunningBus;
using test::ScriptedReceiver;
using test::status;

namespace {

using Environment = test::Process::Environment;

/// The value of a header of the request; empty when it is missing.
std::string header(const ReceivedRequest& request, const std::string& name) {
    const auto at = request.bytes.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 4;
    return request.bytes.substr(begin, request.bytes.find("\r\n", begin) - begin);
}

/// Makes the bus deliver one event to `callback`.
void publish_to(const RunningBus& bus, const std::string& callback) {
    REQUIRE(bus.subscribe("billing", R"(["orders"])", callback, R"("timeout":0)").status == 204);
    REQUIRE(bus.publish("orders", "https://shop.example/orders/1").status == 200);
}

/// The first request to a receiver from a bus with these settings.
ReceivedRequest first_request(const std::vector<std::string>& flags,
                              const Environment& environment) {
    const test::TemporaryFolder folder;
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    const RunningBus bus{folder.path(), flags, environment};
    publish_to(bus, receiver.url());
    receiver.wait_for_requests(1);
    return receiver.requests().front();
}

}  // namespace

TEST_CASE("a retry sends the id of its batch, the next attempt number and a greater age") {
    const test::TemporaryFolder folder;
    ScriptedReceiver receiver{
        [](const ReceivedRequest& request) { return status(request.number < 2 ? 503 : 204); }};
    const RunningBus bus{folder.path()};
    publish_to(bus, receiver.url());
    receiver.wait_for_requests(3);
    REQUIRE(bus.publish("orders", "https://shop.example/orders/2").status == 200);
    receiver.wait_for_requests(4);

    const auto requests = receiver.requests();
    const std::string batch = header(requests[0], "Routemaster-Batch");
    CHECK(batch.size() == 20);
    long age = -1;
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(header(requests[i], "Routemaster-Batch") == batch);
        CHECK(header(requests[i], "Routemaster-Attempt") == std::to_string(i + 1));
        CHECK(std::stol(header(requests[i], "Routemaster-Age")) > age);
        age = std::stol(header(requests[i], "Routemaster-Age"));
    }
    CHECK(age >= 100);  // The first two waits are at least 100 ms.
    CHECK(age < 60'000);
    CHECK(header(requests[3], "Routemaster-Batch") != batch);
    CHECK(header(requests[3], "Routemaster-Attempt") == "1");
}

TEST_CASE("deliveries have a User-Agent header, by default the value of Ruby Routemaster") {
    const auto agent = [](const std::vector<std::string>& flags, const Environment& environment) {
        return header(first_request(flags, environment), "User-Agent");
    };
    CHECK(agent({}, {}) == "routemaster-faraday-0.11.0");
    CHECK(agent({"--user-agent", "shop-bus/2.0"}, {}) == "shop-bus/2.0");
    CHECK(agent({}, {{"ROUTEMASTER_USER_AGENT", "shop-bus/2.1"}}) == "shop-bus/2.1");
}

TEST_CASE("the proxy of deliveries comes from the settings, and not from the environment") {
    ScriptedReceiver proxy{[](const ReceivedRequest&) { return status(204); }};
    const std::string url = proxy.url("");
    CHECK(first_request({}, {{"http_proxy", url}, {"all_proxy", url}}).target() == "/events");
    CHECK(proxy.connections() == 0);

    for (const bool by_flag : {true, false}) {
        const test::TemporaryFolder folder;
        const auto before = proxy.requests().size();
        const RunningBus bus{
            folder.path(),
            by_flag ? std::vector<std::string>{"--proxy", url} : std::vector<std::string>{},
            by_flag ? Environment{} : Environment{{"ROUTEMASTER_PROXY", url}}};
        publish_to(bus, "http://billing.test/events");
        proxy.wait_for_requests(before + 1);
        CHECK(proxy.requests().back().target() == "http://billing.test/events");
    }
}

TEST_CASE("invalid settings of delivery requests are usage errors that name the setting") {
    const auto complaint = [](const std::string& flag, const std::string& value) {
        test::Process process{
            {test::routemaster_binary, "serve", "--store", "memory:", flag, value}};
        CHECK(process.wait() == 2);
        return process.errors();
    };
    const auto names = [](const std::string& text, std::string_view what) {
        return text.find(what) != std::string::npos;
    };
    CHECK(names(complaint("--proxy", "http://proxy.example"), "--proxy"));
    CHECK(names(complaint("--proxy", "http://proxy.example"), "names no port"));
    CHECK(names(complaint("--proxy", "ftp://proxy.example:21"), "is not http://"));
    CHECK(names(complaint("--user-agent", "a\r\nX: y"), "--user-agent"));
    CHECK(names(complaint("--user-agent", "a\r\nX: y"), "contains control characters"));
}
