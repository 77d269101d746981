/// @file
/// `Descriptor`: a file descriptor that is closed by its destructor.

#pragma once

#include <unistd.h>

#include <utility>

namespace routemaster::service {

/// RAII owner of a file descriptor; -1 means none. Thread safety: a value.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int descriptor) noexcept : descriptor_{descriptor} {}
    Descriptor(Descriptor&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~Descriptor() { close(); }

    [[nodiscard]] int get() const noexcept { return descriptor_; }

    void close() noexcept {
        if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    }

private:
    int descriptor_ = -1;
};

}  // namespace routemaster::service
