#include "socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cstring>

namespace routemaster::redis {

namespace {

void set(int descriptor, int level, int option, int value) {
    // The result is ignored. If the kernel lacks the option, a lost connection is only detected
    // later.
    static_cast<void>(::setsockopt(descriptor, level, option, &value, sizeof value));
}

bool same(const SocketAddress& a, const SocketAddress& b) {
    return a.size == b.size && std::memcmp(&a.storage, &b.storage, a.size) == 0;
}

}  // namespace

Result<Socket> Socket::connect(const SocketAddress& address, Duration timeout) {
    Socket socket{
        ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const int descriptor = socket.descriptor();
    if (descriptor < 0) return Error{Errc::unavailable, "socket: " + errno_text()};
    set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
    set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 15);
    set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(timeout.count()));
    if (::connect(descriptor, address.get(), address.size) != 0 && errno != EINPROGRESS) {
        return Error{Errc::unavailable, errno_text()};
    }
    return socket;
}

Result<bool> Socket::is_connected() const {
    int failure = 0;
    socklen_t size = sizeof failure;
    if (::getsockopt(descriptor(), SOL_SOCKET, SO_ERROR, &failure, &size) != 0) failure = errno;
    if (failure != 0) return Error{Errc::unavailable, errno_text(failure)};

    SocketAddress here;
    SocketAddress there;
    here.size = there.size = sizeof here.storage;
    const auto any = [](SocketAddress& a) { return reinterpret_cast<sockaddr*>(&a.storage); };
    if (::getpeername(descriptor(), any(there), &there.size) != 0) return false;
    // If nothing listens on a local port, the kernel may choose this port as the local port of the
    // connection. The socket is then connected to itself.
    if (::getsockname(descriptor(), any(here), &here.size) == 0 && same(here, there)) {
        return Error{Errc::unavailable, errno_text(ECONNREFUSED)};
    }
    return true;
}

}  // namespace routemaster::redis
