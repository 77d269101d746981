/// @file
/// The body of a delivery: the events of a batch as the JSON that subscribers get.

#pragma once

#include <cstddef>
#include <string>

#include "routemaster/batch.hpp"

namespace routemaster {

/// What is posted, and what became of the messages.
struct DeliveryBody {
    std::string json;             ///< An array of events, in order; `[]` when there are none.
    std::size_t events = 0;       ///< How many it holds.
    std::size_t undecodable = 0;  ///< Messages that were left out because they make no sense.
};

/// Turns messages into JSON in one pass, without building events in between. Times are printed as
/// they were written, data only where there is some.
[[nodiscard]] DeliveryBody delivery_body(const MessageList& messages);

}  // namespace routemaster
