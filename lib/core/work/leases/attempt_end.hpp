/// @file
/// The step to end an attempt of a remote worker.

#pragma once

#include <utility>
#include <variant>

#include "routemaster/job.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/retry_policy.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The steps to end an attempt. The reply to each is or contains a `Settlement`.
using EndStep = std::variant<AckJob, CompleteJob, ReleaseJob, FailJob>;

/// The step for the end of an attempt. Without a time in `end`, a failed job runs again as `retry`
/// says, with a jitter decided by `chance` from [0, 1), and a released job runs at once.
[[nodiscard]] EndStep step_of(AttemptEnd end, Lease lease, const RetryPolicy& retry, TimePoint now,
                              double chance);

[[nodiscard]] inline Step any_step(EndStep step) {
    return std::visit([](auto& one) { return Step{std::move(one)}; }, step);
}

}  // namespace routemaster::detail
