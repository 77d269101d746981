/// @file
/// `Reserve`: disk space set aside for when the disk is full.

#pragma once

#include <cstdint>
#include <filesystem>

namespace routemaster::embedded {

/// A file beside the journal, `FILE-reserve`, that only takes space, until settling existing jobs
/// needs that. A killed process leaves it, and the next one takes it over.
///
/// Not thread safe.
class Reserve {
public:
    /// At most an eighth of the disk, and of what a file may take. Takes nothing yet.
    Reserve(const std::filesystem::path& journal, std::uint64_t bytes);
    /// Releases the space.
    ~Reserve() { release(); }

    Reserve(const Reserve&) = delete;
    Reserve& operator=(const Reserve&) = delete;

    /// Takes the space. False when the disk has not enough. True without taking any where the file
    /// system cannot set space aside.
    bool take();
    void release() noexcept;
    /// Leaves the file to whoever has the place of the journal now.
    void leave() noexcept { left_ = true; }

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    /// Free bytes of the disk.
    [[nodiscard]] std::uint64_t free_bytes() const;

private:
    std::filesystem::path path_;
    std::uint64_t bytes_;
    bool left_ = false;
};

}  // namespace routemaster::embedded
