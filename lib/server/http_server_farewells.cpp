#include "http_server_farewells.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace routemaster::detail {
namespace {

constexpr std::chrono::seconds patience{2};
/// Further ones are cut off at once: they are many only under attack.
constexpr std::size_t leaving_max = 256;

}  // namespace

void Farewells::add(int connection, TimePoint now) {
    if (leaving_.size() >= leaving_max) return;
    Socket socket{fcntl(connection, F_DUPFD_CLOEXEC, 0)};
    if (!socket) return;
    ::shutdown(socket.get(), SHUT_WR);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    event.data.u64 = tag_ | static_cast<std::uint64_t>(socket.get());
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, socket.get(), &event) != 0) return;
    leaving_.push_back({std::move(socket), now + patience});
}

void Farewells::read(int socket) {
    static thread_local std::array<char, 65536> scrap;
    const auto got = ::recv(socket, scrap.data(), scrap.size(), 0);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
    const auto one = std::find_if(leaving_.begin(), leaving_.end(),
                                  [&](const auto& each) { return each.socket.get() == socket; });
    if (one != leaving_.end()) end(one);
}

void Farewells::end(std::list<Leaving>::iterator one) {
    // Closing does not take it out of the set while the other descriptor is open.
    epoll_ctl(epoll_, EPOLL_CTL_DEL, one->socket.get(), nullptr);
    leaving_.erase(one);
}

std::optional<Farewells::TimePoint> Farewells::expire(TimePoint now) {
    while (!leaving_.empty() && leaving_.front().until <= now) end(leaving_.begin());
    if (leaving_.empty()) return std::nullopt;
    return leaving_.front().until;
}

}  // namespace routemaster::detail
