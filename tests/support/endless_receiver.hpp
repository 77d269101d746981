/// @file
/// `EndlessReceiver`: an HTTP receiver with endless responses.

#pragma once

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>

#include "support/loopback_server.hpp"

namespace routemaster::test {

/// Responds to each request with a beginning, and then repeats a part for ever. Listens on
/// 127.0.0.1 until destroyed.
class EndlessReceiver {
public:
    /// Waits `pause` before each repetition. Without a pause it sends at full speed.
    EndlessReceiver(std::string beginning, std::string part, std::chrono::milliseconds pause = {})
        : beginning_{std::move(beginning)},
          part_{repeated(std::move(part), pause)},
          pause_{pause} {}

    [[nodiscard]] std::string url() const { return server_.url("http"); }

    /// The bytes sent over all connections.
    [[nodiscard]] std::size_t sent() const { return server_.sent(); }

private:
    /// Joins many parts into a block. Otherwise the sender would be the bottleneck.
    static std::string repeated(std::string part, std::chrono::milliseconds pause) {
        constexpr std::size_t block = 65'536;
        if (pause.count() != 0) return part;
        std::string many;
        while (many.size() < block) many += part;
        return many;
    }

    /// Sends until the peer has closed the connection.
    void answer(int socket) {
        bool open = hear(socket) && server_.send(socket, beginning_);
        while (open) {
            if (pause_.count() != 0) std::this_thread::sleep_for(pause_);
            open = server_.send(socket, part_);
        }
    }

    /// Waits for the beginning of a request.
    [[nodiscard]] bool hear(int socket) const {
        std::array<char, 4'096> request;
        while (!server_.stopping()) {
            const auto size = ::recv(socket, request.data(), request.size(), 0);
            if (size > 0) return true;
            if (size == 0 || errno != EAGAIN) return false;
        }
        return false;
    }

    const std::string beginning_;
    const std::string part_;
    const std::chrono::milliseconds pause_;
    LoopbackServer server_{[this](int socket) { answer(socket); }};
};

}  // namespace routemaster::test
