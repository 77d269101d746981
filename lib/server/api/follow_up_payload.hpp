/// @file
/// What follows from a job or a timer, as who elsewhere ends it says.

#pragma once

#include "exchange.hpp"
#include "routemaster/follow_ups.hpp"
#include "routemaster/result.hpp"
#include "routemaster/server/http_api.hpp"
#include "routemaster/time.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// The `pushes`, `publications` and `timers` of a JSON object; all may be missing. `invalid`,
/// naming the list, the place in it and the field, when something is wrong with one of them.
[[nodiscard]] Result<FollowUps> follow_ups(const Value& payload, const HttpApiOptions& options,
                                           TimePoint now);

/// Answers why something could not be ended together with what follows from it. Root asks, so an
/// event that its publisher may not publish is no question of the token of the request.
void refuse_completion(Exchange& exchange, const Error& error);

}  // namespace routemaster::api
