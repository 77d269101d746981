#include <doctest/doctest.h>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/await.hpp"
#include "support/batch_receiver.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::RunningBus;

namespace {

const std::string first = "https://shop.example/orders/1";
const std::string second = "https://shop.example/orders/2";

/// Makes two batches for `billing`. The first is at the receiver, without a response.
void leave_a_delivery_in_flight(const RunningBus& bus, test::BatchReceiver& receiver) {
    receiver.pause();
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("max":1)").status == 204);
    REQUIRE(bus.publish("orders", first).status == 200);
    REQUIRE(bus.publish("orders", second).status == 200);
    REQUIRE(receiver.await_deliveries(1));
}

}  // namespace

TEST_CASE("an idle bus stops at once on SIGTERM and on SIGINT") {
    const test::TemporaryFolder folder;
    RunningBus bus{folder.path()};
    for (const int signal : {SIGTERM, SIGINT}) {
        const auto began = std::chrono::steady_clock::now();
        CHECK(bus.stop(signal) == 0);
        CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{2});
        CHECK(bus.process().errors().find("INFO: stopped\n") != std::string::npos);
        bus.start();
    }
}

TEST_CASE("a request under way gets its response while the bus stops") {
    const test::TemporaryFolder folder;
    const auto busy = folder.path() / "busy";
    RunningBus bus{folder.path(),
                   {},
                   {{"LD_PRELOAD", ROUTEMASTER_FAILING_DISK},
                    {"FAILING_DISK", busy.string()},
                    {"FAILING_DISK_WAITS", "1"}}};
    test::HttpClient client{bus.port()};
    std::ofstream{busy} << "now";
    client.request("POST", "/topics/orders", RunningBus::event_json(first),
                   test::authorization("shop"));
    ::usleep(100'000);
    bus.process().signal(SIGTERM);
    REQUIRE(bus.process().await_error("INFO: stopping\n"));
    ::usleep(200'000);  // Without a grace period the response would already be 503.
    std::filesystem::remove(busy);
    CHECK(client.receive().status == 200);
    CHECK(bus.process().wait() == 0);
}

TEST_CASE("a delivery in flight may end while the bus stops") {
    const test::TemporaryFolder folder;
    std::vector<std::string> flags;
    SUBCASE("the grace period has its default") {}
    SUBCASE("the grace period is set") { flags = {"--stop-grace", "20"}; }
    RunningBus bus{folder.path(), flags};
    test::BatchReceiver receiver;
    leave_a_delivery_in_flight(bus, receiver);

    bus.process().signal(SIGTERM);
    REQUIRE(bus.process().await_error("INFO: stopping\n"));
    receiver.resume();
    CHECK(bus.process().wait() == 0);

    // The first batch was settled, and is not repeated.
    bus.start();
    REQUIRE(receiver.await_event(second));
    CHECK(receiver.accepted() == std::vector<std::string>{first, second});
}

TEST_CASE("a delivery that does not end within the grace period is returned to the queue") {
    const test::TemporaryFolder folder;
    RunningBus bus{folder.path(), {"--stop-grace", "0.5"}};
    test::BatchReceiver receiver;
    leave_a_delivery_in_flight(bus, receiver);

    const auto began = std::chrono::steady_clock::now();
    CHECK(bus.stop() == 0);
    const auto took = std::chrono::steady_clock::now() - began;
    CHECK(took >= std::chrono::milliseconds{400});
    CHECK(took < std::chrono::seconds{5});

    // The receiver has the batch, but the bus cannot know this, and repeats the batch.
    receiver.resume();
    bus.start();
    REQUIRE(receiver.await_event(second));
    CHECK(receiver.accepted() == std::vector<std::string>{first, first, second});
}

TEST_CASE("on SIGHUP the bus reopens its log file, and interrupts nothing") {
    const test::TemporaryFolder folder;
    const auto log = folder.path() / "bus.log";
    const auto lines = [](const std::filesystem::path& file) {
        std::ifstream stream{file};
        return std::string{std::istreambuf_iterator<char>{stream}, {}};
    };
    RunningBus bus{folder.path(), {"--log-file", log.string(), "--metrics", "none"}};
    std::filesystem::rename(log, folder.path() / "old.log");
    bus.process().signal(SIGHUP);
    REQUIRE(test::await([&] { return lines(log).find("reopened") != std::string::npos; }));
    CHECK(lines(folder.path() / "old.log").find("INFO: started") != std::string::npos);
    CHECK(bus.ask("GET", "/health").status == 200);
    CHECK(bus.stop() == 0);
    CHECK(lines(log).find("INFO: stopped\n") != std::string::npos);
    CHECK(lines(folder.path() / "old.log").find("stopped") == std::string::npos);

    SUBCASE("without a log file, SIGHUP changes nothing") {
        RunningBus other{folder.path()};
        other.process().signal(SIGHUP);
        CHECK(other.ask("GET", "/health").status == 200);
        CHECK(other.stop() == 0);
    }
    SUBCASE("a log file that cannot be opened leaves the old log file in use") {
        const auto place = folder.path() / "logs";
        std::filesystem::create_directory(place);
        RunningBus other{folder.path(), {"--log-file", (place / "bus.log").string()}};
        std::filesystem::rename(place, folder.path() / "moved");
        std::ofstream{place} << "in the way";
        other.process().signal(SIGHUP);
        CHECK(test::await([&] {
            return lines(folder.path() / "moved" / "bus.log").find("ERROR: cannot reopen") !=
                   std::string::npos;
        }));
        CHECK(other.stop() == 0);
    }
    SUBCASE("a missing folder leaves the old log file in use, and is not created") {
        const auto place = folder.path() / "logs";
        std::filesystem::create_directory(place);
        RunningBus other{folder.path(), {"--log-file", (place / "bus.log").string()}};
        std::filesystem::rename(place, folder.path() / "moved");
        other.process().signal(SIGHUP);
        CHECK(test::await([&] {
            return lines(folder.path() / "moved" / "bus.log").find("there is no folder") !=
                   std::string::npos;
        }));
        CHECK(other.stop() == 0);
        CHECK_FALSE(std::filesystem::exists(place));
    }
}

TEST_CASE("a second signal ends the bus at once, and no acknowledged event is lost") {
    const test::TemporaryFolder folder;
    RunningBus bus{folder.path(), {"--stop-grace", "600"}};
    test::BatchReceiver receiver;
    leave_a_delivery_in_flight(bus, receiver);

    bus.process().signal(SIGTERM);
    REQUIRE(bus.process().await_error("INFO: stopping\n"));
    bus.process().signal(SIGINT);
    CHECK(bus.process().wait() == 128 + SIGINT);

    receiver.resume();
    bus.start();
    REQUIRE(receiver.await_event(second));
    CHECK(receiver.accepted() == std::vector<std::string>{first, first, second});
}
