#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/await.hpp"
#include "support/batch_receiver.hpp"
#include "support/running_bus.hpp"
#include "support/small_disk.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::RunningBus;

// A test needs the right to mount a small disk.
#define REQUIRE_A_DISK(disk)                                                          \
    do {                                                                              \
        WARN_MESSAGE((disk).available(), "skipped: mounting a tmpfs is not allowed"); \
        if (!(disk).available()) return;                                              \
    } while (false)

namespace {

/// Publishes orders one by one, and records each acknowledged order.
class Shop {
public:
    explicit Shop(const RunningBus& bus) : bus_{bus} {}

    /// Publishes `count` orders, or until an order is refused. Returns the last status.
    int publish(int count) {
        test::HttpClient client{bus_.port()};
        for (int i = 0; i < count; ++i) {
            const auto url = "https://shop.example/orders/" + std::to_string(++number_);
            const auto reply = client.ask("POST", "/topics/orders", RunningBus::event_json(url),
                                          test::authorization("shop"));
            if (reply.status != 200) return reply.status;
            acknowledged_.push_back(url);
        }
        return 200;
    }

    [[nodiscard]] const std::vector<std::string>& acknowledged() const { return acknowledged_; }

private:
    const RunningBus& bus_;
    int number_ = 0;
    std::vector<std::string> acknowledged_;
};

/// More orders than fit onto the disks of these tests.
constexpr int too_many = 100'000;

bool counts(const RunningBus& bus, std::size_t events) {
    return bus.ask("GET", "/topics", test::root_key)
               .body.find("\"events\":" + std::to_string(events) + '}') != std::string::npos;
}

/// Publishes until the bus accepts events again. Returns false at the timeout.
bool heals(Shop& shop) {
    for (int i = 0; i < 300; ++i) {
        if (shop.publish(1) == 200) return true;
        // The bus probes the disk from time to time, without a log line.
        ::usleep(20'000);
    }
    return false;
}

/// Publishes large events until an event is refused. Returns the URLs of accepted events.
std::vector<std::string> publish_until_refused(const RunningBus& bus) {
    const std::string data(50'000, 'x');
    std::vector<std::string> accepted;
    test::HttpClient shop{bus.port()};
    for (int i = 0; i < 10'000; ++i) {
        const auto url = "https://shop.example/" + std::to_string(i);
        const auto status =
            shop.ask("POST", "/topics/orders",
                     R"({"type":"update","url":")" + url + R"(","data":{"a":")" + data + R"("}})",
                     test::authorization("shop"))
                .status;
        if (status == 503) return accepted;
        REQUIRE(status == 200);
        accepted.push_back(url);
    }
    FAIL("no event was refused");
    return accepted;
}

}  // namespace

TEST_CASE(
    "on a full disk the bus refuses events with 503, keeps acknowledged events, and recovers "
    "later") {
    const test::SmallDisk disk{8};
    REQUIRE_A_DISK(disk);
    RunningBus bus{disk.path()};
    const test::BatchReceiver receiver;
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("timeout":100)").status ==
            204);
    Shop shop{bus};
    REQUIRE(shop.publish(50) == 200);
    disk.fill_up();
    CHECK(shop.publish(too_many) == 503);
    CHECK(shop.publish(1) == 503);
    CHECK(bus.subscribe("audit", R"(["orders"])", receiver.url()).status == 503);
    CHECK(counts(bus, shop.acknowledged().size()));
    CHECK(bus.ask("GET", "/subscribers", test::root_key).body.find("audit") == std::string::npos);

    SUBCASE("the disk gets free space while the bus runs") { disk.make_space(); }
    SUBCASE("the disk gets free space after the bus was killed") {
        bus.kill();
        disk.make_space();
        bus.start();
    }
    REQUIRE(heals(shop));
    REQUIRE(shop.publish(20) == 200);
    CHECK(counts(bus, shop.acknowledged().size()));
    REQUIRE(receiver.await_event(shop.acknowledged().back()));
    std::vector<std::string> arrived;
    for (const auto& url : receiver.accepted()) {
        // The kill may repeat the batch under way.
        if (std::find(arrived.begin(), arrived.end(), url) == arrived.end()) arrived.push_back(url);
    }
    CHECK(arrived == shop.acknowledged());
    CHECK(bus.stop() == 0);
}

TEST_CASE("on a full disk a bus starts only if all of its clients are already stored") {
    const test::SmallDisk disk{8};
    REQUIRE_A_DISK(disk);
    RunningBus bus{disk.path()};
    REQUIRE(bus.subscribe("billing", R"(["orders"])", "http://127.0.0.1:9/").status == 204);
    Shop shop{bus};
    REQUIRE(shop.publish(50) == 200);
    disk.fill_up();
    REQUIRE(shop.publish(too_many) == 503);
    // The bus has freed its reserve, and other programs use the space while the bus is stopped.
    REQUIRE(bus.process().await_error("new events and jobs are refused until"));
    bus.kill();
    disk.fill_up();
    bus.start();
    CHECK(bus.ask("GET", "/pulse", test::root_key).status == 503);
    CHECK(counts(bus, shop.acknowledged().size()));
    CHECK(bus.stop() == 0);
    auto command = bus.command();
    command.insert(command.end(), {"--clients", "newcomer"});
    test::Process refused{command};
    CHECK(refused.wait() == 1);
    CHECK(refused.errors().find("the disk is full") != std::string::npos);
}

TEST_CASE("a bus on a read-only disk reports the disk in one line that names the file") {
    const test::SmallDisk disk{8};
    REQUIRE_A_DISK(disk);
    {
        RunningBus bus{disk.path()};
        REQUIRE(bus.stop() == 0);
    }
    REQUIRE(disk.make_read_only());
    test::Process process{{test::routemaster_binary, "serve", "--listen", "127.0.0.1:0",
                           "--root-key", "r", "--data-dir", disk.path().string()}};
    CHECK(process.wait() == 1);
    const auto complaint = process.errors();
    CHECK(complaint.find((disk.path() / "routemaster.db").string()) != std::string::npos);
    CHECK(complaint.find('\n') == complaint.size() - 1);
}

TEST_CASE(
    "beyond a limit of file sizes, events are refused, and the backlog is delivered under the "
    "limit") {
    const test::TemporaryFolder folder;
    test::BatchReceiver receiver;
    receiver.pause();
    // In blocks of 512 bytes: 20 MiB.
    RunningBus bus{folder.path(), {}, {}, "-f 40960"};
    CHECK(bus.process().await_error("files may take 20971520 bytes at most"));
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("timeout":0,"max":20)")
                .status == 204);
    const auto accepted = publish_until_refused(bus);
    CHECK(bus.process().await_error("the disk is full: new events and jobs are refused"));
    SUBCASE("the bus keeps running") {}
    SUBCASE("the bus is killed and started again") {
        bus.kill();
        bus.start();
    }
    receiver.resume();
    for (const auto& url : accepted) REQUIRE(receiver.await_event(url));
    CHECK(test::await([&] { return bus.publish("orders", "https://a.example/").status == 200; }));
    CHECK(bus.stop() == 0);
}
