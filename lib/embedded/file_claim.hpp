/// @file
/// `FileClaim`: excludes a second use of a file within the process.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <utility>

namespace routemaster::embedded {

/// Claims a file for one object of this process, from construction to destruction. The claim is on
/// the inode, so the path does not matter. File locks do not exclude a second use within a process.
///
/// Thread safe.
class FileClaim {
public:
    /// Throws `Failure` with `unavailable` if the file is claimed already, or is missing.
    explicit FileClaim(const std::filesystem::path& file);
    ~FileClaim();

    /// Whether `path` leads to the claimed file.
    [[nodiscard]] bool stands_at(const std::filesystem::path& path) const noexcept;

    FileClaim(const FileClaim&) = delete;
    FileClaim& operator=(const FileClaim&) = delete;

private:
    std::pair<dev_t, ino_t> identity_;
};

}  // namespace routemaster::embedded
