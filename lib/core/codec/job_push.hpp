/// @file
/// Parses jobs from JSON: jobs pushed by clients, and jobs in stored timer actions.

#pragma once

#include <string>

#include "routemaster/push_options.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {

/// Parses a job from a JSON object. `invalid`, naming the field, for wrong types or numbers out of
/// bounds. `JobQueue::check` validates the rest.
[[nodiscard]] Result<JobPush> job_push(const Value& payload);

struct QueuedPush {
    std::string queue;
    JobPush push;
};

[[nodiscard]] Result<QueuedPush> queued_push(const Value& payload);

}  // namespace routemaster::detail
