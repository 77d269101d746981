/// @file
/// Validates jobs against limits that hold for every store.

#pragma once

#include "routemaster/job.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// Validates a job. `invalid`, naming the field, if decoding the encoded job would fail, or if a
/// conversion to JSON would change the job.
[[nodiscard]] Result<void> check_job(const Job& job);

}  // namespace routemaster::detail
