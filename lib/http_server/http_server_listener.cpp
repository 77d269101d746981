#include "http_server_listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "routemaster/error.hpp"

namespace routemaster::detail {
namespace {

struct Endpoint {
    sockaddr_storage address{};
    socklen_t size = 0;
};

std::string name_of(const std::string& address, std::uint16_t port) {
    const bool ipv6 = address.find(':') != std::string::npos;
    return (ipv6 ? '[' + address + ']' : address) + ':' + std::to_string(port);
}

Endpoint parse(const std::string& address, std::uint16_t port) {
    Endpoint endpoint;
    sockaddr_in ipv4{};
    sockaddr_in6 ipv6{};
    if (inet_pton(AF_INET, address.c_str(), &ipv4.sin_addr) == 1) {
        ipv4.sin_family = AF_INET;
        ipv4.sin_port = htons(port);
        endpoint.size = sizeof ipv4;
        std::memcpy(&endpoint.address, &ipv4, sizeof ipv4);
    } else if (inet_pton(AF_INET6, address.c_str(), &ipv6.sin6_addr) == 1) {
        ipv6.sin6_family = AF_INET6;
        ipv6.sin6_port = htons(port);
        endpoint.size = sizeof ipv6;
        std::memcpy(&endpoint.address, &ipv6, sizeof ipv6);
    } else {
        throw Failure{{Errc::invalid, "listen address " + name_of(address, port) +
                                          ": not a numeric IPv4 or IPv6 address"}};
    }
    return endpoint;
}

std::uint16_t bound_port(int socket) {
    Endpoint endpoint;
    endpoint.size = sizeof endpoint.address;
    getsockname(socket, reinterpret_cast<sockaddr*>(&endpoint.address), &endpoint.size);
    sockaddr_in6 ipv6{};
    sockaddr_in ipv4{};
    std::memcpy(&ipv6, &endpoint.address, sizeof ipv6);
    std::memcpy(&ipv4, &endpoint.address, sizeof ipv4);
    return ntohs(endpoint.address.ss_family == AF_INET6 ? ipv6.sin6_port : ipv4.sin_port);
}

bool out_of_resources(int code) {
    return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}

}  // namespace

Listener::Listener(const std::string& address, std::uint16_t port, unsigned connections_max)
    : connections_max_{connections_max} {
    const Endpoint endpoint = parse(address, port);
    const auto refuse_unless = [&](bool success) {
        if (success) return;
        const std::string reason = std::generic_category().message(errno);
        throw Failure{
            {Errc::unavailable, "cannot listen on " + name_of(address, port) + ": " + reason}};
    };
    socket_ = FileDescriptor{
        ::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    refuse_unless(static_cast<bool>(socket_));
    const int on = 1;
    // Without SO_REUSEADDR, connections in TIME_WAIT would block the port after a restart.
    refuse_unless(setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
    // Disables Nagle's algorithm, because a response must not wait for the acknowledgement of the
    // previous response. Accepted connections inherit the option.
    refuse_unless(setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
    // Limits the unsent bytes of a response in the kernel. The other bytes remain in the server,
    // which counts them in the budget for responses. Accepted connections inherit the option.
    const int unsent_max = 131'072;
    refuse_unless(setsockopt(socket_.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_max,
                             sizeof unsent_max) == 0);
    refuse_unless(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&endpoint.address),
                       endpoint.size) == 0);
    refuse_unless(listen(socket_.get(), SOMAXCONN) == 0);
    port_ = bound_port(socket_.get());
}

FileDescriptor Listener::accept() {
    FileDescriptor client{accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    exhausted_ = !client && out_of_resources(errno);
    if (client) open_.fetch_add(1, std::memory_order_relaxed);
    return client;
}

}  // namespace routemaster::detail
