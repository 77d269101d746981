#include "socket_watch.hpp"

#include <unistd.h>

#include <cerrno>

#include "routemaster/error.hpp"

namespace routemaster::detail {

SocketWatch::SocketWatch(const Waker& waker)
    : epoll_{epoll_create1(EPOLL_CLOEXEC)}, waker_{waker.descriptor()} {
    // With EPOLLET epoll reports each wake-up once, so the eventfd need not be read.
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.fd = waker_}};
    if (epoll_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, waker_, &event) != 0) {
        const Error error{Errc::unavailable, "epoll: " + std::generic_category().message(errno)};
        if (epoll_ >= 0) close(epoll_);
        throw Failure{error};
    }
}

SocketWatch::~SocketWatch() { close(epoll_); }

std::error_code SocketWatch::want(int socket, std::uint32_t events) const {
    epoll_event event{.events = events, .data = {.fd = socket}};
    if (events == 0) {
        // The error for a closed socket is ignored, because the kernel has already removed it.
        epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, &event);
        return {};
    }
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) == 0) return {};
    if (errno == EEXIST && epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event) == 0) return {};
    return {errno, std::generic_category()};
}

int SocketWatch::collect(std::span<epoll_event> ready, int milliseconds) const {
    const int count =
        epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), milliseconds);
    if (count >= 0) return count;
    return errno == EINTR ? 0 : -errno;
}

}  // namespace routemaster::detail
