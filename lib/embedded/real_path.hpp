/// @file
/// The path of a file without symbolic links.

#pragma once

#include <filesystem>

namespace routemaster::embedded {

/// The absolute path of a file, without symbolic links, whether the file exists or not: the files
/// beside a journal are beside the file itself, not beside a link to it. `path` unchanged when it
/// cannot be resolved, as for links that form a circle.
[[nodiscard]] std::filesystem::path real_path(const std::filesystem::path& path);

}  // namespace routemaster::embedded
