/// @file
/// The step to end a failed attempt, for all kinds of workers.

#pragma once

#include <optional>
#include <string>

#include "routemaster/job.hpp"
#include "routemaster/retry_policy.hpp"
#include "routemaster/step/jobs.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Why an attempt failed, and how to go on.
struct AttemptFailure {
    std::string error;
    std::optional<Duration> wait{};  ///< Until the next attempt. Absent: as the policy says.
    bool bury = false;               ///< There is no next attempt.
};

/// The step for this failure, by the policy. `chance` from [0, 1) decides the jitter of the wait.
[[nodiscard]] FailJob fail_job(Lease lease, const AttemptFailure& failure,
                               const RetryPolicy& policy, TimePoint now, double chance);

}  // namespace routemaster::detail
