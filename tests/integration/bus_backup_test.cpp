// A second process backs up a running bus.

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/await.hpp"
#include "support/batch_receiver.hpp"
#include "support/ended.hpp"
#include "support/mentions.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::Ended;
using test::mentions;
using test::RunningBus;
namespace fs = std::filesystem;

namespace {

/// Runs `routemaster backup FILE TARGET` until it ends.
Ended back_up(const fs::path& file, const fs::path& target) {
    return test::run({"backup", file.string(), target.string()});
}

/// A bus with a subscriber whose receiver is down: its events stay queued.
struct QueueingBus {
    QueueingBus() {
        REQUIRE(bus.subscribe("billing", R"(["orders"])", "http://127.0.0.1:9/").status == 204);
    }

    void publish(int count) {
        for (int i = 0; i < count; ++i) {
            const auto url = "https://shop.example/orders/" + std::to_string(++published);
            REQUIRE(bus.publish("orders", url).status == 200);
        }
    }

    const test::TemporaryFolder folder;
    const fs::path file = folder.path() / "routemaster.db";
    int published = 0;
    RunningBus bus{folder.path()};
};

/// The number of events in the output of `routemaster export`.
int events_in(const fs::path& file) {
    test::Process process{{test::routemaster_binary, "export", file.string()}};
    REQUIRE(process.wait() == 0);
    const auto text = process.output();
    int count = 0;
    for (auto at = text.find("/orders/"); at != std::string::npos;
         at = text.find("/orders/", at + 1)) {
        ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("a command backs up a running bus, and a bus starts from the backup") {
    QueueingBus queueing;
    queueing.publish(50);
    std::atomic<bool> ended = false;
    std::atomic<int> meanwhile = 0;
    std::jthread shop{[&] {
        test::HttpClient client{queueing.bus.port()};
        while (!ended) {
            const auto url = "https://shop.example/orders/" + std::to_string(1'000 + meanwhile);
            if (client
                    .ask("POST", "/topics/orders", RunningBus::event_json(url),
                         test::authorization("shop"))
                    .status == 200) {
                ++meanwhile;
            }
        }
    }};
    const test::TemporaryFolder other;
    const auto copy = other.path() / "routemaster.db";
    REQUIRE(test::await([&] { return meanwhile > 0; }));
    const int before = meanwhile;
    const auto made = back_up(queueing.file, copy);
    const int after = meanwhile;
    ended = true;
    shop.join();
    CHECK_MESSAGE(made.status == 0, made.errors);
    CHECK(mentions(made.output, "whole"));
    CHECK(events_in(copy) >= 50 + before);
    CHECK(events_in(copy) <= 50 + after + 1);
    CHECK_FALSE(fs::exists(queueing.file.string() + "-backup"));
    CHECK(queueing.bus.stop() == 0);

    RunningBus restored{other.path()};
    CHECK(mentions(restored.ask("GET", "/subscribers", test::root_key).body, "billing"));
    CHECK(restored.stop() == 0);
}

TEST_CASE("the backup command itself backs up a bus that is not running") {
    QueueingBus queueing;
    queueing.publish(20);
    queueing.bus.kill();
    const auto copy = queueing.folder.path() / "copy";
    const auto made = back_up(queueing.file, copy);
    CHECK_MESSAGE(made.status == 0, made.errors);
    CHECK(events_in(copy) == 20);
    queueing.bus.start();
    CHECK(queueing.bus.stop() == 0);
}

TEST_CASE("the backup command reports why a backup failed, and the bus keeps running") {
    QueueingBus queueing;
    queueing.publish(5);
    const auto folder = queueing.folder.path();
    std::ofstream{folder / "note"} << "mine";
    const auto there = back_up(queueing.file, folder / "note");
    CHECK(there.status == 1);
    CHECK(mentions(there.errors, "already exists"));
    const auto nowhere = back_up(queueing.file, folder / "none" / "copy");
    CHECK(nowhere.status == 1);
    CHECK(mentions(nowhere.errors, "No such file or directory"));
    const auto missing = back_up(folder / "missing", folder / "copy");
    CHECK(missing.status == 1);
    CHECK(mentions(missing.errors, "there is no such file"));
    CHECK_FALSE(fs::exists(folder / "copy"));
    queueing.publish(1);
    CHECK(queueing.bus.stop() == 0);
    CHECK(mentions(queueing.bus.process().errors(), "cannot back up"));
}

TEST_CASE(
    "an abandoned request for a backup is skipped, and its file is used for the next request") {
    QueueingBus queueing;
    queueing.publish(5);
    const auto request = queueing.file.string() + "-backup";
    const auto copy = queueing.folder.path() / "copy";
    std::ofstream{request} << (queueing.folder.path() / "old").string() << "\nbegun\n";
    ::usleep(700'000);
    CHECK_FALSE(fs::exists(queueing.folder.path() / "old"));
    const auto made = back_up(queueing.file, copy);
    CHECK_MESSAGE(made.status == 0, made.errors);
    CHECK(events_in(copy) == 5);
    CHECK_FALSE(fs::exists(request));
    CHECK(queueing.bus.stop() == 0);
}

TEST_CASE("a request for a backup by another user is ignored") {
    QueueingBus queueing;
    if (::geteuid() != 0) {
        WARN_MESSAGE(false, "skipped: only root can give files away");
        CHECK(::geteuid() != 0);
        return;
    }
    const auto request = queueing.file.string() + "-backup";
    const auto copy = queueing.folder.path() / "copy";
    const int file = ::open(request.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    REQUIRE(::fchown(file, 12'345, 12'345) == 0);
    REQUIRE(::flock(file, LOCK_EX) == 0);
    const auto text = copy.string() + '\n';
    REQUIRE(::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::usleep(1'200'000);
    CHECK_FALSE(fs::exists(copy));
    SUBCASE("the request then belongs to the user of the bus") {
        REQUIRE(::fchown(file, 0, 0) == 0);
        CHECK(test::await([&] { return fs::exists(copy); }));
    }
    ::close(file);
    CHECK(queueing.bus.stop() == 0);
}

TEST_CASE(
    "when the bus is killed during a backup, the backup command itself completes the backup") {
    QueueingBus queueing;
    queueing.publish(20);
    const auto copy = queueing.folder.path() / "copy";
    queueing.bus.process().signal(SIGSTOP);
    test::Process process{
        {test::routemaster_binary, "backup", queueing.file.string(), copy.string()}};
    REQUIRE(test::await([&] { return fs::exists(queueing.file.string() + "-backup"); }));
    queueing.bus.kill();
    CHECK(process.wait() == 0);
    CHECK(events_in(copy) == 20);
    queueing.bus.start();
    CHECK(queueing.bus.stop() == 0);
}

TEST_CASE("root can back up a bus that runs as another user") {
    if (::geteuid() != 0) {
        WARN_MESSAGE(false, "skipped: only root can be another user");
        CHECK(::geteuid() != 0);
        return;
    }
    const test::TemporaryFolder folder;
    const test::TemporaryFolder other;
    for (const auto& path : {folder.path(), other.path()}) {
        REQUIRE(::chown(path.c_str(), 12'345, 12'345) == 0);
    }
    test::Process bus{{"setpriv", "--reuid=12345", "--regid=12345", "--clear-groups",
                       test::routemaster_binary, "serve", "--listen", "127.0.0.1:0", "--data-dir",
                       folder.path().string(), "--root-key", "r", "--clients", "shop"}};
    REQUIRE(mentions(bus.line(), "listening"));
    const auto copy = other.path() / "copy";
    const auto made = back_up(folder.path() / "routemaster.db", copy);
    CHECK_MESSAGE(made.status == 0, made.errors);
    CHECK(mentions(made.output, "1 tokens"));
    struct stat about {};
    REQUIRE(::stat(copy.c_str(), &about) == 0);
    CHECK_MESSAGE(about.st_uid == 12'345, "the bus made it");
    bus.signal(SIGTERM);
    CHECK(bus.wait() == 0);
}

TEST_CASE("the backup command reports at once why it cannot request a backup") {
    QueueingBus queueing;
    queueing.publish(1);
    const auto folder = queueing.folder.path();
    const auto begun = std::chrono::steady_clock::now();
    const auto line = back_up(queueing.file, folder / "two\nlines");
    CHECK(line.status == 1);
    CHECK(mentions(line.errors, "must not contain a line feed"));
    const auto whole = back_up(folder, folder / "copy");
    CHECK(whole.status == 1);
    CHECK(mentions(whole.errors, "is a folder; name a file in it"));
    const auto request = queueing.file.string() + "-backup";
    REQUIRE(::mkfifo(request.c_str(), 0600) == 0);
    const auto fifo = back_up(queueing.file, folder / "copy");
    CHECK(fifo.status == 1);
    CHECK(mentions(fifo.errors, request + ": a FIFO is in the place of the request for backups"));
    fs::remove(request);
    std::ofstream{folder / "note"} << "mine";
    fs::create_hard_link(folder / "note", request);
    const auto linked = back_up(queueing.file, folder / "copy");
    CHECK(linked.status == 1);
    CHECK(mentions(linked.errors, "a file with a second name is in the place"));
    CHECK(fs::file_size(folder / "note") == 4);
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{8});
    CHECK(queueing.bus.stop() == 0);
}
