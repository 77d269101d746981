#include "routemaster/delivery_worker.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "support/example_events.hpp"

using namespace routemaster;

namespace {

using test::order;

/// Records deliveries to an external subscriber, and lets the test wait for them.
class Outside final : public Transport {
public:
    [[nodiscard]] bool serves(std::string_view callback) const override {
        return callback.starts_with("https:");
    }

    void deliver(Delivery delivery, DeliveryDone done) override {
        const std::lock_guard lock{mutex_};
        arrived_.emplace_back(std::move(delivery), std::move(done));
        changed_.notify_all();
    }

    [[nodiscard]] std::optional<std::string> trouble() const override { return "no name server"; }

    /// Waits for the next delivery, and removes it.
    std::pair<Delivery, DeliveryDone> take() {
        std::unique_lock lock{mutex_};
        REQUIRE(changed_.wait_for(lock, std::chrono::seconds{20},
                                  [this] { return !arrived_.empty(); }));
        auto first = std::move(arrived_.front());
        arrived_.erase(arrived_.begin());
        return first;
    }

private:
    std::mutex mutex_;  // Guards `arrived_`.
    std::condition_variable changed_;
    std::vector<std::pair<Delivery, DeliveryDone>> arrived_;
};

void subscribe_outside(Bus& bus) {
    bus.subscriber("search")
        .subscribe({"orders"}, {.callback = "https://search.example/events"})
        .value();
}

template <class T>
T wait(std::promise<T>& promise) {
    auto future = promise.get_future();
    REQUIRE(future.wait_for(std::chrono::seconds{20}) == std::future_status::ready);
    return future.get();
}

}  // namespace

TEST_CASE("a callback needs only a store, a bus and a worker") {
    MemoryStore store;
    Bus bus{store};
    std::promise<std::string> arrived;
    bus.subscriber("billing")
        .subscribe({"orders"},
                   [&](const Batch& batch) { arrived.set_value(batch.events.front().url); })
        .value();
    const DeliveryWorker worker{bus};
    bus.publish(order).value();
    CHECK(wait(arrived) == order.url);
}

TEST_CASE("a worker delivers to callbacks, and to URLs by the transports of its options") {
    MemoryStore store;
    Bus bus{store};
    std::promise<void> arrived;
    bus.subscriber("billing")
        .subscribe({"orders"}, [&](const Batch&) { arrived.set_value(); })
        .value();
    subscribe_outside(bus);
    const auto outside = std::make_shared<Outside>();
    const DeliveryWorker worker{bus, {.transports = {outside}}};
    bus.publish(order).value();
    wait(arrived);
    CHECK(outside->take().first.subscriber == "search");
}

TEST_CASE("several threads call several callbacks at once") {
    MemoryStore store;
    Bus bus{store};
    std::latch both{2};
    std::promise<void> met;
    for (const auto* token : {"billing", "search"}) {
        bus.subscriber(token)
            .subscribe({"orders"},
                       [&, last = std::string_view{token} == "search"](const Batch&) {
                           both.arrive_and_wait();
                           if (last) met.set_value();
                       })
            .value();
    }
    const DeliveryWorker worker{bus, {.callback_threads = 2}};
    bus.publish(order).value();
    wait(met);
}

TEST_CASE("a delivery that is under way when its worker ends is repeated by another worker") {
    MemoryStore store;
    Bus bus{store};
    subscribe_outside(bus);
    bus.publish(order).value();
    const auto outside = std::make_shared<Outside>();
    Uid batch;
    {
        const DeliveryWorker worker{store, {.transports = {outside}}};
        batch = outside->take().first.batch;
        CHECK(worker.in_flight() == 1);
    }
    CHECK(bus.deliveries().value() == QueueStatus{.ready = 1});
    const DeliveryWorker worker{store, {.transports = {outside}}};
    const auto again = outside->take().first;
    CHECK(again.batch == batch);
    CHECK(again.attempt == 2);
}

TEST_CASE("stopping a worker lets its deliveries end within the grace period") {
    MemoryStore store;
    Bus bus{store};
    subscribe_outside(bus);
    bus.publish(order).value();
    const auto outside = std::make_shared<Outside>();
    DeliveryWorker worker{bus, {.transports = {outside}}};
    const auto done = outside->take().second;
    auto stopped = std::async(std::launch::async, [&] { worker.stop(Duration{20'000}); });
    CHECK(stopped.wait_for(std::chrono::milliseconds{50}) == std::future_status::timeout);
    done({});
    stopped.get();
    CHECK(bus.deliveries().value() == QueueStatus{});
    CHECK(worker.in_flight() == 0);
    worker.stop(Duration{20'000});
}

TEST_CASE("a callback that runs when its worker ends is awaited and settled") {
    MemoryStore store;
    Bus bus{store};
    std::promise<void> begun;
    std::latch released{1};
    bus.subscriber("billing")
        .subscribe({"orders"},
                   [&](const Batch&) {
                       begun.set_value();
                       released.wait();
                   })
        .value();
    auto worker = std::make_unique<DeliveryWorker>(bus);
    bus.publish(order).value();
    wait(begun);
    {
        const std::jthread ending{[&] { worker.reset(); }};
        released.count_down();
    }
    CHECK(bus.deliveries().value() == QueueStatus{});
}

TEST_CASE("a worker uses the clock of its bus") {
    testing::ManualClock clock;
    clock.set(from_milliseconds(4'100'000'000'000));  // A due time by this clock is not due by the
                                                      // real clock.
    MemoryStore store;
    Bus bus{store, {.clock = &clock}};
    std::promise<void> arrived;
    bus.subscriber("billing")
        .subscribe({"orders"}, [&](const Batch&) { arrived.set_value(); }, {.timeout = Duration{1}})
        .value();
    bus.publish(order).value();
    clock.advance(Duration{1});
    const DeliveryWorker worker{bus};
    wait(arrived);
}

TEST_CASE("a worker reports unhealthy transports, and when it is stopped") {
    MemoryStore store;
    Bus bus{store};
    DeliveryWorker idle{bus};
    CHECK(!idle.trouble());
    DeliveryWorker worker{bus, {.transports = {std::make_shared<Outside>()}}};
    CHECK(worker.trouble() == "no name server");
    worker.stop(Duration{0});
    CHECK(worker.trouble() == "deliveries have been stopped");
}

TEST_CASE("worker settings that make any delivery impossible are refused") {
    MemoryStore store;
    Bus bus{store};
    CHECK_THROWS_AS((DeliveryWorker{store, {}}), Failure);
    CHECK_THROWS_AS((DeliveryWorker{bus, {.transports = {nullptr}}}), Failure);
    CHECK_THROWS_AS((DeliveryWorker{bus, {.callback_threads = 0}}), Failure);
    CHECK_THROWS_AS((DeliveryWorker{bus, {.in_flight_max = 0}}), Failure);
}
