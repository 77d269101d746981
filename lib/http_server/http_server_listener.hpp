/// @file
/// `Listener`: the listening socket, and the number of open connections.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "core/system/file_descriptor.hpp"

namespace routemaster::detail {

/// Listening socket that counts the accepted connections.
///
/// Thread safety: `ended`, `full`, `overfull` and `port` may be called from any thread, all other
/// members from one thread.
class Listener {
public:
    /// Throws `Failure`: `invalid` if `address` is not a numeric IPv4 or IPv6 address,
    /// `unavailable` if the server cannot listen on it. The error contains address and port.
    Listener(const std::string& address, std::uint16_t port, unsigned connections_max);

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

    /// Accepts the next client. Returns nothing if no client waits, or if the process is
    /// `exhausted`. The caller must check `full` before.
    [[nodiscard]] FileDescriptor accept();

    [[nodiscard]] bool full() const noexcept {
        return open_.load(std::memory_order_relaxed) >= connections_max_;
    }

    /// Whether more than `connections_max` connections are open, because an evicted connection is
    /// not closed yet.
    [[nodiscard]] bool overfull() const noexcept {
        return open_.load(std::memory_order_relaxed) > connections_max_;
    }

    /// Whether the last `accept` failed because the process or the machine has no descriptor or
    /// memory left.
    [[nodiscard]] bool exhausted() const noexcept { return exhausted_; }

    void ended() noexcept { open_.fetch_sub(1, std::memory_order_relaxed); }

    void close() noexcept { socket_.close(); }

private:
    FileDescriptor socket_;
    std::uint16_t port_ = 0;
    unsigned connections_max_;
    bool exhausted_ = false;
    std::atomic<unsigned> open_{0};
};

}  // namespace routemaster::detail
