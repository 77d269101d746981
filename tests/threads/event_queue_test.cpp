#include "core/work/event_queue.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

using routemaster::detail::EventQueue;
using routemaster::detail::OwnEventQueue;

TEST_CASE("items of an event queue are taken once, in the order of their arrival") {
    EventQueue<int> event_queue;
    CHECK(event_queue.empty());
    event_queue.put(1);
    event_queue.put(2);
    CHECK(!event_queue.empty());
    const auto taken = event_queue.take();
    CHECK(taken.events == std::vector<int>{1, 2});
    CHECK(!taken.woken);
    CHECK(event_queue.empty());
    CHECK(event_queue.take().events.empty());
}

TEST_CASE("a wake-up without an item also wakes the reader of an event queue") {
    EventQueue<int> event_queue;
    event_queue.wake();
    CHECK(!event_queue.empty());
    CHECK(event_queue.take().woken);
    CHECK(!event_queue.take().woken);
}

TEST_CASE("every item wakes the reader of an event queue while the reader is subscribed") {
    EventQueue<int> event_queue;
    int woken = 0;
    event_queue.put(1);
    event_queue.wake_with([&] { ++woken; });
    CHECK(woken == 0);
    event_queue.put(2);
    CHECK(woken == 1);
    event_queue.wake();
    CHECK(woken == 2);
    event_queue.wake_with({});
    event_queue.put(3);
    event_queue.wake();
    CHECK(woken == 2);
}

TEST_CASE("a slow wake-up callback delays only the writer that calls the callback") {
    EventQueue<int> event_queue;
    std::promise<void> waking;
    std::promise<void> go_on;
    std::atomic<int> woken = 0;
    event_queue.wake_with([&] {
        if (woken++ > 0) return;
        waking.set_value();
        go_on.get_future().wait();
    });
    const std::jthread slow{[&] { event_queue.put(1); }};
    waking.get_future().wait();
    const auto other = std::async(std::launch::async, [&] { event_queue.put(2); });
    CHECK(other.wait_for(std::chrono::seconds{10}) == std::future_status::ready);
    go_on.set_value();
}

TEST_CASE("a reader that runs as soon as it is woken does not wait for a writer") {
    EventQueue<int> event_queue;
    std::vector<int> taken;
    const auto read = [&] {
        const auto some = event_queue.take();
        taken.insert(taken.end(), some.events.begin(), some.events.end());
    };
    event_queue.wake_with([&] { std::thread{read}.join(); });
    event_queue.put(1);
    event_queue.put(2);
    event_queue.wake();
    CHECK(taken == std::vector<int>{1, 2});
}

TEST_CASE("an item that arrives after the end of its reader wakes no thread") {
    int woken = 0;
    auto reader = std::make_unique<OwnEventQueue<int>>();
    (*reader)->wake_with([&] { ++woken; });
    const auto event_queue = reader->shared();
    event_queue->put(1);
    CHECK(woken == 1);
    reader.reset();
    event_queue->put(2);
    event_queue->wake();
    CHECK(woken == 1);
}

TEST_CASE("move-only items of an event queue are moved") {
    EventQueue<std::unique_ptr<int>> event_queue;
    event_queue.put(std::make_unique<int>(7));
    const auto taken = event_queue.take();
    REQUIRE(taken.events.size() == 1);
    CHECK(*taken.events.front() == 7);
}

TEST_CASE("all items of several writers arrive, and the items of each writer stay in order") {
    constexpr int writers = 4;
    constexpr int each = 2'000;
    EventQueue<std::pair<int, int>> event_queue;
    std::vector<std::pair<int, int>> all;
    {
        std::vector<std::jthread> threads;
        for (int writer = 0; writer < writers; ++writer) {
            threads.emplace_back([&event_queue, writer] {
                for (int n = 0; n < each; ++n) event_queue.put({writer, n});
            });
        }
        while (all.size() < std::size_t{writers} * each) {
            for (const auto& letter : event_queue.take().events) all.push_back(letter);
        }
    }
    std::vector<int> next(writers, 0);
    bool in_order = true;
    for (const auto& [writer, n] : all) {
        in_order = in_order && n == next[static_cast<std::size_t>(writer)]++;
    }
    CHECK(in_order);
    CHECK(event_queue.empty());
}
