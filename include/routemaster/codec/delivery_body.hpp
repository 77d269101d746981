/// @file
/// The body of a delivery: the events of a batch as the JSON that subscribers get.

#pragma once

#include <cstddef>
#include <string>

#include "routemaster/batch.hpp"

namespace routemaster {

/// The body to post, and how many messages it has.
struct DeliveryBody {
    std::string json;             ///< An array of events, in order; `[]` when there are none.
    std::size_t events = 0;       ///< How many it contains.
    std::size_t undecodable = 0;  ///< Messages left out because they could not be decoded.
};

/// Converts messages to JSON in one pass, without building events in between. Times are printed as
/// they were written, and `data` only where an event has some.
[[nodiscard]] DeliveryBody delivery_body(const MessageList& messages);

}  // namespace routemaster
