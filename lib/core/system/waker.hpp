/// @file
/// `Waker`: wakes a thread that sleeps in `poll` or `epoll_wait`.

#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "routemaster/error.hpp"

namespace routemaster::detail {

/// Wake-up event of a thread, implemented by an eventfd. It must outlive all callers of `wake`.
///
/// Thread safety: all members may be called from any thread.
class Waker {
public:
    /// Throws `Failure` when the process may not open another file descriptor.
    Waker() : descriptor_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
        if (descriptor_ < 0) {
            throw Failure{
                {Errc::unavailable, "eventfd: " + std::generic_category().message(errno)}};
        }
    }
    ~Waker() { ::close(descriptor_); }

    Waker(const Waker&) = delete;
    Waker& operator=(const Waker&) = delete;

    void wake() noexcept {
        const std::uint64_t call = 1;
        [[maybe_unused]] const auto size = ::write(descriptor_, &call, sizeof call);
    }

    /// Resets the event. The descriptor is then no longer readable.
    void rest() noexcept {
        std::uint64_t calls = 0;
        [[maybe_unused]] const auto size = ::read(descriptor_, &calls, sizeof calls);
    }

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

}  // namespace routemaster::detail
