#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/batch_receiver.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::RunningBus;

namespace {

constexpr int publishers = 4;
constexpr std::size_t events_max = 20;

/// The events whose publication got a 200.
struct Acknowledged {
    std::atomic<int> count = 0;
    std::vector<std::string> urls[publishers];  // Each is used by its own publisher only.
};

std::string url_of(int life, int publisher, int number) {
    return "https://shop.example/" + std::to_string(life) + '/' + std::to_string(publisher) + '/' +
           std::to_string(number);
}

/// Publishes events on one connection until the connection breaks.
void publish_until_killed(std::uint16_t port, int life, int publisher, Acknowledged& acknowledged) {
    try {
        test::HttpClient client{port};
        for (int number = 0;; ++number) {
            const auto url = url_of(life, publisher, number);
            const auto reply = client.ask("POST", "/topics/orders", RunningBus::event_json(url),
                                          test::authorization("shop"));
            if (reply.status != 200) return;
            acknowledged.urls[publisher].push_back(url);
            ++acknowledged.count;
            acknowledged.count.notify_all();
        }
    } catch (const std::runtime_error&) {
        // The bus was killed.
    }
}

/// Lets the publishers run and kills the bus when `count` events are acknowledged.
void kill_amid_publishing(RunningBus& bus, int life, int count, Acknowledged& acknowledged) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < publishers; ++i) {
        threads.emplace_back([&, i] { publish_until_killed(bus.port(), life, i, acknowledged); });
    }
    for (int now = acknowledged.count; now < count; now = acknowledged.count) {
        acknowledged.count.wait(now);
    }
    bus.kill();
}

/// Removes repetitions, and keeps the order.
std::vector<std::string> without_repeats(const std::vector<std::string>& urls) {
    std::set<std::string> seen;
    std::vector<std::string> first;
    for (const auto& url : urls) {
        if (seen.insert(url).second) first.push_back(url);
    }
    return first;
}

/// Whether the elements of `part` appear in `whole` in this order, possibly with further elements
/// in between.
bool appears_in_order(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
    auto at = whole.begin();
    for (const auto& each : part) {
        at = std::find(at, whole.end(), each);
        if (at == whole.end()) return false;
        ++at;
    }
    return true;
}

}  // namespace

TEST_CASE("every event confirmed with 200 is delivered in order, even after kills of the bus") {
    const test::TemporaryFolder folder;
    RunningBus bus{folder.path()};
    const test::BatchReceiver billing;
    const test::BatchReceiver audit;
    const auto settings = R"("timeout":20,"max":)" + std::to_string(events_max);
    REQUIRE(bus.subscribe("billing", R"(["orders"])", billing.url(), settings).status == 204);
    REQUIRE(bus.subscribe("audit", R"(["orders"])", audit.url(), settings).status == 204);

    constexpr int lives = 5;
    std::vector<Acknowledged> acknowledged(lives);
    for (int life = 0; life < lives; ++life) {
        kill_amid_publishing(bus, life, 150 + 211 * life,
                             acknowledged[static_cast<std::size_t>(life)]);
        bus.start();
    }
    const std::string last = "https://shop.example/last";
    REQUIRE(bus.publish("orders", last).status == 200);
    REQUIRE(billing.await_event(last));
    REQUIRE(audit.await_event(last));
    CHECK(bus.stop() == 0);

    const auto billed = without_repeats(billing.accepted());
    const auto audited = without_repeats(audit.accepted());
    for (const auto& life : acknowledged) {
        for (const auto& urls : life.urls) {
            CHECK(appears_in_order(urls, billed));
            CHECK(appears_in_order(urls, audited));
        }
    }
    // All subscribers get the same order.
    CHECK(billed == audited);
    CHECK(billed.back() == last);

    // Each kill may repeat only the batch whose response was interrupted.
    const auto repeated = billing.accepted().size() - billed.size();
    MESSAGE("events that arrived twice after ", lives, " kills: ", repeated);
    CHECK(repeated <= lives * events_max);
}

TEST_CASE("topics, tokens and subscriptions confirmed by the bus survive a kill") {
    const test::TemporaryFolder folder;
    RunningBus bus{folder.path()};
    REQUIRE(bus.ask("POST", "/api_tokens", test::root_key, R"({"name":"new","token":"new--1"})")
                .status == 201);
    REQUIRE(bus.subscribe("billing", R"(["orders","refunds"])", "https://billing.example/events",
                          R"("timeout":3600000,"max":7)")
                .status == 204);
    REQUIRE(bus.publish("orders", "https://shop.example/orders/1").status == 200);
    REQUIRE(bus.publish("refunds", "https://shop.example/refunds/1").status == 200);
    REQUIRE(bus.ask("DELETE", "/subscriber/topics/refunds", "billing").status == 204);
    REQUIRE(bus.ask("DELETE", "/topics/refunds", test::root_key).status == 204);
    const auto state = [&] {
        return bus.ask("GET", "/topics", test::root_key).body +
               bus.ask("GET", "/subscribers", test::root_key).body +
               bus.ask("GET", "/api_tokens", test::root_key).body;
    };
    const auto before = state();
    CHECK(before.find(R"("queued":2)") != std::string::npos);
    bus.kill();
    bus.start();
    CHECK(state() == before);
}
