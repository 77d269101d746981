/// @file
/// A copy of a damaged log, which may be all that is left of what was acknowledged.

#pragma once

#include <filesystem>

namespace routemaster::embedded {

/// Copies `log` to the first free name of `LOG.damaged`, `LOG.damaged-2`, ... and syncs the copy,
/// which its owner alone may read. Returns its path. Nothing that stands at such a name is touched.
/// Throws `Failure`; no copy is left then.
std::filesystem::path copy_damaged_log(const std::filesystem::path& log);

}  // namespace routemaster::embedded
