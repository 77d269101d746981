/// @file
/// `FileClaim`: lets a process open a file once.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <utility>

namespace routemaster::embedded {

/// Claims a file, whatever name it has. The locks on a file that keep other processes away do not
/// work within one process.
class FileClaim {
public:
    /// Throws `Failure` with `unavailable` when it is claimed already, or not there.
    explicit FileClaim(const std::filesystem::path& file);
    ~FileClaim();

    /// Whether the file is still at that path.
    [[nodiscard]] bool stands_at(const std::filesystem::path& path) const noexcept;

    FileClaim(const FileClaim&) = delete;
    FileClaim& operator=(const FileClaim&) = delete;

private:
    std::pair<dev_t, ino_t> identity_;
};

}  // namespace routemaster::embedded
