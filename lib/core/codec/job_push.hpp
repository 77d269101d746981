/// @file
/// Jobs as clients push them, and as actions of timers keep them.

#pragma once

#include <string>

#include "routemaster/push_options.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {

/// The job that a JSON value describes. `invalid`, naming the field, when something is wrong with
/// the types or bounds; the rest is for `JobQueue::check`.
[[nodiscard]] Result<JobPush> job_push(const Value& payload);

/// A job with the queue that it is for.
struct QueuedPush {
    std::string queue;
    JobPush push;
};

/// The same of a value that has a `queue`, too.
[[nodiscard]] Result<QueuedPush> queued_push(const Value& payload);

}  // namespace routemaster::detail
