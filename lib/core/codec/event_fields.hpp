/// @file
/// Parses events from JSON: events published by clients, and events in stored timer actions.

#pragma once

#include <optional>
#include <string>

#include "routemaster/event.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {

/// Parses an event from a JSON object. `invalid`, naming the field, for wrong types; the
/// publication validates the contents later. An event without a type gets the type `otherwise`, or
/// is `invalid` if there is no `otherwise`.
[[nodiscard]] Result<Event> read_event(std::string topic, const Value& payload,
                                       std::optional<EventType> otherwise = {});

}  // namespace routemaster::detail
