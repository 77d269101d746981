#include "socket_watch.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "routemaster/error.hpp"

namespace routemaster::detail {

SocketWatch::SocketWatch() : epoll_{epoll_create1(EPOLL_CLOEXEC)} {
    wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    epoll_event event{.events = EPOLLIN, .data = {.fd = wake_}};
    if (epoll_ < 0 || wake_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
        const Error error{Errc::unavailable, "epoll: " + std::generic_category().message(errno)};
        if (epoll_ >= 0) close(epoll_);
        if (wake_ >= 0) close(wake_);
        throw Failure{error};
    }
    ready_.resize(ready_max);
}

SocketWatch::~SocketWatch() {
    close(wake_);
    close(epoll_);
}

SocketWatch::Interest& SocketWatch::interest(int socket) {
    const auto index = static_cast<std::size_t>(socket);
    if (index >= interests_.size()) interests_.resize(index + 1);
    return interests_[index];
}

void SocketWatch::opened(int socket) { interest(socket) = {.announced = true}; }

void SocketWatch::closed(int socket) {
    // The kernel forgets a closed socket by itself, unless a forked child holds it open.
    Interest& known = interest(socket);
    if (known.watched != 0) watch(socket, known, 0);
    known = {};
}

bool SocketWatch::want(int socket, std::uint32_t events) {
    Interest& known = interest(socket);
    known.wanted = events;
    if (events == known.watched || (events == 0 && known.announced)) return true;
    return watch(socket, known, events);
}

bool SocketWatch::watch(int socket, Interest& known, std::uint32_t events) {
    const int action = events == 0          ? EPOLL_CTL_DEL
                       : known.watched == 0 ? EPOLL_CTL_ADD
                                            : EPOLL_CTL_MOD;
    epoll_event event{.events = events, .data = {.fd = socket}};
    const bool done = epoll_ctl(epoll_, action, socket, &event) == 0;
    if (done || events == 0) known.watched = events;
    return done;
}

bool SocketWatch::is_wanted(int socket) {
    Interest& known = interest(socket);
    if (known.wanted == 0 && known.watched != 0) watch(socket, known, 0);
    return known.wanted != 0;
}

std::size_t SocketWatch::collect(int milliseconds) {
    std::array<epoll_event, ready_max> events;
    const int count = epoll_wait(epoll_, events.data(), ready_max, milliseconds);
    std::size_t kept = 0;
    for (int i = 0; i < count; ++i) {
        const auto& event = events[static_cast<std::size_t>(i)];
        if (event.data.fd == wake_) {
            std::uint64_t calls = 0;
            [[maybe_unused]] const auto size = read(wake_, &calls, sizeof calls);
        } else {
            ready_[kept++] = {event.data.fd, event.events};
        }
    }
    return kept;
}

void SocketWatch::wake() {
    const std::uint64_t call = 1;
    [[maybe_unused]] const auto size = write(wake_, &call, sizeof call);
}

}  // namespace routemaster::detail
