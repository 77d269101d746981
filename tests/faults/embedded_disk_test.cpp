/// @file
/// A disk that fails at each operation of the embedded store in turn.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "disk.hpp"
#include "disk_health.hpp"
#include "file_scene.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/transport/local.hpp"
#include "support/store_report.hpp"
#include "testing/conformance/threads.hpp"

using namespace routemaster;
using namespace routemaster::test;
using routemaster::testing::Signal;

namespace {

constexpr Duration timeout{20'000};

/// Counts the arrivals of each event, and waits until all events have arrived.
class Receiver {
public:
    void take(const Batch& batch) {
        const std::lock_guard lock{mutex_};
        for (const auto& event : batch.events) ++arrivals_[event.url];
        for (std::size_t i = 0; i < batch.events.size(); ++i) arrived_.raise();
    }

    void wait_for(std::size_t events) const { REQUIRE(arrived_.wait_beyond(events - 1, timeout)); }

    /// The number of events that arrived, and the number of events that arrived more than once.
    [[nodiscard]] std::pair<std::size_t, std::size_t> count() const {
        const std::lock_guard lock{mutex_};
        const auto twice = std::count_if(arrivals_.begin(), arrivals_.end(),
                                         [](const auto& each) { return each.second > 1; });
        return {arrivals_.size(), static_cast<std::size_t>(twice)};
    }

private:
    mutable std::mutex mutex_;  // Guards `arrivals_`.
    std::map<std::string, int> arrivals_;
    Signal arrived_;
};

}  // namespace

TEST_CASE("whichever write fails, only acknowledged changes remain") {
    for (const bool for_good : {false, true}) {
        CAPTURE(for_good);
        int refusing = 0;
        for (std::uint64_t nth = 1;; nth += 1 + nth / 8) {
            CAPTURE(nth);
            REQUIRE(nth < 10'000);
            Disk disk;
            FileScene scene;
            scene.subscribe("billing", 3);
            disk.fail_changes(nth, for_good);
            std::vector<std::string> acknowledged;
            for (const auto& message : numbers(1, 12)) {
                const auto outcome = scene.perform(scene.event(message));
                if (outcome) {
                    acknowledged.push_back(message);
                } else {
                    CHECK(outcome.error().code() == Errc::unavailable);
                    refusing += 1;
                }
            }
            CHECK(scene.status("billing").events_queued == acknowledged.size());
            check_gauges(*scene.store, scene.now);
            if (disk.failures() == 0) break;
            disk.heal();
            while (!scene.perform(scene.event("after"))) std::this_thread::yield();
            acknowledged.emplace_back("after");
            scene.close();
            scene.open();
            CHECK(joined(scene.drain()) == joined(acknowledged));
        }
        CHECK(refusing > 10);
    }
}

TEST_CASE("a lease from before a disk failure can be settled after the disk works again") {
    Disk disk;
    DiskHealth health;
    FileScene scene;
    scene.close();
    scene.open({.log = health.log()});
    scene.subscribe("billing", 1);
    scene.publish("1");
    const auto leases = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases;
    REQUIRE(leases.size() == 1);
    REQUIRE(scene.must(BeginDelivery{leases.front(), Duration{1}}).verdict == Verdict::deliver);
    const SettleDelivery settle{.lease = leases.front(), .delivered = true, .begun_at = scene.now};
    disk.fail_changes(1, true);
    CHECK(!scene.perform(settle));
    CHECK(scene.perform(settle).error().code() == Errc::unavailable);
    disk.heal();
    health.wait_until_healed();
    // No other worker leased the job meanwhile.
    CHECK(scene.must(AcquireJobs{delivery_queue, Uid{2ULL << 60U, 0}, 9}).leases.empty());
    CHECK(scene.must(settle) == Settlement::settled);
    CHECK(scene.drain().empty());
}

TEST_CASE("a file that cannot be created is refused, and can be created later") {
    for (std::uint64_t nth = 1;; ++nth) {
        CAPTURE(nth);
        REQUIRE(nth < 1'000);
        Disk disk;
        const TemporaryFolder folder;
        const auto file = folder.path() / "bus.db";
        disk.fail_changes(nth, true);
        const auto refusal = refusal_of(file);
        const auto failures = disk.failures();
        disk.heal();
        if (refusal) {
            CHECK(refusal->code() == Errc::unavailable);
            CHECK(refusal->context().starts_with(file.string() + ": "));
        }
        const auto later = refusal_of(file);
        CHECK_MESSAGE(!later, later->message());
        if (failures == 0) break;
    }
}

TEST_CASE("a file that cannot be read is refused, and can be opened later") {
    FileScene scene;
    scene.subscribe("billing");
    for (int n = 1; n <= 20; ++n) scene.publish(std::to_string(n));
    scene.close();
    bool refused = false;
    for (std::uint64_t nth = 1;; ++nth) {
        CAPTURE(nth);
        REQUIRE(nth < 1'000);
        Disk disk;
        disk.fail_reads(nth, false);
        try {
            scene.open();
            CHECK_MESSAGE(scene.status("billing").events_queued == 20, "nothing is overlooked");
        } catch (const Failure& failure) {
            CHECK(failure.error().code() == Errc::unavailable);
            CHECK(failure.error().context().starts_with(scene.file.string() + ": "));
            refused = true;
        }
        scene.close();
        if (disk.failures() == 0) break;
    }
    CHECK(refused);
    scene.open();
    CHECK(joined(scene.drain()) == joined(numbers(1, 20)));
}

TEST_CASE(
    "a store whose disk neither reads nor writes refuses all steps, until the disk works again") {
    Disk disk;
    DiskHealth health;
    FileScene scene;
    scene.close();
    scene.open({.log = health.log()});
    scene.subscribe("billing");
    scene.publish("1");
    scene.must(scene.job("a"));
    const auto lease = scene.must(AcquireJobs{"work", scene.worker, 1}).leases.at(0);

    disk.fail_reads(1, true);
    disk.fail_changes(1, true);
    CHECK(scene.perform(scene.event("2")).error().code() == Errc::unavailable);
    CHECK(scene.perform(scene.event("3")).error().code() == Errc::unavailable);
    // Listings return immediately, and contain no refused change.
    const auto status = scene.perform(FindSubscriber{"billing"});
    if (status) CHECK((*status)->events_queued == 1);

    disk.heal();
    health.wait_until_healed();
    CHECK(scene.must(AckJob{lease}) == Settlement::settled);
    scene.publish("4");
    CHECK(joined(scene.drain()) == "1 4");
}

TEST_CASE("while the disk fails, lists are returned, and no delivery begins") {
    Disk disk;
    DiskHealth health;
    FileScene scene;
    scene.close();
    scene.open({.log = health.log()});
    scene.subscribe("billing", 1);
    scene.publish("1");
    const auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);

    disk.fail_changes(1, true);
    CHECK(scene.perform(scene.event("2")).error().code() == Errc::unavailable);
    CHECK(scene.status("billing").events_queued == 1);
    const auto begun = scene.perform(BeginDelivery{lease, Duration{0}});
    REQUIRE_FALSE(begun);
    CHECK(begun.error().code() == Errc::unavailable);

    disk.heal();
    health.wait_until_healed();
    CHECK(scene.must(BeginDelivery{lease, Duration{0}}).verdict == Verdict::deliver);
}

TEST_CASE("a store can be closed while its disk fails, and every step completes") {
    Disk disk;
    DiskHealth health;
    FileScene scene;
    scene.close();
    scene.open({.log = health.log()});
    scene.subscribe("billing");
    scene.publish("1");
    std::atomic<int> answered = 0;
    disk.fail_changes(1, true);
    SUBCASE("only writes fail") {}
    SUBCASE("reads and writes fail") { disk.fail_reads(1, true); }
    for (int i = 0; i < 10; ++i) {
        submit(*scene.store, scene.event("refused"), scene.now,
               [&](const Result<Done>&) { ++answered; });
        submit(*scene.store, ListTopics{}, scene.now,
               [&](const Result<std::vector<Topic>>&) { ++answered; });
    }
    health.wait_for_failure();
    submit(*scene.store, ListCounters{}, scene.now,
           [&](const Result<std::vector<Counter>>&) { ++answered; });
    scene.close();
    CHECK(answered == 21);
    disk.heal();
    scene.open();
    CHECK(joined(scene.drain()) == "1");
}

TEST_CASE("workers that wait for jobs are woken when the disk works again") {
    Disk disk;
    DiskHealth health;
    FileScene scene;
    scene.close();
    scene.open({.log = health.log()});
    Signal woken;
    const auto watch = scene.store->watch("work", [&] { woken.raise(); });
    CHECK(scene.must(AcquireJobs{"work", scene.worker, 1}).leases.empty());
    disk.fail_changes(1, true);
    CHECK(!scene.perform(scene.job("a")));
    const auto before = woken.count();
    disk.heal();
    health.wait_until_healed();
    REQUIRE(woken.wait_beyond(before, timeout));
    CHECK(scene.must(AcquireJobs{"work", scene.worker, 1}).leases.empty());
    const auto again = woken.count();
    scene.must(scene.job("a"));
    REQUIRE(woken.wait_beyond(again, timeout));
}

TEST_CASE(
    "with durability=relaxed, completed steps may be lost when the disk fails, and later steps "
    "fail") {
    Disk disk;
    DiskHealth health;
    FileScene scene;
    scene.close();
    scene.open({.durability = Durability::relaxed, .log = health.log()});
    scene.subscribe("billing");
    scene.close();  // With this restart, the first failing change is the one of the event.
    scene.open({.durability = Durability::relaxed, .log = health.log()});
    disk.fail_changes(1, true);
    scene.publish("lost");
    health.wait_for_failure();
    CHECK(scene.perform(scene.event("refused")).error().code() == Errc::unavailable);
    disk.heal();
    health.wait_until_healed();
    scene.publish("kept");
    CHECK(joined(scene.drain()) == "kept");
}

TEST_CASE("a dispatcher delivers each batch once, in spite of disk failures") {
    constexpr int batches = 30;
    for (const bool for_good : {false, true}) {
        for (std::uint64_t nth = 1; nth < 80; nth += 3) {
            CAPTURE(for_good);
            CAPTURE(nth);
            Disk disk;
            DiskHealth health;
            FileScene scene;
            scene.close();
            scene.open({.log = health.log()});
            Bus bus{*scene.store};
            Receiver receiver;
            for (const char* token : {"audit", "billing"}) {
                bus.subscriber(token)
                    .subscribe({std::string{token}},
                               [&](const Batch& batch) { receiver.take(batch); },
                               {.timeout = Duration{0}, .max_events = 1})
                    .value();
                for (int n = 0; n < batches; ++n) {
                    const auto url = "https://" + std::string{token} + "/" + std::to_string(n);
                    bus.publish({.topic = token, .type = EventType::update, .url = url}).value();
                }
            }
            LocalTransport transport{bus.callbacks(), {.threads = 2}};
            Dispatcher dispatcher{*scene.store, {.transports = {&transport}}};
            disk.fail_changes(nth, for_good);
            {
                Runner runner{dispatcher};
                // The step may complete before any failure.
                while (for_good && health.failures() == 0 && receiver.count().first < 2 * batches) {
                    std::this_thread::yield();
                }
                if (for_good) disk.heal();
                receiver.wait_for(2 * batches);
                runner.stop(timeout);
            }
            CHECK(receiver.count() == std::pair<std::size_t, std::size_t>{2 * batches, 0});
            CHECK(perform(*scene.store, CountJobs{delivery_queue}, system_clock().now()).value() ==
                  QueueStatus{});
        }
    }
}
