/// @file
/// `Reserve`: space on the disk that is set aside for when it is full.

#pragma once

#include <cstdint>
#include <filesystem>

namespace routemaster::embedded {

/// A file beside the journal, `FILE-reserve`, that only takes space, until that is needed to settle
/// what there is. A process that is killed leaves it, and the next one takes it over.
///
/// Not thread safe.
class Reserve {
public:
    /// At most an eighth of the disk. Nothing is taken yet.
    Reserve(const std::filesystem::path& journal, std::uint64_t bytes);
    /// Gives it back.
    ~Reserve() { release(); }

    Reserve(const Reserve&) = delete;
    Reserve& operator=(const Reserve&) = delete;

    /// Takes it. False when the disk has no space for it. True as well where the file system cannot
    /// set space aside, and there is none then.
    bool take();
    void release() noexcept;
    /// Leaves it to whoever has the place of the journal now.
    void leave() noexcept { left_ = true; }

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    /// Bytes that the disk has left.
    [[nodiscard]] std::uint64_t free_bytes() const;

private:
    std::filesystem::path path_;
    std::uint64_t bytes_;
    bool left_ = false;
};

}  // namespace routemaster::embedded
