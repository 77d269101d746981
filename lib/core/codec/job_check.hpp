/// @file
/// What no job may be, whoever pushes it.

#pragma once

#include "routemaster/job.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// `invalid`, naming the field, for a job that could not be decoded again, or that would be another
/// one to whoever reads it as JSON.
[[nodiscard]] Result<void> check_job(const Job& job);

}  // namespace routemaster::detail
