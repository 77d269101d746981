#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/batch_receiver.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::RunningBus;

namespace {

std::string order_url(int number) {
    return "https://shop.example/orders/" + std::to_string(number);
}

std::vector<std::string> order_urls(int count) {
    std::vector<std::string> urls;
    for (int i = 0; i < count; ++i) urls.push_back(order_url(i));
    return urls;
}

/// Publishes orders 0 to `count` - 1, one after the other.
void publish_orders(const RunningBus& bus, int count) {
    test::HttpClient client{bus.port()};
    for (int i = 0; i < count; ++i) {
        REQUIRE(client
                    .ask("POST", "/topics/orders", RunningBus::event_json(order_url(i)),
                         test::authorization("shop"))
                    .status == 200);
    }
}

}  // namespace

TEST_CASE("batches are full and in order, and have the format of Ruby Routemaster") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    const test::BatchReceiver receiver;
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url("/events"),
                          R"("max":10,"timeout":100)")
                .status == 204);
    publish_orders(bus, 95);

    REQUIRE(receiver.await_event(order_url(94)));
    CHECK(receiver.accepted() == order_urls(95));
    const auto deliveries = receiver.deliveries();
    for (const auto& delivery : deliveries) CHECK(delivery.urls.size() <= 10);
    CHECK(deliveries.front().request.method == "POST");
    CHECK(deliveries.front().request.path == "/events");
    CHECK(deliveries.front().request.content_type == "application/json");
    CHECK("Authorization: " + deliveries.front().request.authorization + "\r\n" ==
          test::authorization("billing"));
    CHECK(deliveries.front().request.body.starts_with(
        R"([{"topic":"orders","type":"update","url":"https://shop.example/orders/0","t":)"));
}

TEST_CASE("an event with data and a timestamp arrives exactly as sent") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    const test::BatchReceiver receiver;
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("max":1)").status == 204);
    REQUIRE(bus.ask("POST", "/topics/orders", "shop",
                    R"({"type":"create","url":"https://shop.example/ö/1"})")
                .status == 400);
    REQUIRE(bus.ask("POST", "/topics/orders", "shop",
                    R"({"type":"create","url":"https://shop.example/orders/1",)"
                    R"("timestamp":1795222853691,"data":{"z":[1,2.5,null],"a":"é\n"}})")
                .status == 200);
    REQUIRE(receiver.await_deliveries(1));
    CHECK(receiver.deliveries().front().request.body ==
          R"([{"topic":"orders","type":"create","url":"https://shop.example/orders/1",)"
          R"("t":1795222853691,"data":{"z":[1,2.5,null],"a":"é\u000a"}}])");
}

TEST_CASE("a batch that is not full is sent when it is due") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    const test::BatchReceiver receiver;
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("timeout":300)").status ==
            204);
    const auto began = std::chrono::steady_clock::now();
    publish_orders(bus, 3);
    REQUIRE(receiver.await_deliveries(1));
    const auto waited = std::chrono::steady_clock::now() - began;
    CHECK(receiver.deliveries().front().urls == order_urls(3));
    CHECK(waited >= std::chrono::milliseconds{299});
    CHECK(waited < std::chrono::seconds{5});
}

TEST_CASE("a batch that its receiver refused is delivered again, before later batches") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    test::BatchReceiver receiver;
    receiver.answer({500, 302, 429});
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("max":5,"timeout":50)")
                .status == 204);
    publish_orders(bus, 20);

    REQUIRE(receiver.await_event(order_url(19)));
    CHECK(receiver.accepted() == order_urls(20));
    const auto deliveries = receiver.deliveries();
    REQUIRE(deliveries.size() >= 4);
    for (std::size_t i = 1; i < 4; ++i) {
        CHECK(deliveries[i].request.body == deliveries[0].request.body);
    }
}

TEST_CASE("a receiver that does not respond delays only its own deliveries") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    test::BatchReceiver slow;
    const test::BatchReceiver quick;
    slow.pause();
    REQUIRE(
        bus.subscribe("billing", R"(["orders"])", slow.url(), R"("max":5,"timeout":0)").status ==
        204);
    REQUIRE(bus.subscribe("audit", R"(["orders"])", quick.url(), R"("max":5,"timeout":0)").status ==
            204);
    publish_orders(bus, 50);

    REQUIRE(quick.await_event(order_url(49)));
    CHECK(quick.accepted() == order_urls(50));
    CHECK(slow.deliveries().size() == 1);
    slow.resume();
    REQUIRE(slow.await_event(order_url(49)));
    CHECK(slow.accepted() == order_urls(50));
}

TEST_CASE("raising max_in_flight of a subscriber starts more of its deliveries at once") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    test::BatchReceiver receiver;
    receiver.pause();
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(),
                          R"("max":1,"timeout":0,"max_in_flight":4)")
                .status == 204);
    publish_orders(bus, 10);
    REQUIRE(receiver.await_deliveries(4));
    CHECK(receiver.deliveries().size() == 4);
    receiver.resume();
    REQUIRE(receiver.await_deliveries(10));
}

TEST_CASE("queued events survive a restart of the bus") {
    const test::TemporaryFolder folder;
    RunningBus bus{folder.path()};
    const test::BatchReceiver receiver;
    REQUIRE(
        bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("max":100,"timeout":3600000)")
            .status == 204);
    publish_orders(bus, 99);
    CHECK(bus.stop() == 0);
    CHECK(receiver.deliveries().empty());

    bus.start();
    REQUIRE(bus.publish("orders", order_url(99)).status == 200);
    REQUIRE(receiver.await_event(order_url(99)));
    CHECK(receiver.deliveries().front().urls == order_urls(100));
}
