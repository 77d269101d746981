/// @file
/// What follows from a job, as a worker elsewhere says when it ends the job.

#pragma once

#include "routemaster/follow_ups.hpp"
#include "routemaster/result.hpp"
#include "routemaster/server/http_api.hpp"
#include "routemaster/time.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// The `pushes` and `publications` of a JSON object; both may be missing. `invalid`, naming the
/// list, the place in it and the field, when something is wrong with one of them.
[[nodiscard]] Result<FollowUps> follow_ups(const Value& payload, const HttpApiOptions& options,
                                           TimePoint now);

}  // namespace routemaster::api
