/// @file
/// Example events for several tests.

#pragma once

#include "routemaster/event.hpp"
#include "routemaster/time.hpp"

namespace routemaster::test {

inline const Event order{
    .topic = "orders", .type = EventType::update, .url = "https://shop.example/orders/42"};

/// The example from Ruby Routemaster's documents.
inline const Event cat{.topic = "cats",
                       .type = EventType::create,
                       .url = "https://example.com/cats/1",
                       .timestamp = from_milliseconds(1'795'222'853'691)};

}  // namespace routemaster::test
