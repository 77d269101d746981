/// @file
/// Events as clients publish them.

#pragma once

#include <string>

#include "routemaster/event.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// The event that a JSON object describes. `invalid`, naming the field, when something is wrong
/// with the types; what they contain is checked when it is published.
[[nodiscard]] Result<Event> read_event(std::string topic, const Value& payload);

}  // namespace routemaster::api
