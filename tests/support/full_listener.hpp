/// @file
/// `FullListener`: a port where connecting takes for ever.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace routemaster::test {

/// Listens with a full queue, by default on a free port of 127.0.0.1. Linux drops further attempts
/// to connect, so they get no reply, as from a dead machine.
class FullListener {
public:
    explicit FullListener(std::uint32_t host = INADDR_LOOPBACK, std::uint16_t port = 0) {
        address_.sin_family = AF_INET;
        address_.sin_addr.s_addr = htonl(host);
        address_.sin_port = htons(port);
        socklen_t size = sizeof address_;
        const int listener = open();
        if (::bind(listener, any(), size) != 0 || ::listen(listener, 0) != 0 ||
            ::getsockname(listener, any(), &size) != 0) {
            throw std::runtime_error{"cannot listen"};
        }
        // A queue of length 0 takes one connection. Two more connections fill the queue for
        // certain.
        for (int i = 0; i < 3; ++i) ::connect(open(), any(), size);
    }
    ~FullListener() {
        for (const int socket : sockets_) ::close(socket);
    }
    FullListener(const FullListener&) = delete;
    FullListener& operator=(const FullListener&) = delete;

    [[nodiscard]] std::uint16_t port() const { return ntohs(address_.sin_port); }

private:
    int open() {
        sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        return sockets_.back();
    }
    sockaddr* any() { return reinterpret_cast<sockaddr*>(&address_); }

    sockaddr_in address_{};
    std::vector<int> sockets_;
};

}  // namespace routemaster::test
