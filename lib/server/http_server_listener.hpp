/// @file
/// The listening socket, and the count of connections that came out of it.

#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "http_server_socket.hpp"

namespace routemaster::detail {

/// A client that was just accepted.
struct Connection {
    Socket socket;
    sockaddr_storage address{};
    socklen_t address_size = 0;
};

/// Listens at one address and admits at most so many connections at a time.
///
/// Thread safety: `ended` and `port` from any thread, everything else from one.
class Listener {
public:
    /// Throws `Failure`: `invalid` for an address that is not a numeric IPv4 or IPv6 address,
    /// `unavailable` when it cannot be listened at. Both name address and port.
    Listener(const std::string& address, std::uint16_t port, unsigned connections_max);

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

    /// The next client. None when nobody waits; none and `exhausted` when somebody may wait, but
    /// there is no room for another connection now.
    [[nodiscard]] std::optional<Connection> accept();

    /// Whether the last `accept` refused for want of room: ask again after a while.
    [[nodiscard]] bool exhausted() const noexcept { return exhausted_; }

    /// A connection that `accept` gave is closed.
    void ended() noexcept { open_.fetch_sub(1, std::memory_order_relaxed); }

    /// Listens no more; the port is free.
    void close() noexcept { socket_.close(); }

private:
    Socket socket_;
    std::uint16_t port_ = 0;
    unsigned connections_max_;
    bool exhausted_ = false;
    std::atomic<unsigned> open_{0};
};

}  // namespace routemaster::detail
