/// @file
/// `Reserve`: disk space that is reserved for the time when the disk is full.

#pragma once

#include <cstdint>
#include <filesystem>

namespace routemaster::embedded {

/// File beside the journal, `FILE-reserve`, that only occupies disk space. When the disk is full,
/// the store deletes the file, and uses the space to complete existing jobs. If a process is
/// killed, its file remains, and the next process reuses it.
///
/// Not thread safe.
class Reserve {
public:
    /// Limits `bytes` to an eighth of the disk, and to an eighth of the maximum file size.
    /// Allocates nothing yet.
    Reserve(const std::filesystem::path& journal, std::uint64_t bytes);
    ~Reserve() { release(); }

    Reserve(const Reserve&) = delete;
    Reserve& operator=(const Reserve&) = delete;

    /// Allocates the space. False if the disk has too little space or fails. True without
    /// allocation if the file system cannot reserve space.
    bool take();
    void release() noexcept;
    /// Makes the destructor leave the reserve file on disk, because another process may already be
    /// using the file.
    void leave() noexcept { left_ = true; }

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    [[nodiscard]] std::uint64_t free_bytes() const;

private:
    std::filesystem::path path_;
    std::uint64_t bytes_;
    bool left_ = false;
};

}  // namespace routemaster::embedded
