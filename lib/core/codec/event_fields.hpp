/// @file
/// Events as clients publish them, and as actions of timers keep them.

#pragma once

#include <optional>
#include <string>

#include "routemaster/event.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {

/// The event that a JSON object describes. `invalid`, naming the field, when something is wrong
/// with the types; what they contain is checked when it is published. Without a type it has that of
/// `otherwise`, if there is one, else it is `invalid`.
[[nodiscard]] Result<Event> read_event(std::string topic, const Value& payload,
                                       std::optional<EventType> otherwise = {});

}  // namespace routemaster::detail
