/// @file
/// Where a file really is.

#pragma once

#include <filesystem>

namespace routemaster::embedded {

/// The absolute path of a file, without symbolic links, whether the file exists or not: what stands
/// beside a journal stands beside the file itself, whatever it is called. `path` as it is when that
/// cannot be told, as of links that lead in a circle.
[[nodiscard]] std::filesystem::path real_path(const std::filesystem::path& path);

}  // namespace routemaster::embedded
