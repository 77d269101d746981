/// @file
/// Parser for timer actions in the JSON of clients.

#pragma once

#include "exchange.hpp"
#include "routemaster/result.hpp"
#include "routemaster/timer_action.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// Parses a timer action. Settings that a client must not choose are copied from the options.
/// `invalid`, naming the field, if the value is not an action, or if the action can never succeed.
[[nodiscard]] Result<TimerAction> client_action(const Value& payload,
                                                const HttpApiOptions& options);

}  // namespace routemaster::api
