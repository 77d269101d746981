/// @file
/// Resolves symbolic links in the path of a file.

#pragma once

#include <filesystem>

namespace routemaster::embedded {

/// The absolute path of a file, without symbolic links. The file may be missing. Auxiliary files of
/// a journal are created beside the file itself, not beside a link to it. Returns `path` unchanged
/// if it cannot be resolved, as for circular links.
[[nodiscard]] std::filesystem::path real_path(const std::filesystem::path& path);

}  // namespace routemaster::embedded
