/// @file
/// Pools with threads.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/await.hpp"

using namespace routemaster;
using test::await;

namespace {

/// A store with a queue, and a pool on the store, not started.
struct ThreadScene {
    explicit ThreadScene(WorkerPoolOptions options = {})
        : pool{store, complete(std::move(options))} {}

    static WorkerPoolOptions complete(WorkerPoolOptions options) {
        if (options.queues.empty()) options.queues = {"work"};
        return options;
    }

    void push(const std::string& name, int count, PushOptions options = {}) {
        std::vector<Job> all;
        for (int i = 0; i < count; ++i) all.push_back({name, {i}});
        for (const auto& pushed : jobs.push_many(all, options)) {
            REQUIRE(pushed.value() == PushOutcome::pushed);
        }
    }
    [[nodiscard]] QueueStatus queue() const { return jobs.status().value(); }
    [[nodiscard]] bool drained() const {
        return await([this] { return queue() == QueueStatus{}; });
    }

    MemoryStore store;
    JobQueue jobs{store, "work"};
    WorkerPool pool;
};

}  // namespace

TEST_CASE("a pool with threads does each of many jobs once") {
    constexpr int count = 20'000;
    ThreadScene scene{{.threads = 8}};
    std::vector<std::atomic<int>> done(count);
    scene.pool.handle("a", [&](JobContext& job) {
        ++done[static_cast<std::size_t>(*job.arguments()[0].get_if<std::int64_t>())];
    });
    scene.push("a", count);
    scene.pool.start();
    CHECK(scene.drained());
    for (const auto& times : done) REQUIRE(times == 1);
    scene.pool.stop(Duration{20'000});
    CHECK(scene.pool.status() == WorkerPoolStatus{.done = count});
}

TEST_CASE("a pool fetches ahead only jobs that have had no attempt") {
    constexpr std::uint32_t count = 5'000;
    ThreadScene scene{{.threads = 2}};
    scene.push("a", count);
    bool again = false;
    SUBCASE("jobs without an attempt are fetched ahead") {}
    SUBCASE("jobs with an earlier attempt stay in the store") { again = true; }
    const auto now = system_clock().now();
    if (again) {
        const AcquireJobs acquire{.queue = "work", .worker = Uid{1, 1}, .limit = count};
        auto acquired = perform(scene.store, acquire, now).value();
        REQUIRE(acquired.leases.size() == count);
        for (auto& lease : acquired.leases) {
            REQUIRE(perform(scene.store, NackJob{std::move(lease), now}, now));
        }
    }
    std::atomic<std::size_t> most{0};
    scene.pool.handle(
        "a", [&](JobContext&) { most = std::max(most.load(), scene.pool.status().waiting); });
    scene.pool.start();
    CHECK(scene.drained());
    scene.pool.stop(Duration{20'000});
    // A pool that was not run for some time may have fetched a few jobs ahead.
    CHECK((most <= 50) == again);
}

TEST_CASE("as many job handlers run at once as the pool has threads, and no more") {
    ThreadScene scene{{.threads = 4}};
    std::atomic<int> running{0};
    std::atomic<int> most{0};
    std::latch four{4};
    scene.pool.handle("a", [&](JobContext&) {
        most = std::max(most.load(), ++running);
        four.arrive_and_wait();
        --running;
    });
    scene.push("a", 4);
    scene.pool.start();
    CHECK(scene.drained());
    CHECK(most == 4);
    std::atomic<int> began{0};
    std::latch released{1};
    ThreadScene other{{.threads = 2}};
    other.pool.handle("a", [&](JobContext&) {
        ++began;
        released.wait();
    });
    other.push("a", 5);
    other.pool.start();
    CHECK(await([&] { return began == 2; }));
    CHECK(other.queue() == QueueStatus{.ready = 3, .pending = 2});
    released.count_down();
    CHECK(other.drained());
}

TEST_CASE("a responder of a job can report from any thread") {
    ThreadScene scene{{.threads = 1, .concurrency = 100}};
    std::mutex mutex;
    std::vector<JobResponder> waiting;
    std::atomic<int> begun{0};
    scene.pool.handle_async("a", [&](const JobResponder& responder) {
        const std::lock_guard lock{mutex};
        waiting.push_back(responder);
        ++begun;
    });
    scene.push("a", 100);
    scene.pool.start();
    REQUIRE(await([&] { return begun == 100; }));
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            for (auto n = i; n < 100; n += 4) waiting[n].done();
        });
    }
    threads.clear();
    CHECK(scene.drained());
}

TEST_CASE("stopping a pool lets handlers end within the grace period, and begins no handler") {
    ThreadScene scene{{.threads = 2}};
    std::atomic<int> begun{0};
    std::latch released{1};
    scene.pool.handle("a", [&](JobContext&) {
        ++begun;
        released.wait();
    });
    scene.push("a", 10);
    scene.pool.start();
    REQUIRE(await([&] { return begun == 2; }));
    auto stopped = std::async(std::launch::async, [&] { scene.pool.stop(Duration{20'000}); });
    CHECK(stopped.wait_for(std::chrono::milliseconds{50}) == std::future_status::timeout);
    released.count_down();
    stopped.get();
    CHECK(begun == 2);
    CHECK(scene.queue() == QueueStatus{.ready = 8});
    CHECK(scene.pool.trouble() == "the pool has been stopped");
    scene.pool.stop(Duration{0});
}

TEST_CASE(
    "at the end of the grace period a job's token is stopped, and the attempt does not count") {
    ThreadScene scene;
    std::promise<JobId> begun;
    scene.pool.handle("a", [&](JobContext& job) {
        begun.set_value(job.id());
        std::promise<void> stopped;
        const std::stop_callback note{job.stop_token(), [&] { stopped.set_value(); }};
        stopped.get_future().wait();
    });
    scene.push("a", 1);
    scene.pool.start();
    const auto id = begun.get_future().get();
    scene.pool.stop(Duration{10});
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    CHECK(scene.jobs.find(id).value()->attempts == 0);
    CHECK(scene.pool.status().released == 1);
}

TEST_CASE("a pool run with a stop token runs until the token is set") {
    ThreadScene scene;
    std::stop_source stopping;
    scene.pool.handle("a", [&](JobContext&) { stopping.request_stop(); });
    scene.push("a", 1);
    scene.pool.run(stopping.get_token());
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("a pool run with a stop token lets handlers end within its grace period") {
    ThreadScene scene{{.threads = 1, .grace = Duration{600'000}}};
    std::stop_source stopping;
    std::atomic<bool> cut_off{false};
    scene.pool.handle("a", [&](JobContext& job) {
        stopping.request_stop();
        // Without a grace period the stop token is requested immediately.
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{300};
        while (!cut_off && std::chrono::steady_clock::now() < end) {
            cut_off = job.stop_token().stop_requested();
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    });
    scene.push("a", 1);
    scene.pool.run(stopping.get_token());
    CHECK(!cut_off);
    CHECK(scene.pool.status().done == 1);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("a pool run with a stop token cancels handlers after its grace period") {
    ThreadScene scene{{.threads = 1, .grace = Duration{10}}};
    std::stop_source stopping;
    scene.pool.handle("a", [&](JobContext& job) {
        std::promise<void> stopped;
        const std::stop_callback note{job.stop_token(), [&] { stopped.set_value(); }};
        stopping.request_stop();
        stopped.get_future().wait();
    });
    scene.push("a", 1);
    scene.pool.run(stopping.get_token());
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    CHECK(scene.pool.status().released == 1);
}

TEST_CASE("a slow handler does not delay the heartbeats of its pool") {
    ThreadScene scene{{.heartbeat_interval = Duration{20}, .worker_silence = Duration{10'000}}};
    std::atomic<bool> begun{false};
    std::latch released{1};
    scene.pool.handle("a", [&](JobContext&) {
        begun = true;
        released.wait();
    });
    scene.push("a", 1);
    scene.pool.start();
    REQUIRE(await([&] { return begun.load(); }));
    const auto later = std::chrono::steady_clock::now() + std::chrono::milliseconds{600};
    while (std::chrono::steady_clock::now() < later) {
        perform(scene.store, ScrubWorkers{Duration{500}}, system_clock().now()).value();
        std::this_thread::yield();
    }
    CHECK(scene.queue() == QueueStatus{.pending = 1});
    released.count_down();
    CHECK(scene.drained());
    CHECK(scene.pool.status().lease_lost == 0);
}

TEST_CASE("a handler beyond its timeout loses its job, and occupies its thread until it returns") {
    ThreadScene scene;
    std::atomic<int> begun{0};
    std::latch released{1};
    scene.pool.handle(
        "a",
        [&](JobContext& job) {
            if (++begun > 1) return;
            std::promise<void> stopped;
            const std::stop_callback note{job.stop_token(), [&] { stopped.set_value(); }};
            stopped.get_future().wait();
            released.wait();
        },
        {.retry = RetryPolicy{.wait_first = Duration{1}}, .timeout = Duration{50}});
    scene.push("a", 1);
    scene.pool.start();
    REQUIRE(await([&] { return scene.pool.status().timed_out == 1; }));
    CHECK(await([&] { return scene.queue().pending == 0; }));
    CHECK(begun == 1);
    CHECK(scene.pool.status().running == 1);
    released.count_down();
    CHECK(scene.drained());
    CHECK(begun == 2);
}

TEST_CASE("a pool with only long jobs leaves further jobs to other pools, even after short jobs") {
    ThreadScene scene{{.threads = 1}};
    std::latch released{1};
    std::atomic<int> blocked{0};
    const auto block = [&](JobContext&) {
        ++blocked;
        released.wait();
    };
    scene.pool.handle("short", [](JobContext&) {});
    scene.pool.handle("long", block);
    scene.push("short", 5'000);
    scene.push("long", 2);
    scene.pool.start();
    REQUIRE(await([&] { return blocked == 1; }));
    WorkerPool other{scene.store, {.queues = {"work"}}};
    other.handle("long", block);
    other.start();
    CHECK(await([&] { return blocked == 2; }));
    released.count_down();
    CHECK(scene.drained());
}

TEST_CASE(
    "jobs that wait for a slot when a pool stops are released at once, without counting an "
    "attempt") {
    ThreadScene scene{{.threads = 1}};
    std::atomic<bool> blocked{false};
    std::latch released{1};
    scene.pool.handle("short", [](JobContext&) {});
    scene.pool.handle("long", [&](JobContext&) {
        blocked = true;
        released.wait();
    });
    scene.push("short", 5'000);
    scene.push("long", 500);
    scene.pool.start();
    REQUIRE(await([&] { return blocked.load(); }));
    REQUIRE(scene.pool.status().waiting > 0);
    auto stopped = std::async(std::launch::async, [&] { scene.pool.stop(Duration{20'000}); });
    CHECK(await([&] { return scene.queue() == QueueStatus{.ready = 499, .pending = 1}; },
                std::chrono::milliseconds{800}));
    released.count_down();
    stopped.get();
    CHECK(scene.queue() == QueueStatus{.ready = 499});
    for (const auto& job : scene.jobs.list(JobStatus::State::ready, 0, 1'000).value().jobs) {
        REQUIRE(job.attempts == 0);
    }
}

TEST_CASE("a pool that stalled does not begin jobs that it had fetched before the stall") {
    std::latch released{1};
    ThreadScene scene{{.threads = 1}};
    std::atomic<bool> blocked{false};
    scene.pool.handle("short", [](JobContext&) {});
    scene.pool.handle("long", [&](JobContext&) {
        blocked = true;
        released.wait();
    });
    scene.push("short", 5'000);
    scene.push("long", 500);
    const auto now = [] { return system_clock().now(); };
    REQUIRE(await([&] {
        scene.pool.poll(now());
        return blocked.load();
    }));
    REQUIRE(scene.pool.status().waiting > 0);
    scene.pool.poll(now() + Duration{10'000});
    CHECK(scene.pool.status().waiting == 0);
    CHECK(scene.pool.status().running == 1);
    scene.pool.close(now());
    scene.pool.poll(now() + Duration{10'000});
    CHECK(scene.queue().pending <= 1);
    released.count_down();
}

TEST_CASE("asynchronous jobs wait for a free slot before they begin") {
    std::mutex mutex;
    std::vector<JobResponder> responders;
    std::atomic<int> begun{0};
    ThreadScene scene{{.threads = 1, .concurrency = 3}};
    scene.pool.handle("short", [](JobContext&) {});
    scene.pool.handle_async("long", [&](const JobResponder& responder) {
        const std::lock_guard lock{mutex};
        responders.push_back(responder);
        ++begun;
    });
    scene.push("short", 5'000);
    scene.push("long", 50);
    scene.pool.start();
    REQUIRE(await([&] { return begun == 3; }));
    CHECK(await([&] { return scene.pool.status().waiting == 0; }));  // Given up after a second.
    CHECK(await([&] { return scene.queue() == QueueStatus{.ready = 47, .pending = 3}; }));
    CHECK(begun == 3);
    {
        const std::lock_guard lock{mutex};
        responders.front().done();
    }
    CHECK(await([&] { return begun == 4; }));
}

TEST_CASE("a pool may be created and destroyed without a start") {
    ThreadScene scene;
    scene.pool.handle("a", [](JobContext&) {});
    scene.push("a", 1);
    scene.pool.stop(Duration{1'000});
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    scene.pool.start();
    CHECK_THROWS_AS(scene.pool.start(), Failure);
    CHECK(scene.drained());
}
