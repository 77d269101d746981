#include "core/jobs/work/leases/attempt_end.hpp"

#include <utility>

#include "core/jobs/work/attempt_failure.hpp"

namespace routemaster::detail {

EndStep step_of(AttemptEnd end, Lease lease, const RetryPolicy& retry, TimePoint now,
                double chance) {
    switch (end.kind) {
        case AttemptEnd::Kind::done:
            if (end.follow_ups.empty()) return AckJob{std::move(lease)};
            return std::move(end.follow_ups).step(std::move(lease));
        case AttemptEnd::Kind::released: {
            const auto run_at = due_after(end.retry_after.value_or(Duration{0}), now);
            return ReleaseJob{std::move(lease), run_at};
        }
        case AttemptEnd::Kind::failed: break;
    }
    const AttemptFailure failure{std::move(end.error), end.retry_after, end.bury};
    return fail_job(std::move(lease), failure, retry, now, chance);
}

}  // namespace routemaster::detail
