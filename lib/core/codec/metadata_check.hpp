/// @file
/// Limits to the metadata of a job.

#pragma once

#include <cstddef>

#include "routemaster/job_metadata.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// `invalid` for metadata beyond the limits. `added` of the entries were not given by the caller;
/// errors count only the caller's entries.
[[nodiscard]] Result<void> check_metadata(const JobMetadata& metadata, std::size_t added = 0);

}  // namespace routemaster::detail
