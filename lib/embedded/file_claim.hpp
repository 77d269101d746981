/// @file
/// `FileClaim`: lets a process open a file once.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <utility>

namespace routemaster::embedded {

/// Claims a file for its holder, under whatever name others know it. The locks of a file that keep
/// other processes away do not tell the holders within a process from each other.
class FileClaim {
public:
    /// Throws `Failure` with `unavailable` when it is claimed, or is not there.
    explicit FileClaim(const std::filesystem::path& file);
    ~FileClaim();

    /// Whether the file still stands at that path.
    [[nodiscard]] bool stands_at(const std::filesystem::path& path) const noexcept;

    FileClaim(const FileClaim&) = delete;
    FileClaim& operator=(const FileClaim&) = delete;

private:
    std::pair<dev_t, ino_t> identity_;
};

}  // namespace routemaster::embedded
