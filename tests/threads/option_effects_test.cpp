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
#include "routemaster/store/memory.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "routemaster/timer_listener.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/await.hpp"
#include "support/recorded_log.hpp"

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
            for (const auto& step : steps) note(step, now);
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
    /// The number of requests for jobs.
    [[nodiscard]] int asked() const {
        const std::lock_guard lock{mutex_};
        return asked_;
    }
    /// The time of the last delivery, by the clock of its worker.
    [[nodiscard]] std::optional<TimePoint> delivered_at() const {
        const std::lock_guard lock{mutex_};
        return delivered_at_;
    }

private:
    void note(const Step& step, TimePoint now) {
        if (const auto* jobs = std::get_if<AcquireJobs>(&step)) {
            ++asked_;
            limit_ = std::max(limit_, jobs->limit);
        } else if (const auto* timers = std::get_if<TakeTimers>(&step)) {
            limit_ = std::max(limit_, timers->limit);
        } else if (const auto* scrub = std::get_if<ScrubWorkers>(&step)) {
            silence_ = scrub->silence;
        } else if (const auto* begin = std::get_if<BeginDelivery>(&step)) {
            backoff_max_ = begin->backoff_max;
        } else if (const auto* end = std::get_if<SettleDelivery>(&step)) {
            health_change_ = end->health_change;
            delivered_at_ = now;
        }
    }

    mutable std::mutex mutex_;
    std::uint32_t limit_ = 0;
    std::optional<Duration> silence_;
    std::optional<Duration> backoff_max_;
    std::optional<int> health_change_;
    int asked_ = 0;
    std::optional<TimePoint> delivered_at_;
};

constexpr int posted_count = 500;

}  // namespace

TEST_CASE("option effects: a pool fetches no more jobs ahead than its options say") {
    MemoryStore memory;
    NotingStore store{memory};
    // On a clock that stands still, any number of jobs ends in a window of time.
    const testing::ManualClock clock;
    JobQueue jobs{memory, "work", clock};
    for (int i = 0; i < posted_count; ++i) jobs.push(Job{"a", {i}}).value();
    std::atomic<int> done = 0;
    WorkerPool pool{store,
                    {.queues = {{"work"}}, .threads = 1, .prefetch_max = 3, .clock = &clock}};
    pool.handle("a", [&](JobContext&) { ++done; });
    const Runner runner{pool, clock};
    REQUIRE(await([&] { return done == posted_count; }));
    CHECK(store.limit() <= 1 + 3);
}

TEST_CASE("option effects: a listener fetches no more timers ahead than its options say") {
    MemoryStore memory;
    NotingStore store{memory};
    const testing::ManualClock clock;
    Delayer calls{memory, "calls", clock};
    for (int i = 0; i < posted_count; ++i) calls.post(Value{i}, Duration{0}).value();
    std::atomic<int> done = 0;
    TimerListener listener{store,
                           "calls",
                           TimerHandler{[&](TimerContext&) { ++done; }},
                           {.threads = 1, .prefetch_max = 3, .clock = &clock}};
    const Runner runner{listener, clock};
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

TEST_CASE("option effects: a delivery worker polls as often as its options say") {
    MemoryStore memory;
    NotingStore store{memory};
    Bus bus{store};
    const DeliveryWorker worker{bus, {.poll_interval = Duration{20}}};
    // With the default of a second, this takes longer than `await` waits.
    CHECK(await([&] { return store.asked() >= 40; }));
}

TEST_CASE("option effects: a delivery worker has the clock and the log of its options") {
    MemoryStore memory;
    NotingStore store{memory};
    const testing::ManualClock clock{system_clock().now() + Duration{3'600'000}};
    const RecordedLog log;
    Bus bus{store};
    bus.subscriber("billing")
        .subscribe({"orders"}, [](const Batch&) {}, {.timeout = Duration{0}})
        .value();
    bus.publish({.topic = "orders", .type = EventType::update, .url = "https://a.example"}).value();
    const DeliveryWorker worker{bus, {.clock = &clock, .log = log.sink()}};
    REQUIRE(await([&] { return store.delivered_at().has_value(); }));
    CHECK(store.delivered_at() == clock.now());
    CHECK(await([&] { return log.count(LogLevel::debug, "delivered 1 events to") == 1; }));
}
