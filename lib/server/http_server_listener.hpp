/// @file
/// `Listener`: the listening socket, and the number of its connections.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "core/system/file_descriptor.hpp"

namespace routemaster::detail {

/// Listens at an address and counts the accepted connections.
///
/// Thread safety: `ended`, `full`, `overfull` and `port` may be called from any thread, all further
/// members from one.
class Listener {
public:
    /// Throws `Failure`: `invalid` if `address` is not a numeric IPv4 or IPv6 address,
    /// `unavailable` if the server cannot listen there. The error names address and port.
    Listener(const std::string& address, std::uint16_t port, unsigned connections_max);

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

    /// The next client. Nothing if no client waits, or if the process is `exhausted`. The caller
    /// must check `full` before.
    [[nodiscard]] FileDescriptor accept();

    [[nodiscard]] bool full() const noexcept {
        return open_.load(std::memory_order_relaxed) >= connections_max_;
    }

    /// Whether more than `connections_max` connections are open, because an evicted connection has
    /// not closed yet.
    [[nodiscard]] bool overfull() const noexcept {
        return open_.load(std::memory_order_relaxed) > connections_max_;
    }

    /// Whether the last `accept` failed although clients wait, because the process or the machine
    /// lacks descriptors or memory.
    [[nodiscard]] bool exhausted() const noexcept { return exhausted_; }

    /// Counts a connection of `accept` as closed.
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
