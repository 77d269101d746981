/// @file
/// `FileDescriptor`: an owned file or socket.

#pragma once

#include <unistd.h>

#include <utility>

namespace routemaster::detail {

/// Owner of a file descriptor, closed by the destructor; -1 means none. Thread safety: a value.
class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int descriptor) noexcept : descriptor_{descriptor} {}
    FileDescriptor(FileDescriptor&& other) noexcept : descriptor_{other.release()} {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~FileDescriptor() { close(); }

    [[nodiscard]] int get() const noexcept { return descriptor_; }
    explicit operator bool() const noexcept { return descriptor_ >= 0; }

    /// Returns the descriptor without closing it. The caller must close it.
    [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

    void close() noexcept {
        if (descriptor_ >= 0) ::close(release());
    }

private:
    int descriptor_ = -1;
};

}  // namespace routemaster::detail
