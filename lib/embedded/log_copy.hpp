/// @file
/// Copies a damaged log, which may be all that is left of acknowledged events.

#pragma once

#include <filesystem>

namespace routemaster::embedded {

/// Copies `log` to the first free name of `LOG.damaged`, `LOG.damaged-2`, ..., readable by its
/// owner alone, and syncs the copy. Returns its path. Never overwrites a file. Throws `Failure`,
/// and leaves no copy then.
std::filesystem::path copy_damaged_log(const std::filesystem::path& log);

}  // namespace routemaster::embedded
