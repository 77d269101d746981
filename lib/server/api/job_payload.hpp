/// @file
/// Jobs as clients push them.

#pragma once

#include "routemaster/job_queue.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// The job that a JSON value describes. `invalid`, naming the field, when something is wrong with
/// the types; what they contain is for `JobQueue::check`.
[[nodiscard]] Result<JobPush> job_push(const Value& payload);

}  // namespace routemaster::api
