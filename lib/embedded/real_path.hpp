/// @file
/// The path of a file without symbolic links.

#pragma once

#include <filesystem>

namespace routemaster::embedded {

/// The absolute path of a file, without symbolic links. The file may be missing. The files beside a
/// journal are next to the file itself, not next to a link to the file. Returns `path` unchanged if
/// it cannot be resolved, as for circular links.
[[nodiscard]] std::filesystem::path real_path(const std::filesystem::path& path);

}  // namespace routemaster::embedded
