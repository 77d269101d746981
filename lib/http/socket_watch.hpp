/// @file
/// Waits for sockets, and to be woken: epoll with an eventfd in it.

#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

namespace routemaster::detail {

/// An epoll set that keeps no account of its own: what it watches, the kernel alone knows. A socket
/// may be closed, and its number given to another, without a word to it.
///
/// Thread safety: `wake` from any thread, all others from one.
class SocketWatch {
public:
    /// Throws `Failure` when the process has no descriptors left.
    SocketWatch();
    ~SocketWatch();

    SocketWatch(const SocketWatch&) = delete;
    SocketWatch& operator=(const SocketWatch&) = delete;

    /// Watches `socket` for `events` (of epoll), 0 for none. Says why the kernel refuses.
    [[nodiscard]] std::error_code want(int socket, std::uint32_t events) const;

    /// Sleeps until something happens, `wake` is called, or `milliseconds` are over (-1: never).
    /// Calls `happened(socket, events)` for each socket. An error means that the set is of no use
    /// any more.
    template <class Happened>
    [[nodiscard]] std::error_code wait(int milliseconds, Happened happened) const {
        std::array<epoll_event, ready_max> ready;
        const int count = collect(ready, milliseconds);
        if (count < 0) return {-count, std::generic_category()};
        for (const auto& event : std::span{ready}.first(static_cast<std::size_t>(count))) {
            if (event.data.fd == wake_) {
                hear();
            } else {
                happened(event.data.fd, event.events);
            }
        }
        return {};
    }

    /// Ends the present `wait`, or else the next.
    void wake() const;

private:
    static constexpr std::size_t ready_max = 256;  ///< Further sockets wait for the next round.

    /// How many are ready, or the error, negative.
    [[nodiscard]] int collect(std::span<epoll_event> ready, int milliseconds) const;
    void hear() const;

    int epoll_ = -1;
    int wake_ = -1;
};

}  // namespace routemaster::detail
