/// @file
/// `DeliveryScene`: a bus with a manual clock and a transport that the test controls.

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
#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "routemaster/testing/scripted_transport.hpp"
#include "support/disturbed_store.hpp"
#include "support/hand_runner.hpp"
#include "support/recorded_log.hpp"

namespace routemaster::test {

/// A failed delivery, for `ScriptedTransport`.
inline Result<void> refusal() { return Error{Errc::unavailable, "HTTP 500"}; }

/// The options of a subscription; see `SubscribeOptions`.
struct Wanted {
    std::string callback{};  ///< Empty for a callback named after the subscriber.
    std::string uuid{};
    Duration timeout{0};
    std::uint32_t max_events = 100;
    std::uint32_t max_in_flight = 1;
    std::uint32_t attempts_max = 0;
};

/// A store, a bus, a dispatcher and a transport. The test decides the result of each delivery.
/// Single threaded.
struct DeliveryScene {
    explicit DeliveryScene(DispatcherOptions options = {})
        : dispatcher{disturbed, complete(std::move(options))} {}

    /// Adds the transport, log and seed of this scene to the options of a dispatcher. Each
    /// dispatcher gets a different seed, and so is a different worker.
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

    /// Publishes `count` orders. Their numbers start at 1 and continue through the scene.
    void publish(int count = 1) {
        for (int i = 0; i < count; ++i) {
            const auto url = "https://shop.example/" + std::to_string(++published);
            CHECK(bus.publish({.topic = "orders", .type = EventType::update, .url = url}));
        }
    }

    /// Does all work that is due now.
    TimePoint run() { return runner.run(clock.now()); }

    /// Advances the clock to `at`, with a stop at each instant requested by the dispatcher.
    void run_until(TimePoint at) {
        while (run() < at) clock.set(runner.next());
        clock.set(at);
        run();
    }
    void run_for(Duration span) { run_until(clock.now() + span); }

    /// Starts the orderly stop of the dispatcher, as a `Runner` does.
    void close(TimePoint deadline) {
        dispatcher.close(deadline);
        runner.wake();
        run();
    }

    /// Ends all deliveries under way with this result, and does the work that follows. Returns the
    /// number of deliveries.
    std::size_t answer_all(const Result<void>& outcome = {}) {
        std::size_t count = transport.under_way();
        for (std::size_t i = 0; i < count; ++i) transport.answer(outcome);
        run();
        return count;
    }

    /// The numbers of the orders delivered to a subscriber. Commas separate orders of one delivery;
    /// spaces separate deliveries.
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

    /// The value of a subscriber's counter; 0 when the counter does not exist.
    [[nodiscard]] std::int64_t counter(const std::string& name, const std::string& token,
                                       const char* state = nullptr) const {
        CounterKey key{name, {{"queue", token}}};
        if (state != nullptr) key.tags.emplace_back("status", state);
        for (const auto& counter : bus.counters().value()) {
            if (counter.key == key) return counter.value;
        }
        return 0;
    }

    /// The status of the delivery queue.
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
