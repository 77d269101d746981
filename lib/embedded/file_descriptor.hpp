/// @file
/// An open file that is closed by whoever holds it last.

#pragma once

#include <unistd.h>

#include <utility>

namespace routemaster::embedded {

/// Owns one file descriptor; -1 is none. Thread safety: a value.
class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int descriptor) noexcept : descriptor_{descriptor} {}
    FileDescriptor(FileDescriptor&& other) noexcept
        : descriptor_{std::exchange(other.descriptor_, -1)} {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~FileDescriptor() { close(); }

    [[nodiscard]] int get() const noexcept { return descriptor_; }
    explicit operator bool() const noexcept { return descriptor_ >= 0; }

    void close() noexcept {
        if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    }

private:
    int descriptor_ = -1;
};

}  // namespace routemaster::embedded
