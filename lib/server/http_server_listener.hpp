/// @file
/// The listening socket, and the number of its connections.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "core/system/file_descriptor.hpp"

namespace routemaster::detail {

/// Listens at one address and counts the connections that it accepts.
///
/// Thread safety: `ended`, `full`, `overfull` and `port` from any thread, everything else from one.
class Listener {
public:
    /// Throws `Failure`: `invalid` for an address that is not a numeric IPv4 or IPv6 address,
    /// `unavailable` when it cannot be listened at. Both name address and port.
    Listener(const std::string& address, std::uint16_t port, unsigned connections_max);

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

    /// The next client; none when nobody waits, or when the process is `exhausted`. The caller
    /// checks whether the listener is `full`.
    [[nodiscard]] FileDescriptor accept();

    /// Whether as many connections are open as may be.
    [[nodiscard]] bool full() const noexcept {
        return open_.load(std::memory_order_relaxed) >= connections_max_;
    }

    /// Whether more are open, because another one is about to give way.
    [[nodiscard]] bool overfull() const noexcept {
        return open_.load(std::memory_order_relaxed) > connections_max_;
    }

    /// Whether the last `accept` failed although clients wait: the process or the machine lacks
    /// descriptors or memory that other connections use.
    [[nodiscard]] bool exhausted() const noexcept { return exhausted_; }

    /// Counts a connection that `accept` returned as closed.
    void ended() noexcept { open_.fetch_sub(1, std::memory_order_relaxed); }

    /// Listens no more; the port is free.
    void close() noexcept { socket_.close(); }

private:
    FileDescriptor socket_;
    std::uint16_t port_ = 0;
    unsigned connections_max_;
    bool exhausted_ = false;
    std::atomic<unsigned> open_{0};
};

}  // namespace routemaster::detail
