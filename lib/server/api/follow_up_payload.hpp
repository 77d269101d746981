/// @file
/// Follow-ups of a job or a timer: the pushes, publications and timers that a remote worker
/// requests when it ends the job or timer.

#pragma once

#include "exchange.hpp"
#include "routemaster/follow_ups.hpp"
#include "routemaster/result.hpp"
#include "routemaster/server/http_api.hpp"
#include "routemaster/time.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// The `pushes`, `publications` and `timers` of a JSON object. All are optional. If an element is
/// wrong, the error is `invalid`, and names the list, the index and the field.
[[nodiscard]] Result<FollowUps> follow_ups(const Value& payload, const HttpApiOptions& options,
                                           TimePoint now);

/// Responds with the error of an attempt to end a job or a timer with follow-ups. The client is
/// root. Therefore an error about the publisher of an event is a 403, not a 401 about the token of
/// the request.
void refuse_completion(Exchange& exchange, const Error& error);

}  // namespace routemaster::api
