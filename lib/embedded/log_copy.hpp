/// @file
/// Copies a damaged SQLite log, which may contain the only copy of acknowledged events.

#pragma once

#include <filesystem>

namespace routemaster::embedded {

/// Copies `log` to the first free name of `LOG.damaged`, `LOG.damaged-2`, ..., readable only by its
/// owner, and syncs the copy. Returns the path of the copy. Never overwrites a file. On error
/// throws `Failure` and leaves no copy.
std::filesystem::path copy_damaged_log(const std::filesystem::path& log);

}  // namespace routemaster::embedded
