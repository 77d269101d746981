#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "support/await.hpp"
#include "support/batch_receiver.hpp"
#include "support/flooding_receiver.hpp"
#include "support/floods.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::RunningBus;

TEST_CASE(
    "a receiver that never stops sending delays neither other subscribers nor the end of the bus") {
    const test::TemporaryFolder folder;
    const test::BatchReceiver healthy;
    const test::FloodingReceiver flooding{test::http2_floods().front()};
    RunningBus bus{folder.path(), {"--ssl-verify", "no", "--http2", "--stop-grace", "1"}};
    const std::string one_at_a_time = R"("max":1)";
    REQUIRE(bus.subscribe("audit", R"(["orders"])", flooding.url(), one_at_a_time).status == 204);
    REQUIRE(bus.subscribe("billing", R"(["orders"])", healthy.url(), one_at_a_time).status == 204);

    for (int i = 0; i < 20; ++i) {
        const auto url = "https://shop.example/orders/" + std::to_string(i);
        REQUIRE(bus.publish("orders", url).status == 200);
        REQUIRE(healthy.await_event(url));
        if (i == 0) REQUIRE(test::await([&] { return flooding.floods() > 0; }));
    }
    CHECK(test::await([&] { return flooding.closed() > 0; }));

    const auto began = std::chrono::steady_clock::now();
    CHECK(bus.stop() == 0);
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{10});
}
