/// @file
/// Jobs that wait until other jobs are completed.

#pragma once

#include <vector>

#include "core/jobs/state/job_state.hpp"
#include "core/jobs/state/queue_state.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// An error when a push may not wait for a job in its list. `queue` is the queue of the push, null
/// if missing. `last_id` is the last assigned job id.
[[nodiscard]] Result<void> may_wait(const PushJob& step, const QueueState* queue, JobId last_id);

/// Makes a job wait for the existing jobs in `others`. The job must be detached, which means that
/// it is in none of the lists of its queue.
void wait_for(JobState& job, const std::vector<JobId>& others);

/// Undoes `wait_for` for a job that is detached again.
void stop_waiting(JobState& job);

}  // namespace routemaster::detail
