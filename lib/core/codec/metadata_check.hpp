/// @file
/// What is asked of the metadata of a job.

#pragma once

#include <cstddef>

#include "routemaster/job_metadata.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// `invalid` for metadata that no job may have, of which so many entries were `added` to those that
/// the caller gave: an error counts the caller's.
[[nodiscard]] Result<void> check_metadata(const JobMetadata& metadata, std::size_t added = 0);

}  // namespace routemaster::detail
