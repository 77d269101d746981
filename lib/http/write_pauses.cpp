#include "write_pauses.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace routemaster::detail {

namespace {

std::uint64_t bytes_of(int socket) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
    return info.tcpi_bytes_sent + info.tcpi_bytes_received;
}

}  // namespace

void WritePauses::changed(int socket, bool both_directions) {
    if (both_directions) {
        sockets_[socket] = {};
    } else if (!sockets_.empty()) {
        sockets_.erase(socket);
    }
}

void WritePauses::writable(int socket) {
    if (sockets_.empty()) return;
    const auto place = sockets_.find(socket);
    if (place == sockets_.end()) return;
    Reports& reports = place->second;
    if (++reports.count < reports_max) return;
    const auto bytes = bytes_of(socket);
    if (bytes != reports.bytes) {
        reports = {.bytes = bytes};
        return;
    }
    // If the kernel rejects this, the socket continues to be watched in both directions.
    if (watch_.want(socket, EPOLLIN)) return;
    reports.paused = true;
    ends_.emplace_back(Clock::now() + pause, socket);
}

void WritePauses::advance() {
    while (!ends_.empty() && ends_.front().first <= Clock::now()) {
        const int socket = ends_.front().second;
        ends_.pop_front();
        const auto place = sockets_.find(socket);
        // libcurl may have changed the events in the meantime.
        if (place == sockets_.end() || !place->second.paused) continue;
        place->second.paused = false;
        place->second.count = reports_max - 1;
        (void)watch_.want(socket, EPOLLIN | EPOLLOUT);
    }
}

}  // namespace routemaster::detail
