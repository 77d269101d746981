/// @file
/// Options that an object with threads passes on to its parts. Each test uses a value that differs
/// from the default.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "routemaster/bus.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/delivery_worker.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/timer_listener.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/await.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A store that records requests. Thread safety: all members.
class NotingStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        {
            const std::lock_guard lock{mutex_};
            for (const auto& step : steps) note(step);
        }
        ForwardingStore::submit(steps, now, std::move(done));
    }

    /// The number of jobs or timers in one request.
    [[nodiscard]] std::uint32_t limit() const {
        const std::lock_guard lock{mutex_};
        return limit_;
    }
    [[nodiscard]] std::optional<Duration> silence() const {
        const std::lock_guard lock{mutex_};
        return silence_;
    }
    [[nodiscard]] std::optional<Duration> backoff_max() const {
        const std::lock_guard lock{mutex_};
        return backoff_max_;
    }
    [[nodiscard]] std::optional<int> health_change() const {
        const std::lock_guard lock{mutex_};
        return health_change_;
    }

private:
    void note(const Step& step) {
        if (const auto* jobs = std::get_if<AcquireJobs>(&step)) {
            limit_ = std::max(limit_, jobs->limit);
        } else if (const auto* timers = std::get_if<TakeTimers>(&step)) {
            limit_ = std::max(limit_, timers->limit);
        } else if (const auto* scrub = std::get_if<ScrubWorkers>(&step)) {
            silence_ = scrub->silence;
        } else if (const auto* begin = std::get_if<BeginDelivery>(&step)) {
            backoff_max_ = begin->backoff_max;
        } else if (const auto* end = std::get_if<SettleDelivery>(&step)) {
            health_change_ = end->health_change;
        }
    }

    mutable std::mutex mutex_;
    std::uint32_t limit_ = 0;
    std::optional<Duration> silence_;
    std::optional<Duration> backoff_max_;
    std::optional<int> health_change_;
};

constexpr int posted_count = 500;

}  // namespace

TEST_CASE("option effects: a pool fetches no more jobs ahead than its options say") {
    MemoryStore memory;
    NotingStore store{memory};
    JobQueue jobs{memory, "work"};
    for (int i = 0; i < posted_count; ++i) jobs.push(Job{"a", {i}}).value();
    std::atomic<int> done = 0;
    WorkerPool pool{store, {.queues = {{"work"}}, .threads = 1, .prefetch_max = 3}};
    pool.handle("a", [&](JobContext&) { ++done; });
    const Runner runner{pool};
    REQUIRE(await([&] { return done == posted_count; }));
    CHECK(store.limit() <= 1 + 3);
}

TEST_CASE("option effects: a listener fetches no more timers ahead than its options say") {
    MemoryStore memory;
    NotingStore store{memory};
    Delayer calls{memory, "calls"};
    for (int i = 0; i < posted_count; ++i) calls.post(Value{i}, Duration{0}).value();
    std::atomic<int> done = 0;
    TimerListener listener{store,
                           "calls",
                           TimerHandler{[&](TimerContext&) { ++done; }},
                           {.threads = 1, .prefetch_max = 3}};
    const Runner runner{listener};
    REQUIRE(await([&] { return done == posted_count; }));
    CHECK(store.limit() <= 1 + 3);
}

TEST_CASE("option effects: deliveries follow the options of a delivery worker") {
    MemoryStore memory;
    NotingStore store{memory};
    Bus bus{store};
    bus.subscriber("billing").subscribe({"orders"}, [](const Batch&) {}).value();
    const DeliveryWorker worker{
        bus,
        {.in_flight_max = 3,
         .health = {.heal_rate = 7, .damage_rate = -9, .backoff_max = Duration{12'345}},
         .worker_silence = Duration{9'000}}};
    bus.publish({.topic = "orders", .type = EventType::update, .url = "https://a.example"}).value();
    REQUIRE(await([&] { return store.health_change().has_value(); }));
    CHECK(store.health_change() == 7);
    CHECK(store.backoff_max() == Duration{12'345});
    REQUIRE(await([&] { return store.silence().has_value(); }));
    CHECK(store.silence() == Duration{9'000});
    CHECK(store.limit() <= 3);
}
