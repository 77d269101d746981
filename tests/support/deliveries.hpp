/// @file
/// Deliveries for tests of transports.

#pragma once

#include <string>
#include <utility>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/transport.hpp"
#include "support/delivery_reports.hpp"

namespace routemaster::test {

/// A delivery of one event, whose body has 87 bytes.
inline Delivery delivery(std::string url) {
    Delivery delivery{.subscriber = "billing", .callback = std::move(url), .uuid = "secret"};
    delivery.messages.append(encode_message({.topic = "cats",
                                             .type = EventType::create,
                                             .url = "https://example.com/cats/1",
                                             .timestamp = from_milliseconds(1795222853691)},
                                            TimePoint{}));
    return delivery;
}

/// Delivers and waits for the end.
inline DeliveryReport deliver(Transport& transport, Delivery delivery) {
    DeliveryReports reports;
    transport.deliver(std::move(delivery), reports.keep());
    return reports.wait_for(1).front();
}

}  // namespace routemaster::test
