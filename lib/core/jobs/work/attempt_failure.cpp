#include "core/jobs/work/attempt_failure.hpp"

#include <algorithm>
#include <utility>

#include "core/jobs/work/pool/job_verdict.hpp"

namespace routemaster::detail {

FailJob fail_job(Lease lease, const AttemptFailure& failure, const RetryPolicy& policy,
                 TimePoint now, double chance) {
    const auto attempt = std::max(lease.attempt, 1U);
    const auto wait = failure.wait.value_or(policy.wait_after(attempt, chance));
    const bool used_up = policy.attempts_max > 0 && attempt >= policy.attempts_max;
    return {.lease = std::move(lease),
            .error = kept_text(failure.error),
            .run_at = due_after(wait, now),
            .bury = failure.bury || used_up,
            .time_max = policy.time_max};
}

}  // namespace routemaster::detail
