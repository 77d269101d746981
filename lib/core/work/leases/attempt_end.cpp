#include "core/work/leases/attempt_end.hpp"

#include <algorithm>
#include <utility>

#include "core/work/pool/job_verdict.hpp"

namespace routemaster::detail {

EndStep step_of(AttemptEnd end, Lease lease, const RetryPolicy& retry, TimePoint now,
                double chance) {
    switch (end.kind) {
        case AttemptEnd::Kind::done:
            if (end.follow_ups.empty()) return AckJob{std::move(lease)};
            return std::move(end.follow_ups).step(std::move(lease));
        case AttemptEnd::Kind::released: {
            const auto run_at = saturating_add(now, end.retry_after.value_or(Duration{0}));
            return ReleaseJob{std::move(lease), run_at};
        }
        case AttemptEnd::Kind::failed: break;
    }
    const auto attempt = std::max(lease.attempt, 1U);
    const auto wait = end.retry_after.value_or(retry.wait_after(attempt, chance));
    const bool used_up = retry.attempts_max > 0 && attempt >= retry.attempts_max;
    return FailJob{.lease = std::move(lease),
                   .error = kept_text(end.error),
                   .run_at = saturating_add(now, wait),
                   .bury = end.bury || used_up};
}

}  // namespace routemaster::detail
