/// @file
/// Listeners of timers with threads.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <latch>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "routemaster/delayer.hpp"
#include "routemaster/store/memory.hpp"
#include "support/await.hpp"

using namespace routemaster;
using test::await;

namespace {

struct ListenerScene {
    void post(int count, TimerOptions options = {}, Duration delay = Duration{0}) {
        std::vector<TimerPost> posts;
        for (int i = 0; i < count; ++i) {
            posts.push_back({.payload = i, .delay = delay, .options = options});
        }
        for (const auto& posted : calls.post_many(posts)) REQUIRE(posted);
    }
    [[nodiscard]] bool drained() const {
        return await([this] {
            const auto counts = calls.counts().value();
            return counts.pending + counts.fired + counts.dead == 0;
        });
    }

    MemoryStore store;
    Delayer calls{store, "calls"};
};

std::size_t number_of(const Timer& timer) {
    return static_cast<std::size_t>(*timer.payload.get_if<std::int64_t>());
}

}  // namespace

TEST_CASE("a listener with threads handles each of many timers once") {
    constexpr int count = 20'000;
    ListenerScene scene;
    std::vector<std::atomic<int>> times(count);
    scene.post(count, {.retries_max = 3, .confirm_within = Duration{60'000}});
    auto listener =
        scene.calls.listen([&](const Timer& timer) { ++times[number_of(timer)]; }, {.threads = 4});
    CHECK(scene.drained());
    listener.stop(Duration{20'000});
    for (const auto& each : times) REQUIRE(each == 1);
    CHECK(listener.status() == TimerListenerStatus{.taken = count, .handled = count});
    CHECK(scene.calls.counts().value().listeners == 0);
    CHECK(listener.trouble() == "the listener has been stopped");
}

TEST_CASE("several listeners share many timers, and each timer is handled once") {
    constexpr int count = 10'000;
    ListenerScene scene;
    std::vector<std::atomic<int>> times(count);
    std::vector<TimerListener> listeners;
    for (int i = 0; i < 3; ++i) {
        listeners.push_back(
            scene.calls.listen([&](const Timer& timer) { ++times[number_of(timer)]; }));
    }
    scene.post(count, {.retries_max = 3, .confirm_within = Duration{60'000}}, Duration{20});
    CHECK(scene.drained());
    listeners.clear();
    for (const auto& each : times) REQUIRE(each == 1);
}

TEST_CASE("no timer fires before its due time, and each fires soon after it") {
    ListenerScene scene;
    std::atomic<int> early{0};
    std::atomic<int> fired{0};
    const auto listener = scene.calls.listen([&](const Timer& timer) {
        if (std::chrono::system_clock::now() < timer.due_at) ++early;
        ++fired;
    });
    for (int i = 0; i < 100; ++i) CHECK(scene.calls.post(i, Duration{i * 3}));
    CHECK(await([&] { return fired == 100; }));
    CHECK(early == 0);
}

TEST_CASE("as many timer handlers run at once as the listener has threads, and no more") {
    ListenerScene scene;
    std::atomic<int> running{0};
    std::atomic<int> most{0};
    std::latch released{1};
    auto listener = scene.calls.listen(
        [&](const Timer&) {
            most = std::max(most.load(), ++running);
            released.wait();
            --running;
        },
        {.threads = 2});
    scene.post(5);
    CHECK(await([&] { return running == 2; }));
    // A listener leaves timers beyond its slots to other listeners.
    CHECK(scene.calls.counts().value().pending == 3);
    released.count_down();
    CHECK(scene.drained());
    listener.stop(Duration{20'000});
    CHECK(most == 2);
}

TEST_CASE("a listener without free slots leaves due timers to another listener") {
    ListenerScene scene;
    std::atomic<bool> begun{false};
    std::latch released{1};
    const auto busy = scene.calls.listen([&](const Timer&) {
        begun = true;
        released.wait();
    });
    scene.post(1);
    REQUIRE(await([&] { return begun.load(); }));
    std::atomic<int> handled{0};
    const auto other = scene.calls.listen([&](const Timer&) { ++handled; });
    scene.post(20, {}, Duration{10});
    CHECK(await([&] { return handled == 20; }));
    released.count_down();
}

TEST_CASE("a responder of a timer can confirm from any thread") {
    ListenerScene scene;
    std::mutex mutex;
    std::vector<TimerResponder> waiting;
    std::atomic<int> begun{0};
    const auto listener = scene.calls.listen_async(
        [&](const TimerResponder& responder) {
            const std::lock_guard lock{mutex};
            waiting.push_back(responder);
            ++begun;
        },
        {.concurrency = 100});
    scene.post(100, {.retries_max = 1});
    REQUIRE(await([&] { return begun == 100; }));
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            for (auto n = i; n < 100; n += 4) waiting[n].confirm();
        });
    }
    threads.clear();
    CHECK(scene.drained());
    waiting.clear();
}

TEST_CASE("stopping a listener lets handlers end within the grace period, and begins no handler") {
    ListenerScene scene;
    std::atomic<int> begun{0};
    std::latch released{1};
    auto listener = scene.calls.listen(
        [&](const Timer&) {
            ++begun;
            released.wait();
        },
        {.threads = 2});
    scene.post(10, {.retries_max = 1});
    REQUIRE(await([&] { return begun == 2; }));
    auto stopped = std::async(std::launch::async, [&] { listener.stop(Duration{20'000}); });
    CHECK(stopped.wait_for(std::chrono::milliseconds{50}) == std::future_status::timeout);
    released.count_down();
    stopped.get();
    CHECK(begun == 2);
    const auto counts = scene.calls.counts().value();
    CHECK(counts.pending == 8);
    CHECK(counts.fired == 0);
    listener.stop(Duration{0});
}

TEST_CASE("a handler may use its timer namespace, and may post the next timer") {
    ListenerScene scene;
    std::atomic<int> rounds{0};
    const auto listener = scene.calls.listen([&](const Timer& timer) {
        if (++rounds < 20) scene.calls.post(timer.payload, Duration{1}, {.id = timer.id}).value();
    });
    scene.calls.post("again", Duration{1}, {.id = "round", .retries_max = 1}).value();
    CHECK(await([&] { return rounds == 20; }));
    CHECK(scene.drained());
}

TEST_CASE("a started listener refuses polls, and a polled listener refuses to start") {
    ListenerScene scene;
    TimerListener listener{scene.store, "calls", TimerHandler{[](const Timer&) {}}};
    listener.poll(system_clock().now());
    CHECK_THROWS_AS(listener.start(), Failure);
    auto started = scene.calls.listen([](const Timer&) {});
    CHECK_THROWS_AS(started.start(), Failure);
    CHECK_THROWS_AS(started.poll(system_clock().now()), Failure);
}
