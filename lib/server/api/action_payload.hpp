/// @file
/// Reads the actions of timers from the JSON of clients.

#pragma once

#include "exchange.hpp"
#include "routemaster/result.hpp"
#include "routemaster/timer_action.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// The action in a JSON value. The options determine the settings that a client must not choose.
/// `invalid`, naming the field, if the value is not an action, or the action can never succeed.
[[nodiscard]] Result<TimerAction> client_action(const Value& payload,
                                                const HttpApiOptions& options);

}  // namespace routemaster::api
