/// @file
/// Builds the step that ends a failed attempt, for all kinds of workers.

#pragma once

#include <optional>
#include <string>

#include "routemaster/job.hpp"
#include "routemaster/retry_policy.hpp"
#include "routemaster/store/step/jobs.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

struct AttemptFailure {
    std::string error;
    std::optional<Duration> wait{};  ///< Until the next attempt. Absent: by the retry policy.
    bool bury = false;               ///< True: the job is BURIED without another attempt.
};

/// Builds the step for a failure, by the retry policy. `chance`, a random number in [0, 1),
/// determines the jitter of the delay.
[[nodiscard]] FailJob fail_job(Lease lease, const AttemptFailure& failure,
                               const RetryPolicy& policy, TimePoint now, double chance);

}  // namespace routemaster::detail
