/// @file
/// Sees off clients that were answered before they had sent everything.
///
/// Closing a socket that holds unread bytes resets the connection, and the reset destroys the
/// answer that is on its way to the client. So the sending half is closed, and what still comes
/// is read and thrown away until the client has read its answer and closes, or time is up.

#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>

#include "http_server_socket.hpp"

namespace routemaster::detail {

/// The connections that are being seen off by one loop, watched by its epoll.
///
/// Thread safety: one thread.
class Farewells {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    /// Events carry `tag | socket` in their 64 bits of data.
    Farewells(int epoll, std::uint64_t tag) noexcept : epoll_{epoll}, tag_{tag} {}

    /// Takes a second descriptor of `connection`'s socket, which its owner closes as usual.
    void add(int connection, TimePoint now);

    /// There is something to read from `socket`.
    void read(int socket);

    /// Closes those whose time is up; returns when the next one's is.
    std::optional<TimePoint> expire(TimePoint now);

private:
    struct Leaving {
        Socket socket;
        TimePoint until;
    };

    void end(std::list<Leaving>::iterator one);

    int epoll_;
    std::uint64_t tag_;
    std::list<Leaving> leaving_;  ///< The one whose time is up first comes first.
};

}  // namespace routemaster::detail
