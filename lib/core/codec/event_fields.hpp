/// @file
/// Events as published by clients, and as stored in actions of timers.

#pragma once

#include <optional>
#include <string>

#include "routemaster/event.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {

/// The event described by a JSON object. `invalid`, naming the field, for wrong types; the contents
/// are checked by the publication. Without a type, the event gets the type `otherwise`, or is
/// `invalid` if there is no `otherwise`.
[[nodiscard]] Result<Event> read_event(std::string topic, const Value& payload,
                                       std::optional<EventType> otherwise = {});

}  // namespace routemaster::detail
