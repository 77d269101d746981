/// @file
/// Attempts that crash their process count as attempts.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "file_scene.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/transport/local.hpp"

using namespace routemaster;
using namespace routemaster::test;
namespace fs = std::filesystem;

namespace {

/// Begins the next attempt, without a settlement.
DeliveryStart begin(FileScene& scene) {
    const auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    return scene.must(BeginDelivery{lease, Duration{0}});
}

/// Opens the files that a crash at this moment would leave.
void crash(FileScene& scene) {
    const auto copy = scene.folder.path() / "copy";
    fs::copy_file(scene.file, copy);
    fs::copy_file(scene.file.string() + "-wal", copy.string() + "-wal");
    scene.close();
    fs::rename(copy, scene.file);
    fs::rename(copy.string() + "-wal", scene.file.string() + "-wal");
    scene.open();
}

void subscribe(FileScene& scene, std::uint32_t max_events, std::uint32_t attempts_max) {
    scene.must(Subscribe{"billing",
                         {"orders"},
                         {.callback = "https://billing.example/",
                          .timeout = Duration{0},
                          .max_events = max_events,
                          .attempts_max = attempts_max}});
}

/// A process that crashes in each delivery of the only event. It exits normally once the event is
/// DEAD.
[[noreturn]] void deliver(const fs::path& file, std::uint32_t max_events, int attempts) noexcept {
    EmbeddedStore store{file};
    Bus bus{store, {.publisher = "shop"}};
    LocalTransport transport{bus.callbacks()};
    Dispatcher dispatcher{store, {.transports = {&transport}}};
    auto billing = bus.subscriber("billing");
    billing
        .subscribe({"orders"},
                   [attempts](const Batch& batch) {
                       const auto attempt = static_cast<char>('0' + batch.attempt);
                       if (::write(attempts, &attempt, 1) != 1) std::abort();
                       ::raise(SIGKILL);
                   },
                   {.timeout = Duration{0}, .max_events = max_events, .attempts_max = 3})
        .value();
    if (!billing.status().value()->batches_dead && !billing.status().value()->batches_queued) {
        bus.publish(
               {.topic = "orders", .type = EventType::create, .url = "https://shop.example/poison"})
            .value();
    }
    const Runner runner{dispatcher};
    while (billing.status().value()->batches_dead == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    ::_exit(0);
}

/// The exit status of such a process, or 128 plus the signal.
int run(const fs::path& file, std::uint32_t max_events, int attempts) {
    const pid_t child = ::fork();
    if (child == 0) deliver(file, max_events, attempts);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("with an attempt limit, an attempt that ended in a crash counts") {
    FileScene scene;
    subscribe(scene, 100, 10);
    scene.publish("1");
    CHECK(begin(scene).attempt == 1);
    for (std::uint32_t attempt = 2; attempt < 5; ++attempt) {
        crash(scene);
        CHECK(begin(scene).attempt == attempt);
    }
    scene.close();
    scene.open();
    CHECK_MESSAGE(begin(scene).attempt == 5, "an orderly end forgets none either");
}

TEST_CASE("with an attempt limit, an attempt to deliver a full batch counts after a crash") {
    FileScene scene;
    subscribe(scene, 1, 3);
    scene.publish("1");
    for (std::uint32_t attempt = 1; attempt < 4; ++attempt) {
        CHECK(begin(scene).attempt == attempt);
        crash(scene);
    }
}

TEST_CASE("without an attempt limit, a crash may lose the count of the first attempt only") {
    FileScene scene;
    std::uint32_t second_max = 0;
    SUBCASE("the batch is full, which is on disk before the attempt") {
        subscribe(scene, 1, 0);
        second_max = 1;
    }
    SUBCASE("the batch has space, and its closing may be on disk") {
        subscribe(scene, 100, 0);
        second_max = 2;
    }
    scene.publish("1");
    CHECK(begin(scene).attempt == 1);
    crash(scene);
    const auto second = begin(scene).attempt;
    CHECK(second <= second_max);
    crash(scene);
    CHECK(begin(scene).attempt == second + 1);
}

TEST_CASE("a batch whose delivery crashes each process is DEAD after its limit of attempts") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "bus.db";
    std::uint32_t max_events = 0;
    SUBCASE("the batch was closed by the beginning of its delivery") { max_events = 100; }
    SUBCASE("the batch was closed because it was full") { max_events = 1; }
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    for (int attempt = 1; attempt <= 3; ++attempt) {
        REQUIRE(run(file, max_events, ends[1]) == 128 + SIGKILL);
    }
    CHECK(run(file, max_events, ends[1]) == 0);
    ::close(ends[1]);
    std::array<char, 16> attempts{};
    const auto made = ::read(ends[0], attempts.data(), attempts.size());
    ::close(ends[0]);
    CHECK(std::string(attempts.data(), static_cast<std::size_t>(made)) == "123");
}

TEST_CASE("without an attempt limit, the first attempt to deliver a full batch writes nothing") {
    FileScene scene;
    subscribe(scene, 1, 0);
    scene.publish("1");
    scene.reserve_fences();
    const auto log = [&] { return fs::file_size(scene.file.string() + "-wal"); };
    const auto before = log();
    begin(scene);
    scene.must(ListTopics{});
    CHECK(log() == before);
}

TEST_CASE("a batch from before a crash or restart takes no further events") {
    FileScene scene;
    subscribe(scene, 100, 0);
    const auto events_of = [&] {
        std::vector<std::uint64_t> events;
        for (const auto& batch : scene.must(ListBatches{"billing"})) {
            events.push_back(batch.status.events);
        }
        return events;
    };
    scene.must(scene.event("1"));
    SUBCASE("a crash may lose the closing of a batch whose delivery has begun") {
        const auto delivered = begin(scene);
        CHECK(delivered.messages.size() == 1);
        crash(scene);
        scene.must(scene.event("2"));
        CHECK(scene.must(ListBatches{"billing"}).at(0).status.uid == delivered.batch);
    }
    SUBCASE("the store is closed before any attempt to deliver the batch") {
        scene.close();
        scene.open();
        scene.must(scene.event("2"));
    }
    CHECK(events_of() == std::vector<std::uint64_t>{1, 1});
    scene.must(scene.event("3"));
    CHECK(events_of() == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("a file keeps the time since when a job has been failing") {
    const auto [options, rows_behind] = changed_or_moved_rows();
    FileScene scene{options};
    const auto id = scene.must(scene.job("a")).id;
    const auto fail = [&] {
        const auto lease = scene.must(AcquireJobs{"work", scene.worker, 1}).leases.at(0);
        return scene.must(FailJob{
            .lease = lease, .error = "broken", .run_at = scene.now, .time_max = Duration{100}});
    };
    CHECK(fail() == Settlement::settled);
    const auto before = scene.must(FindJob{"work", id});
    REQUIRE(before->failing_since == scene.now);
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    scene.close();
    scene.open(options);
    CHECK(scene.must(FindJob{"work", id}) == before);
    scene.now += Duration{100};
    CHECK(fail() == Settlement::buried);
}

TEST_CASE("a delivery can be settled even if a crash lost the closing of its batch") {
    FileScene scene;
    subscribe(scene, 100, 0);
    scene.must(scene.event("1"));
    crash(scene);
    const auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    CHECK(
        scene.must(SettleDelivery{.lease = lease, .begun_at = scene.now, .retry_at = scene.now}) ==
        Settlement::settled);
    CHECK_FALSE(scene.must(ListBatches{"billing"}).at(0).status.current);
}
