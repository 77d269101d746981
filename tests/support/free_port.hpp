/// @file
/// Free ports for servers in tests.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "routemaster/entropy.hpp"
#include "routemaster/random.hpp"

namespace routemaster::test {

/// Whether a port of this machine is free.
[[nodiscard]] inline bool is_free(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool free = ::bind(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
    ::close(socket);
    return free;
}

/// A free port of this machine, outside the range from which the kernel picks ports for connecting
/// sockets.
[[nodiscard]] inline std::uint16_t free_port() {
    static Random random{entropy()};
    constexpr std::uint16_t first = 12'000;
    constexpr std::uint64_t count = 20'000;
    while (true) {
        const auto port = static_cast<std::uint16_t>(first + random.below(count));
        if (is_free(port)) return port;
    }
}

}  // namespace routemaster::test
