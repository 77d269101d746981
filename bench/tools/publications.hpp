/// @file
/// `Publications`: publishes events on any store, several at once, without deliveries.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "batches.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/event.hpp"
#include "routemaster/subscription.hpp"
#include "run.hpp"

namespace bench {

/// The bytes of a message.
inline constexpr std::size_t message_size = 65;

/// An event with a message of `message_size` bytes.
[[nodiscard]] inline routemaster::Event event(std::uint64_t n) {
    constexpr std::uint64_t numbers = 90'000'000;
    constexpr std::uint64_t first = 10'000'000;
    return {.topic = "orders",
            .type = routemaster::EventType::update,
            .url = "https://s.example/" + std::to_string(first + n % numbers)};
}

/// Publishes `count` events through `Bus::publish`, each when an earlier one completes: `in_flight`
/// events are always under way.
class Publications {
public:
    /// The bus must outlive this object.
    Publications(routemaster::Bus& bus, std::uint64_t count)
        : bus_{bus}, open_{count}, count_{count} {}

    void run(std::uint32_t in_flight) {
        if (count_ == 0) return;
        for (std::uint32_t n = 0; n < in_flight; ++n) publish();
        finish_.wait();
    }

private:
    void publish() {
        const auto n = next_.fetch_add(1);
        if (n >= count_) return;
        bus_.publish(event(n), [this](const routemaster::Result<void>& outcome) {
            if (!outcome) return finish_.failed(outcome.error().message());
            publish();
            if (open_.fetch_sub(1) == 1) finish_.reached();
        });
    }

    routemaster::Bus& bus_;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<std::uint64_t> open_;
    const std::uint64_t count_;
    Finish finish_;
};

/// The number of queued events of each subscriber.
[[nodiscard]] inline std::vector<std::uint64_t> queued(routemaster::Bus& bus,
                                                       std::uint32_t subscribers) {
    std::vector<std::uint64_t> counts;
    for (std::uint32_t n = 0; n < subscribers; ++n) {
        const auto status = bus.subscriber(subscriber_name(n)).status().value();
        counts.push_back(status.has_value() ? status->events_queued : 0);
    }
    return counts;
}

/// Creates subscribers with these settings and different callbacks.
inline void subscribe(routemaster::Bus& bus, std::uint32_t subscribers,
                      routemaster::SubscribeOptions options) {
    for (std::uint32_t n = 0; n < subscribers; ++n) {
        const auto token = subscriber_name(n);
        options.callback = "https://subscriber.example/" + token;
        bus.subscriber(token).subscribe({"orders"}, options).value();
    }
}

/// Publishes `warm_up` events, then `count` events. Prints one JSON line about the latter. Checks
/// that the bus has queued each event for each subscriber, in addition to the earlier ones.
inline void measure_publications(routemaster::Bus& bus, std::uint32_t subscribers,
                                 std::uint32_t in_flight, std::uint64_t warm_up,
                                 std::uint64_t count) {
    const auto size =
        routemaster::encode_message(event(0), routemaster::system_clock().now()).size();
    if (size != message_size) throw std::runtime_error{"a message has " + std::to_string(size)};
    auto expected = queued(bus, subscribers);
    for (auto& each : expected) each += warm_up + count;
    Publications{bus, warm_up}.run(in_flight);
    Publications publications{bus, count};
    measure(count, [&] { publications.run(in_flight); });
    if (queued(bus, subscribers) != expected) {
        throw std::runtime_error{"not every event is queued for every subscriber"};
    }
}

}  // namespace bench
