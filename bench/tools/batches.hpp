/// @file
/// The events of delivery benchmarks, the same for the bus and for its baseline.

#pragma once

#include <cstdint>
#include <string>

#include "routemaster/event.hpp"

namespace bench {

/// The event number `n` of the topic `orders`. Its URL ends in the number.
[[nodiscard]] inline routemaster::Event order_event(std::uint64_t n) {
    return {.topic = "orders",
            .type = routemaster::EventType::update,
            .url = "https://shop.example/orders/" + std::to_string(n)};
}

/// The name of subscriber number `n`, and its path at the receiver.
[[nodiscard]] inline std::string subscriber_name(unsigned n) { return "s" + std::to_string(n); }

}  // namespace bench
