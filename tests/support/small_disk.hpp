/// @file
/// A file system of a few megabytes, for tests to fill.

#pragma once

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temporary_folder.hpp"

namespace routemaster::test {

/// A separate tmpfs. Mounting needs privileges: check `available` first.
class SmallDisk {
public:
    explicit SmallDisk(int megabytes) {
        const auto size = "size=" + std::to_string(megabytes) + "m";
        available_ = ::mount("tmpfs", path().c_str(), "tmpfs", 0, size.c_str()) == 0;
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk() {
        if (available_) ::umount2(path().c_str(), MNT_DETACH);
    }

    [[nodiscard]] bool available() const noexcept { return available_; }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return folder_.path(); }

    /// Fills a part of the space.
    void fill(int megabytes) const {
        std::ofstream file{path() / "used", std::ios::binary};
        const std::string block(1 << 20, 'x');
        for (int i = 0; i < megabytes; ++i) file << block;
    }

    /// Fills the remaining space.
    void fill_up() const {
        const int file = ::open(ballast().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        const std::string block(4'096, 'x');
        while (::write(file, block.data(), block.size()) > 0) {
        }
        ::close(file);
    }

    /// Frees the space taken by `fill_up`.
    void make_space() const { std::filesystem::remove(ballast()); }

    /// Makes the file system read-only. No file may be open for writing.
    [[nodiscard]] bool make_read_only() const {
        return ::mount("tmpfs", path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "") == 0;
    }

private:
    [[nodiscard]] std::filesystem::path ballast() const { return path() / "ballast"; }

    TemporaryFolder folder_;
    bool available_ = false;
};

}  // namespace routemaster::test
