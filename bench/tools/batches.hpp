/// @file
/// The events that delivery benchmarks deliver, the same for the bus and for its baseline.

#pragma once

#include <cstdint>
#include <string>

#include "routemaster/event.hpp"

namespace bench {

/// The event number `n` of the topic `orders`; its URL ends in the number.
[[nodiscard]] inline routemaster::Event order_event(std::uint64_t n) {
    return {.topic = "orders",
            .type = routemaster::EventType::update,
            .url = "https://shop.example/orders/" + std::to_string(n)};
}

/// The name of subscriber number `n`, which is also its path at the receiver.
[[nodiscard]] inline std::string subscriber_name(unsigned n) { return "s" + std::to_string(n); }

}  // namespace bench
