/// @file
/// `SocketWatch`: an epoll set with sockets and a waker.

#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

#include "core/system/waker.hpp"

namespace routemaster::detail {

/// Wrapper of an epoll set. It stores no list of sockets, so a socket may be closed, and its number
/// reused, without a call of `want`.
///
/// Thread safety: one thread.
class SocketWatch {
public:
    /// `waker` must outlive this object. Throws `Failure` if the process has no descriptor left.
    explicit SocketWatch(const Waker& waker);
    ~SocketWatch();

    SocketWatch(const SocketWatch&) = delete;
    SocketWatch& operator=(const SocketWatch&) = delete;

    /// Watches `socket` for `events` (epoll flags). 0 removes the socket. Returns the error if the
    /// kernel rejects it.
    [[nodiscard]] std::error_code want(int socket, std::uint32_t events) const;

    /// Sleeps until a socket is ready, the waker is signalled, or `milliseconds` have passed (-1:
    /// no timeout). Calls `happened(socket, events)` for each ready socket. After an error the set
    /// is unusable.
    template <class Happened>
    [[nodiscard]] std::error_code wait(int milliseconds, Happened happened) const {
        std::array<epoll_event, ready_max> ready;
        const int count = collect(ready, milliseconds);
        if (count < 0) return {-count, std::generic_category()};
        for (const auto& event : std::span{ready}.first(static_cast<std::size_t>(count))) {
            if (event.data.fd != waker_) happened(event.data.fd, event.events);
        }
        return {};
    }

private:
    /// Further ready sockets are reported by the next call.
    static constexpr std::size_t ready_max = 256;

    [[nodiscard]] int collect(std::span<epoll_event> ready, int milliseconds) const;

    const int epoll_;
    const int waker_;
};

}  // namespace routemaster::detail
