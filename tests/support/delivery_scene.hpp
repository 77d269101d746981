/// @file
/// A bus whose deliveries a test observes on a manual clock.

#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/perform.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "routemaster/testing/scripted_transport.hpp"
#include "support/disturbed_store.hpp"
#include "support/hand_runner.hpp"
#include "support/recorded_log.hpp"

namespace routemaster::test {

/// A failure, for `ScriptedTransport`.
inline Result<void> refusal() { return Error{Errc::unavailable, "HTTP 500"}; }

/// How a subscriber wants its batches; see `SubscribeOptions`.
struct Wanted {
    std::string callback{};  ///< Empty: one named after the subscriber.
    std::string uuid{};
    Duration timeout{0};
    std::uint32_t max_events = 100;
    std::uint32_t max_in_flight = 1;
    std::uint32_t attempts_max = 0;
};

/// A store, a bus, a dispatcher and a transport for which the test answers. Single threaded.
struct DeliveryScene {
    explicit DeliveryScene(DispatcherOptions options = {})
        : dispatcher{disturbed, complete(std::move(options))} {}

    /// Settings of a dispatcher in this scene: each is a worker of its own.
    DispatcherOptions complete(DispatcherOptions options) {
        if (options.transports.empty()) options.transports = {&transport};
        options.log = log.sink();
        options.seed = ++seeds;
        return options;
    }

    /// Subscribes to the topic `orders`.
    void subscribe(const std::string& token, Wanted how = {}) {
        if (how.callback.empty()) how.callback = "https://" + token + ".example/events";
        bus.subscriber(token)
            .subscribe({"orders"}, {.callback = std::move(how.callback),
                                    .uuid = std::move(how.uuid),
                                    .timeout = how.timeout,
                                    .max_events = how.max_events,
                                    .max_in_flight = how.max_in_flight,
                                    .attempts_max = how.attempts_max})
            .value();
    }

    /// Publishes `count` orders, numbered from 1 over the scene.
    void publish(int count = 1) {
        for (int i = 0; i < count; ++i) {
            const auto url = "https://shop.example/" + std::to_string(++published);
            CHECK(bus.publish({.topic = "orders", .type = EventType::update, .url = url}));
        }
    }

    /// Runs everything that is due now.
    TimePoint run() { return runner.run(clock.now()); }

    /// Advances the clock to `at`, stopping at each instant the dispatcher asked for.
    void run_until(TimePoint at) {
        while (run() < at) clock.set(runner.next());
        clock.set(at);
        run();
    }
    void run_for(Duration span) { run_until(clock.now() + span); }

    /// Begins the dispatcher's orderly end, as a `Runner` does.
    void close(TimePoint deadline) {
        dispatcher.close(deadline);
        runner.wake();
        run();
    }

    /// Answers all deliveries under way, and runs what follows. Returns how many.
    std::size_t answer_all(const Result<void>& outcome = {}) {
        std::size_t count = transport.under_way();
        for (std::size_t i = 0; i < count; ++i) transport.answer(outcome);
        run();
        return count;
    }

    /// The numbers of the orders that were delivered to a subscriber: those of one delivery are
    /// separated by commas, deliveries by spaces.
    [[nodiscard]] std::string delivered_to(const std::string& token) const {
        std::string all;
        for (const auto& delivery : transport.deliveries()) {
            if (delivery.subscriber != token) continue;
            const char* separator = all.empty() ? "" : " ";
            for (const auto& event : testing::ScriptedTransport::events_of(delivery)) {
                all.append(separator).append(event.url.substr(event.url.rfind('/') + 1));
                separator = ",";
            }
        }
        return all;
    }

    [[nodiscard]] std::size_t deliveries() const { return transport.deliveries().size(); }

    [[nodiscard]] SubscriberStatus status(const std::string& token) {
        return bus.subscriber(token).status().value().value();
    }

    /// A counter of a subscriber; 0 when it has not begun.
    [[nodiscard]] std::int64_t counter(const std::string& name, const std::string& token,
                                       const char* state = nullptr) const {
        CounterKey key{name, {{"queue", token}}};
        if (state != nullptr) key.tags.emplace_back("status", state);
        for (const auto& counter : bus.counters().value()) {
            if (counter.key == key) return counter.value;
        }
        return 0;
    }

    /// The state of the delivery queue.
    [[nodiscard]] QueueStatus queue() {
        return perform(store, CountJobs{delivery_queue}, clock.now()).value();
    }

    testing::ManualClock clock;
    MemoryStore store;
    DisturbedStore disturbed{store};
    Bus bus{store, {.clock = &clock}};
    testing::ScriptedTransport transport;
    RecordedLog log;
    int published = 0;
    std::uint64_t seeds = 0;
    Dispatcher dispatcher;
    HandRunner runner{dispatcher};
};

}  // namespace routemaster::test
