// The service on a disk whose writes and syncs sometimes fail in the C library.

#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "support/batch_receiver.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::RunningBus;

TEST_CASE("failing writes and syncs lose no acknowledged event") {
    const test::TemporaryFolder folder;
    const auto trigger = folder.path() / "fail";
    RunningBus bus{folder.path(),
                   {},
                   {{"LD_PRELOAD", ROUTEMASTER_FAILING_DISK}, {"FAILING_DISK", trigger.string()}}};
    const test::BatchReceiver receiver;
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("timeout":100)").status ==
            204);

    std::optional<test::HttpClient> client{bus.port()};
    std::vector<std::string> acknowledged;
    int refused = 0;
    const auto publish = [&](int count) {
        for (int i = 0; i < count; ++i) {
            const auto url = "https://shop.example/orders/" + std::to_string(acknowledged.size()) +
                             "/" + std::to_string(refused);
            const auto status = client
                                    ->ask("POST", "/topics/orders", RunningBus::event_json(url),
                                          test::authorization("shop"))
                                    .status;
            if (status == 200) {
                acknowledged.push_back(url);
            } else {
                CHECK(status == 503);
                ++refused;
                ::usleep(2'000);
            }
        }
    };
    publish(50);
    CHECK(refused == 0);
    std::ofstream{trigger} << "now";
    for (int rounds = 0; rounds < 100 && (refused < 20 || acknowledged.size() < 300); ++rounds) {
        publish(50);
    }
    CHECK(refused >= 20);
    CHECK(acknowledged.size() >= 300);
    SUBCASE("the bus keeps running") {
        std::filesystem::remove(trigger);
        REQUIRE(bus.stop() == 0);
    }
    SUBCASE("the bus is killed meanwhile") {
        bus.kill();
        std::filesystem::remove(trigger);
    }
    bus.start();
    client.emplace(bus.port());
    const auto before = acknowledged.size();
    publish(1);
    REQUIRE(acknowledged.size() == before + 1);
    REQUIRE(receiver.await_event(acknowledged.back()));

    std::vector<std::string> arrived;
    for (const auto& url : receiver.accepted()) {
        // A batch is delivered again if its settlement failed.
        if (std::find(arrived.begin(), arrived.end(), url) == arrived.end()) arrived.push_back(url);
    }
    // Refused events were undone, or, if the response came late, published after all.
    std::vector<std::string> expected;
    for (const auto& url : arrived) {
        if (std::find(acknowledged.begin(), acknowledged.end(), url) != acknowledged.end()) {
            expected.push_back(url);
        }
    }
    CHECK(expected == acknowledged);
}
