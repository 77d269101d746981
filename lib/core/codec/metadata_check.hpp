/// @file
/// Validates the metadata of a job.

#pragma once

#include <cstddef>

#include "routemaster/job_metadata.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// Validates metadata: `invalid` beyond the limits. The library itself added `added` of the
/// entries. An error text counts only the caller's entries.
[[nodiscard]] Result<void> check_metadata(const JobMetadata& metadata, std::size_t added = 0);

}  // namespace routemaster::detail
