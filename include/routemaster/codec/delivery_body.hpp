/// @file
/// The body of a delivery: the events of a batch as JSON for the subscriber.

#pragma once

#include <cstddef>
#include <string>

#include "routemaster/batch.hpp"

namespace routemaster {

/// The body of an HTTP POST, and the number of its events.
struct DeliveryBody {
    std::string json;             ///< An array of events, in order; `[]` for no events.
    std::size_t events = 0;       ///< The number of events in `json`.
    std::size_t undecodable = 0;  ///< Messages that `json` omits because they could not be decoded.
};

/// Converts messages to JSON in one pass, without an `Event` in between. Times are printed as they
/// were written. An event without data has no field `data`.
[[nodiscard]] DeliveryBody delivery_body(const MessageList& messages);

}  // namespace routemaster
