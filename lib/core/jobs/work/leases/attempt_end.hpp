/// @file
/// Builds the step that ends an attempt of a remote worker.

#pragma once

#include <utility>
#include <variant>

#include "routemaster/job.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/retry_policy.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The steps that end an attempt. Each reply is or contains a `Settlement`.
using EndStep = std::variant<AckJob, CompleteJob, ReleaseJob, FailJob>;

/// Builds the step that ends an attempt. If `end` has no time, `retry` decides when a failed job is
/// due again, with a jitter determined by `chance`, a random number in [0, 1); a released job is
/// due at once.
[[nodiscard]] EndStep step_of(AttemptEnd end, Lease lease, const RetryPolicy& retry, TimePoint now,
                              double chance);

[[nodiscard]] inline Step any_step(EndStep step) {
    return std::visit([](auto& one) { return Step{std::move(one)}; }, step);
}

}  // namespace routemaster::detail
