/// @file
/// The event that a publisher sends.

#pragma once

#include <cstddef>
#include <string>

#include "routemaster/event.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// The event that `payload`, a JSON object, describes for `topic`, checked in every respect. Its
/// data may take `data_max` bytes of MessagePack. `invalid`, naming the field, otherwise.
[[nodiscard]] Result<Event> event_of(std::string topic, const Value& payload, std::size_t data_max);

}  // namespace routemaster::api
