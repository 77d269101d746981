/// @file
/// An HTTP receiver whose answers have no end.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace routemaster::test {

/// Answers every request with a beginning, and then repeats a part for ever. Listens on 127.0.0.1
/// until destroyed.
class EndlessReceiver {
public:
    /// Waits `pause` before each repetition; without one it sends as fast as it can.
    EndlessReceiver(std::string beginning, std::string part, std::chrono::milliseconds pause = {})
        : beginning_{std::move(beginning)}, part_{std::move(part)}, pause_{pause} {
        if (pause_.count() == 0) {
            // Many at once: otherwise the time goes into the sender.
            std::string many;
            while (many.size() < block) many += part_;
            part_ = std::move(many);
        }
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

    ~EndlessReceiver() {
        stopping_ = true;
        thread_.join();
        for (auto& thread : answers_) thread.join();
        ::close(listener_);
    }

    EndlessReceiver(const EndlessReceiver&) = delete;
    EndlessReceiver& operator=(const EndlessReceiver&) = delete;

    [[nodiscard]] std::string url() const {
        return "http://127.0.0.1:" + std::to_string(port_) + "/events";
    }

    /// Bytes that were sent over all connections.
    [[nodiscard]] std::size_t sent() const { return sent_; }

private:
    static constexpr std::size_t block = 65'536;

    void accept() {
        while (!stopping_) {
            pollfd ready{.fd = listener_, .events = POLLIN, .revents = 0};
            if (::poll(&ready, 1, 20) != 1) continue;
            const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket >= 0) answers_.emplace_back([this, socket] { answer(socket); });
        }
    }

    /// Sends until the peer is gone.
    void answer(int socket) {
        std::array<char, 4'096> request;
        timeval soon{.tv_sec = 0, .tv_usec = 20'000};
        ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
        bool open =
            ::recv(socket, request.data(), request.size(), 0) > 0 && send(socket, beginning_);
        while (open) {
            if (pause_.count() != 0) std::this_thread::sleep_for(pause_);
            open = send(socket, part_);
        }
        ::close(socket);
    }

    bool send(int socket, const std::string& bytes) {
        std::size_t done = 0;
        while (done < bytes.size()) {
            const auto sent =
                ::send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
            if (stopping_ || (sent < 0 && errno != EAGAIN)) return false;
            if (sent > 0) done += static_cast<std::size_t>(sent);
            if (sent > 0) sent_ += static_cast<std::size_t>(sent);
        }
        return true;
    }

    std::string beginning_;
    std::string part_;
    std::chrono::milliseconds pause_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<std::size_t> sent_ = 0;
    std::atomic<bool> stopping_ = false;
    std::vector<std::thread> answers_;  ///< Changed only by the thread.
    std::thread thread_;
};

}  // namespace routemaster::test
