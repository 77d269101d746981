// GET /pulse while the file of a running bus is moved away, or fills its disk.

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/await.hpp"
#include "support/batch_receiver.hpp"
#include "support/running_bus.hpp"
#include "support/small_disk.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::RunningBus;
namespace fs = std::filesystem;

namespace {

/// Whether the pulse is 503 with this reason.
bool troubled(const RunningBus& bus, const std::string& why) {
    const auto pulse = bus.ask("GET", "/pulse", test::root_key);
    return pulse.status == 503 && pulse.body.find(why) != std::string::npos;
}

bool well(const RunningBus& bus) { return bus.ask("GET", "/pulse", test::root_key).status == 204; }

}  // namespace

TEST_CASE(
    "a bus whose file was moved away refuses events with the reason, until the file is put back") {
    const test::TemporaryFolder folder;
    RunningBus bus{folder.path()};
    REQUIRE(bus.publish("orders", "https://shop.example/1").status == 200);
    REQUIRE(well(bus));
    const auto file = folder.path() / "routemaster.db";
    const auto elsewhere = folder.path() / "elsewhere";
    fs::rename(file, elsewhere);
    REQUIRE(test::await([&] { return troubled(bus, "was moved or removed while in use"); }));
    const auto refused = bus.publish("orders", "https://shop.example/2");
    CHECK(refused.status == 503);
    CHECK(bus.ask("GET", "/health").status == 200);
    test::Process second{bus.command()};
    CHECK_MESSAGE(second.wait() == 1, "no process creates a new file beside the log of this one");
    CHECK_FALSE(fs::exists(file));
    fs::rename(elsewhere, file);
    REQUIRE(test::await([&] { return well(bus); }));
    REQUIRE(bus.publish("orders", "https://shop.example/3").status == 200);
    CHECK(bus.stop() == 0);
    bus.start();
    CHECK(bus.ask("GET", "/topics", test::root_key).body.find(R"("events":2)") !=
          std::string::npos);
    CHECK(bus.stop() == 0);
}

TEST_CASE(
    "a bus whose backlog fills the disk reports the full disk, and recovers after deliveries") {
    const test::SmallDisk disk{48};
    WARN_MESSAGE(disk.available(), "skipped: mounting a tmpfs is not allowed");
    if (!disk.available()) {
        CHECK_FALSE(disk.available());
        return;
    }
    test::BatchReceiver receiver;
    RunningBus bus{disk.path(), {"--event-data-max", "200KB"}};
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("timeout":0,"max":1)")
                .status == 204);
    receiver.pause();
    std::vector<std::string> acknowledged;
    const auto publish = [&] {
        const auto url = "https://shop.example/" + std::to_string(acknowledged.size());
        const auto event = R"({"type":"create","url":")" + url + R"(","data":{"x":")" +
                           std::string(100'000, 'x') + R"("}})";
        const auto status = bus.ask("POST", "/topics/orders", "shop", event).status;
        if (status == 200) acknowledged.push_back(url);
        return status;
    };
    // At first the log takes most of the disk, until a checkpoint.
    for (int refused = 0; refused < 25; ++refused) {
        int status = 200;
        while ((status = publish()) == 200) {
            REQUIRE(acknowledged.size() < 1'000);
            refused = 0;
        }
        REQUIRE(status == 503);
        ::usleep(20'000);
    }
    CHECK(acknowledged.size() > 50);
    // The bus soon frees its reserve, but still refuses events.
    int refused = 0;
    for (int sample = 0; sample < 60; ++sample) {
        if (troubled(bus, "full")) ++refused;
        if (sample % 10 == 0) CHECK(publish() == 503);
        ::usleep(20'000);
    }
    CHECK(refused == 60);
    CHECK(troubled(bus, "the disk is full"));
    receiver.resume();
    REQUIRE(receiver.await_event(acknowledged.back()));
    CHECK(test::await([&] { return well(bus); }));
    CHECK(bus.publish("orders", "https://shop.example/last").status == 200);
    REQUIRE(receiver.await_event("https://shop.example/last"));
    acknowledged.emplace_back("https://shop.example/last");
    CHECK(receiver.accepted() == acknowledged);
    CHECK(bus.stop() == 0);
}
