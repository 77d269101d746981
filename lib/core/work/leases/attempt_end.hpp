/// @file
/// The step that ends an attempt of a worker elsewhere.

#pragma once

#include <utility>
#include <variant>

#include "routemaster/job.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/retry_policy.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// What ends an attempt. The reply of each is a `Settlement`, or has one.
using EndStep = std::variant<AckJob, CompleteJob, ReleaseJob, FailJob>;

/// Without a time of its own, a job that failed runs again as the policy says, of which `chance`
/// from [0, 1) decides the jitter; one that is released, at once.
[[nodiscard]] EndStep step_of(AttemptEnd end, Lease lease, const RetryPolicy& retry, TimePoint now,
                              double chance);

/// The same as any step.
[[nodiscard]] inline Step any_step(EndStep step) {
    return std::visit([](auto& one) { return Step{std::move(one)}; }, step);
}

}  // namespace routemaster::detail
