#include "http/socket_watch.hpp"

#include <doctest/doctest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

using routemaster::detail::SocketWatch;
using routemaster::detail::Waker;

namespace {

using Events = std::vector<std::pair<int, std::uint32_t>>;

/// The events so far.
Events ready(SocketWatch& watch) {
    Events events;
    const auto error =
        watch.wait(0, [&](int socket, std::uint32_t what) { events.emplace_back(socket, what); });
    CHECK_FALSE(error);
    return events;
}

/// Closes a socket, and opens a descriptor that gets the same number.
int successor(int socket) {
    ::close(socket);
    const int next = ::eventfd(1, EFD_CLOEXEC);
    REQUIRE(next == socket);
    return next;
}

}  // namespace

TEST_CASE("a new socket with the descriptor number of a silently closed socket is watched") {
    const Waker waker;
    SocketWatch watch{waker};
    int socket = ::eventfd(1, EFD_CLOEXEC);
    REQUIRE_FALSE(watch.want(socket, EPOLLOUT));
    socket = successor(socket);
    CHECK_FALSE(watch.want(socket, EPOLLIN));
    CHECK(ready(watch) == Events{{socket, EPOLLIN}});
    socket = successor(socket);
    CHECK(ready(watch).empty());
    CHECK_FALSE(watch.want(socket, EPOLLIN));
    CHECK(ready(watch) == Events{{socket, EPOLLIN}});
    ::close(socket);
}

TEST_CASE("the watched events of a socket can be changed, ended, and begun again") {
    const Waker waker;
    SocketWatch watch{waker};
    const int socket = ::eventfd(1, EFD_CLOEXEC);
    CHECK_FALSE(watch.want(socket, 0));
    CHECK_FALSE(watch.want(socket, EPOLLIN));
    CHECK_FALSE(watch.want(socket, EPOLLIN));
    CHECK_FALSE(watch.want(socket, EPOLLOUT));
    CHECK(ready(watch) == Events{{socket, EPOLLOUT}});
    CHECK_FALSE(watch.want(socket, 0));
    CHECK_FALSE(watch.want(socket, 0));
    CHECK(ready(watch).empty());
    CHECK_FALSE(watch.want(socket, EPOLLIN | EPOLLOUT));
    CHECK(ready(watch) == Events{{socket, EPOLLIN | EPOLLOUT}});
    ::close(socket);
    CHECK_FALSE(watch.want(socket, 0));
    CHECK(watch.want(socket, EPOLLIN));
}
