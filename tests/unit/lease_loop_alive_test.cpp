/// @file
/// Heartbeats of workers, the search for dead workers, and lost leases.

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/store/perform.hpp"
#include "support/lease_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// Records the acquisitions of workers.
class Acquisitions final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        for (const auto& step : steps) {
            if (const auto* asked = std::get_if<AcquireJobs>(&step)) all.push_back(*asked);
        }
        next().submit(steps, now, std::move(done));
    }

    std::vector<AcquireJobs> all;
};

/// A store with an outage. Steps sent during the outage are performed after it.
class AwayStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        if (!away_) return next().submit(steps, now, std::move(done));
        sent_.push_back({std::vector<Step>(steps.begin(), steps.end()), now, std::move(done)});
    }

    void leave() { away_ = true; }
    void come_back() {
        away_ = false;
        for (auto& each : std::exchange(sent_, {})) {
            next().submit(each.steps, each.now, std::move(each.done));
        }
    }

private:
    struct Sent {
        std::vector<Step> steps;
        TimePoint now;
        Completion done;
    };

    bool away_ = false;
    std::vector<Sent> sent_;
};

using Jobs = std::vector<std::string>;

/// Stalls all workers for some seconds, while scrubs continue each second.
void stand_still(LeaseScene& scene, int seconds) {
    for (int i = 0; i < seconds; ++i) {
        scene.now += Duration{1'000};
        perform(scene.store, ScrubWorkers{Duration{3'500}}, scene.now).value();
    }
}

}  // namespace

TEST_CASE("at each interval, a worker sends a heartbeat and searches for dead workers") {
    LeaseScene scene{1, {.heartbeat_interval = Duration{700}}};
    scene.run_for(Duration{2'100});
    const std::vector<std::int64_t> expected{700, 700, 700};
    CHECK(scene.waits<Heartbeat>() == expected);
    CHECK(scene.waits<ScrubWorkers>() == expected);
}

TEST_CASE("a worker without free slots is not declared dead") {
    LeaseScene scene{1};
    scene.push("resize");
    scene.run();
    for (int i = 0; i < 10; ++i) {
        scene.run_for(Duration{1'000});
        perform(scene.store, ScrubWorkers{Duration{3'500}}, scene.now).value();
    }
    CHECK(scene.queue() == QueueStatus{.pending = 1});
}

TEST_CASE("a worker does not wait for slow steps before it reads the reply to its heartbeat") {
    LeaseScene scene{10, {.finds_lost = true}};
    scene.push("resize");
    scene.run();
    scene.disturbed.delay<ScrubWorkers>();
    scene.disturbed.delay<ReleaseJob>();
    scene.worker.loop.release(1, scene.now + Duration{60'000});
    scene.run_for(Duration{4'000});
    CHECK(scene.worker.loop.knows_leases());
}

TEST_CASE("the jobs of a dead worker are done by another worker") {
    LeaseScene scene{2'000};
    LoopWorker dead{scene.store, scene.now, scene.complete({}), 2'000};
    scene.push_many(1'500);
    for (int i = 0; i < 10; ++i) dead.poll();
    REQUIRE(dead.loop.leased() == 1'500);
    scene.run_for(Duration{3'000});
    CHECK(scene.jobs().empty());
    // A scrub releases a limited number of jobs. The next one follows at once.
    scene.run_for(Duration{1'500});
    CHECK(scene.jobs().size() == 1'500);
}

TEST_CASE("all large jobs of a dead worker are released at once, in several steps") {
    LeaseScene scene;
    LoopWorker dead{scene.store, scene.now, scene.complete({}), 10};
    for (const char letter : {'a', 'b', 'c'}) {
        scene.push(std::string(job_slice_bytes_max / 5 * 2, letter));
    }
    for (int i = 0; i < 10; ++i) dead.poll();
    REQUIRE(dead.loop.leased() == 3);
    // After the search for dead workers, and before the next heartbeat.
    scene.run_for(Duration{4'500});
    CHECK(scene.jobs().size() == 3);
}

TEST_CASE(
    "a worker reports its newest fence (lease number), even when it asks for all of its leases") {
    LeaseScene scene{10, {.finds_lost = true}};
    Acquisitions recorded{scene.store};
    LoopWorker worker{recorded, scene.now, scene.complete({.finds_lost = true}), 10};
    scene.push("resize");
    worker.run();
    REQUIRE(worker.loop.leased() == 1);
    const auto fence = worker.loop.lease(1).fence;
    scene.now += Duration{60'000};
    worker.run();
    CHECK(recorded.all.front().newest == 0);
    REQUIRE(recorded.all.back().known == 0);
    CHECK(recorded.all.back().newest == fence);
}

TEST_CASE("workers that stalled together do not declare each other dead") {
    LeaseScene scene{1};
    LoopWorker other{scene.store, scene.now, scene.complete({}), 1};
    scene.push("resize");
    scene.run();
    other.run();
    REQUIRE(scene.worker.loop.leased() == 1);
    scene.now += Duration{60'000};
    // The first scrub after the gap comes before the heartbeat of the second worker.
    other.run();
    scene.run();
    for (int i = 0; i < 5; ++i) {
        scene.now += Duration{1'000};
        other.run();
        scene.run();
    }
    CHECK(scene.queue() == QueueStatus{.pending = 1});
    // A silent worker is dead, even if all further workers are late each time.
    for (int i = 0; i < 5; ++i) {
        scene.now += Duration{3'000};
        other.run();
    }
    CHECK(other.notes.jobs() == Jobs{"resize"});
}

TEST_CASE("after an outage of the store, its workers do not declare each other dead") {
    LeaseScene scene{1, {.finds_lost = true}};
    AwayStore away{scene.store};
    LoopWorker other{away, scene.now, scene.complete({.finds_lost = true}), 1};
    scene.push("resize");
    scene.run();
    other.run();
    REQUIRE(scene.worker.loop.leased() == 1);
    away.leave();
    // The store gets no heartbeat of either worker.
    scene.disturbed.refuse<Heartbeat>(1'000);
    for (int i = 0; i < 20; ++i) {
        scene.now += Duration{500};
        scene.run();
        other.run();
    }
    // The steps sent by `other` during the outage arrive first.
    away.come_back();
    other.run();
    CHECK(scene.queue() == QueueStatus{.pending = 1});
    for (int i = 0; i < 6; ++i) {
        scene.now += Duration{500};
        other.run();
        CHECK(scene.queue() == QueueStatus{.pending = 1});
    }
    // From here on the worker is silent, and is declared dead.
    for (int i = 0; i < 12; ++i) {
        scene.now += Duration{500};
        other.run();
    }
    CHECK(other.notes.jobs() == Jobs{"resize"});
}

TEST_CASE("after an outage of the store, a worker asks for its lost leases, even without a stall") {
    LeaseScene scene;
    AwayStore away{scene.store};
    LoopWorker worker{away, scene.now, scene.complete({.finds_lost = true}), 1};
    scene.push("resize");
    worker.run();
    REQUIRE(worker.loop.leased() == 1);
    away.leave();
    for (int i = 0; i < 4; ++i) {
        scene.now += Duration{1'000};
        worker.run();
        perform(scene.store, ScrubWorkers{Duration{3'500}}, scene.now).value();
    }
    away.come_back();
    worker.run();
    CHECK(worker.notes.lost_ones.size() == 1);
}

TEST_CASE("after a stall, a worker cannot settle a job that another worker has") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    stand_still(scene, 60);
    LoopWorker other{scene.store, scene.now, scene.complete({}), 1};
    for (int i = 0; i < 3; ++i) other.poll();
    REQUIRE(other.notes.jobs() == Jobs{"resize"});
    scene.ack(1);
    scene.run();
    CHECK(scene.worker.notes.settlements.at(1) == Settlement::lease_lost);
    CHECK(scene.queue() == QueueStatus{.pending = 1});
}

TEST_CASE("after a stall, a worker finds its lost leases, if this is enabled") {
    bool wants = false;
    SUBCASE("the query is disabled") {}
    SUBCASE("the query is enabled") { wants = true; }
    LeaseScene scene{10, {.finds_lost = wants}};
    scene.push_many(3);
    scene.run();
    stand_still(scene, 60);
    // Another worker got two of the jobs; the third was released.
    LoopWorker other{scene.store, scene.now, scene.complete({}), 2};
    for (int i = 0; i < 3; ++i) other.poll();
    REQUIRE(other.notes.jobs().size() == 2);
    scene.run_for(Duration{100});
    if (wants) {
        CHECK(scene.worker.notes.lost_ones.size() == 3);
        CHECK(scene.jobs() == Jobs{"job-1", "job-2", "job-3", "job-3"});
        CHECK(scene.worker.loop.leased() == 1);
    } else {
        CHECK(scene.worker.notes.lost_ones.empty());
        CHECK(scene.worker.loop.leased() == 4);
    }
}

TEST_CASE("lost heartbeats cost no lease of a worker that is not declared dead") {
    LeaseScene scene{10, {.finds_lost = true}};
    scene.push_many(3);
    scene.run();
    scene.disturbed.refuse<Heartbeat>(10);
    scene.run_for(Duration{20'000});
    CHECK(scene.worker.notes.lost_ones.empty());
    CHECK(scene.worker.loop.leased() == 3);
    CHECK(scene.jobs().size() == 3);
}

TEST_CASE("a lease that is being settled is not reported as lost") {
    LeaseScene scene{10, {.finds_lost = true}};
    scene.push("resize");
    scene.run();
    stand_still(scene, 60);
    LoopWorker other{scene.store, scene.now, scene.complete({}), 2};
    for (int i = 0; i < 3; ++i) other.poll();
    scene.disturbed.refuse<AckJob>(1);
    scene.ack(1);
    scene.run_for(Duration{1'000});
    CHECK(scene.worker.notes.lost_ones.empty());
    CHECK(scene.worker.notes.settlements.at(1) == Settlement::lease_lost);
}

TEST_CASE("when attempts are counted, the attempt of a released job does not count") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    scene.worker.loop.release(1);
    scene.worker.wake();
    scene.run();
    CHECK(scene.worker.loop.lease(2).attempt == 1);
    CHECK(scene.disturbed.times_of<NackJob>().empty());
}
