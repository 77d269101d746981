/// @file
/// Parser for follow-ups: the pushes, publications and timers that a remote worker sends when it
/// completes a job or confirms a timer.

#pragma once

#include "exchange.hpp"
#include "routemaster/follow_ups.hpp"
#include "routemaster/result.hpp"
#include "routemaster/server/http_api.hpp"
#include "routemaster/time.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// Parses the optional lists `pushes`, `publications` and `timers` of a JSON object. If an element
/// is wrong, the error is `invalid`, and names the list, the index and the field.
[[nodiscard]] Result<FollowUps> follow_ups(const Value& payload, const HttpApiOptions& options,
                                           TimePoint now);

/// Responds with the error of a step that completes a job or timer together with its follow-ups.
/// The client is root, so an error about the publisher of an event must be a 403. A 401 would refer
/// to the token of the request.
void refuse_completion(Exchange& exchange, const Error& error);

}  // namespace routemaster::api
