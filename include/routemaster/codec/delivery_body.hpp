/// @file
/// Encoder for the body of a delivery: the events of a batch as JSON.

#pragma once

#include <cstddef>
#include <string>

#include "routemaster/batch.hpp"

namespace routemaster {

/// The body of a delivery's HTTP POST.
struct DeliveryBody {
    std::string json;             ///< An array of events, in order; `[]` for no events.
    std::size_t events = 0;       ///< The number of events in `json`.
    std::size_t undecodable = 0;  ///< Messages that `json` omits because they could not be decoded.
};

/// Converts encoded messages to JSON directly, without decoding them into `Event` objects. Times
/// are printed as the messages contain them. An event without data has no field `data`.
[[nodiscard]] DeliveryBody delivery_body(const MessageList& messages);

}  // namespace routemaster
