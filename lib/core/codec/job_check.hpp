/// @file
/// Limits to all jobs.

#pragma once

#include "routemaster/job.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// `invalid`, naming the field, for a job whose encoding cannot be decoded, or whose JSON differs
/// from the job.
[[nodiscard]] Result<void> check_job(const Job& job);

}  // namespace routemaster::detail
