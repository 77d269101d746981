/// @file
/// The step that ends an attempt that failed, wherever its worker is.

#pragma once

#include <optional>
#include <string>

#include "routemaster/job.hpp"
#include "routemaster/retry_policy.hpp"
#include "routemaster/step/jobs.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Why an attempt failed, and what is to follow.
struct AttemptFailure {
    std::string error;
    std::optional<Duration> wait{};  ///< Until the next attempt. Absent: as the policy says.
    bool bury = false;               ///< There is to be none.
};

/// The step about it, under that policy; `chance` from [0, 1) decides the jitter of the wait.
[[nodiscard]] FailJob fail_job(Lease lease, const AttemptFailure& failure,
                               const RetryPolicy& policy, TimePoint now, double chance);

}  // namespace routemaster::detail
