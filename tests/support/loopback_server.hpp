/// @file
/// `LoopbackServer`: serves raw TCP connections, each on its own thread.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace routemaster::test {

/// Listens on 127.0.0.1 until destroyed. Calls `serve` for each connection on a new thread, and
/// closes the connection afterwards. Calls on a connection time out after 20 ms, so that `serve`
/// can check `stopping`. Must be the last member of its owner, because `serve` uses the members of
/// the owner.
class LoopbackServer {
public:
    explicit LoopbackServer(std::function<void(int socket)> serve) : serve_{std::move(serve)} {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, any, size) != 0 || ::listen(listener_, 64) != 0 ||
            ::getsockname(listener_, any, &size) != 0) {
            throw std::runtime_error{"cannot listen"};
        }
        port_ = ntohs(address.sin_port);
        thread_ = std::thread{[this] { accept(); }};
    }

    ~LoopbackServer() {
        stopping_ = true;
        thread_.join();
        for (auto& thread : connections_) thread.join();
        ::close(listener_);
    }

    LoopbackServer(const LoopbackServer&) = delete;
    LoopbackServer& operator=(const LoopbackServer&) = delete;

    /// The URL of the receiver. `scheme` is `http` or `https`.
    [[nodiscard]] std::string url(const std::string& scheme) const {
        return scheme + "://127.0.0.1:" + std::to_string(port_) + "/events";
    }

    [[nodiscard]] bool stopping() const { return stopping_; }
    /// The bytes that `send` has sent over all connections.
    [[nodiscard]] std::size_t sent() const { return sent_; }

    /// Sends all bytes. Returns false when the peer has closed the connection, or the server stops.
    bool send(int socket, std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (stopping_ || (sent < 0 && errno != EAGAIN)) return false;
            if (sent <= 0) continue;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
            sent_ += static_cast<std::size_t>(sent);
        }
        return true;
    }

private:
    void accept() {
        while (!stopping_) {
            pollfd ready{.fd = listener_, .events = POLLIN, .revents = 0};
            if (::poll(&ready, 1, 20) != 1) continue;
            const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket < 0) continue;
            timeval soon{.tv_sec = 0, .tv_usec = 20'000};
            ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
            ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
            connections_.emplace_back([this, socket] {
                serve_(socket);
                ::close(socket);
            });
        }
    }

    std::function<void(int socket)> serve_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<std::size_t> sent_ = 0;
    std::atomic<bool> stopping_ = false;
    std::vector<std::thread> connections_;  ///< Changed by the thread only.
    std::thread thread_;
};

}  // namespace routemaster::test
