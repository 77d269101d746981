/// @file
/// Jobs as pushed by clients, and as stored in actions of timers.

#pragma once

#include <string>

#include "routemaster/push_options.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {

/// The job described by a JSON value. `invalid`, naming the field, for wrong types or bounds; the
/// rest is for `JobQueue::check`.
[[nodiscard]] Result<JobPush> job_push(const Value& payload);

struct QueuedPush {
    std::string queue;
    JobPush push;
};

/// As `job_push`, for a value with a `queue`.
[[nodiscard]] Result<QueuedPush> queued_push(const Value& payload);

}  // namespace routemaster::detail
