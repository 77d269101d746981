/// @file
/// Limits to all jobs.

#pragma once

#include "routemaster/job.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// `invalid`, naming the field, for a job that could not be decoded again, or that would change
/// when converted to JSON.
[[nodiscard]] Result<void> check_job(const Job& job);

}  // namespace routemaster::detail
