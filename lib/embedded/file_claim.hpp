/// @file
/// `FileClaim`: prevents two objects of a process from using one file.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <utility>

namespace routemaster::embedded {

/// Exclusive claim on a file within this process, from construction to destruction. It is needed
/// because file locks work only between processes. The claim is on the inode, so paths through
/// links count as equal.
///
/// Thread safe.
class FileClaim {
public:
    /// Throws `Failure` with `unavailable` if the file is already claimed, or is missing.
    explicit FileClaim(const std::filesystem::path& file);
    ~FileClaim();

    [[nodiscard]] bool stands_at(const std::filesystem::path& path) const noexcept;

    FileClaim(const FileClaim&) = delete;
    FileClaim& operator=(const FileClaim&) = delete;

private:
    std::pair<dev_t, ino_t> identity_;
};

}  // namespace routemaster::embedded
