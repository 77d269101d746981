/// @file
/// Actions of timers, as clients ask for them.

#pragma once

#include "exchange.hpp"
#include "routemaster/result.hpp"
#include "routemaster/timer_action.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// The action that a JSON value describes. What a client may not decide is as the options say.
/// `invalid`, naming the field, when it is none, or can never be done.
[[nodiscard]] Result<TimerAction> client_action(const Value& payload,
                                                const HttpApiOptions& options);

}  // namespace routemaster::api
