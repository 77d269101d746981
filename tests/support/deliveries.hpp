/// @file
/// Deliveries for tests of transports.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/transport.hpp"
#include "support/delivery_reports.hpp"

namespace routemaster::test {

/// A delivery of one event with a body of 87 bytes.
inline Delivery delivery(std::string url) {
    Delivery delivery{.subscriber = "billing", .callback = std::move(url), .uuid = "secret"};
    delivery.messages.append(encode_message({.topic = "cats",
                                             .type = EventType::create,
                                             .url = "https://example.com/cats/1",
                                             .timestamp = from_milliseconds(1795222853691)},
                                            TimePoint{}));
    return delivery;
}

/// Starts a delivery and waits for its end.
inline DeliveryReport deliver(Transport& transport, Delivery delivery) {
    // Shared: after a timeout `wait_for` throws, but the transport still has the callback.
    const auto reports = std::make_shared<DeliveryReports>();
    transport.deliver(std::move(delivery), [reports, keep = reports->keep()](
                                               DeliveryReport report) { keep(std::move(report)); });
    return reports->wait_for(1).front();
}

}  // namespace routemaster::test
