/// @file
/// Callbacks in one of several processes that share a bus.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/store/redis.hpp"
#include "routemaster/transport/local.hpp"
#include "support/await.hpp"
#include "support/batch_receiver.hpp"
#include "support/redis_server.hpp"
#include "support/running_fleet.hpp"

using namespace routemaster;

namespace {

/// A program with callbacks.
struct Program {
    explicit Program(const test::RedisServer& redis) : store{{.addresses = {redis.address()}}} {}

    /// Subscribes to `orders` with a callback. One event fills a batch.
    void subscribe(const std::string& token) {
        bus.subscriber(token)
            .subscribe({"orders"}, [this](const Batch& batch) { attempts += batch.attempt; },
                       {.max_events = 1})
            .value();
    }

    void publish() {
        bus.publish({.topic = "orders", .type = EventType::update, .url = "https://a.example"})
            .value();
    }

    [[nodiscard]] SubscriberStatus status(const std::string& token) {
        return bus.subscriber(token).status().value().value();
    }

    RedisStore store;
    Bus bus{store};
    std::atomic<std::uint32_t> attempts{0};  ///< The sum of the attempts seen by callbacks.
};

/// Delivers to the callbacks of a program.
struct Deliveries {
    explicit Deliveries(Program& program)
        : transport{program.bus.callbacks()},
          dispatcher{program.store, {.transports = {&transport}}},
          runner{dispatcher} {}

    LocalTransport transport;
    Dispatcher dispatcher;
    Runner runner;
};

}  // namespace

TEST_CASE("batches for a callback in one process are not acquired by the other processes") {
    const test::RedisServer redis;
    test::BatchReceiver receiver;
    test::RunningWorker worker{redis.url()};
    Program home{redis};
    Program away{redis};
    away.subscribe("search");
    const Deliveries elsewhere{away};

    home.subscribe("audit");
    home.bus.subscriber("billing")
        .subscribe({"orders"}, {.callback = receiver.url(), .max_events = 1})
        .value();
    home.publish();
    CHECK(receiver.await_deliveries(1));
    CHECK(test::await([&] { return away.attempts == 1; }));
    // Each process polls the queue three times.
    std::this_thread::sleep_for(std::chrono::seconds{3});
    const auto waiting = home.status("audit");
    CHECK(waiting.batches_queued == 1);
    CHECK(waiting.health_points == 100);
    CHECK_FALSE(waiting.last_attempted_at);
    CHECK(home.attempts == 0);

    {
        const Deliveries deliveries{home};
        CHECK(test::await([&] { return home.attempts == 1; }));
        home.publish();
        CHECK(test::await([&] { return home.attempts == 2 && away.attempts == 2; }));
        CHECK(test::await([&] { return home.status("audit").batches_queued == 0; }));
    }
    // Without the process of the callback, new batches wait again.
    home.publish();
    CHECK(receiver.await_deliveries(3));
    CHECK(test::await([&] { return away.attempts == 3; }));
    CHECK(home.status("audit").batches_queued == 1);
    CHECK(home.status("audit").health_points == 100);
    CHECK(worker.stop() == 0);
}
