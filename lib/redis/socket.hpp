/// @file
/// Non-blocking TCP sockets.

#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "core/system/file_descriptor.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"

namespace routemaster::redis {

[[nodiscard]] inline std::string errno_text(int code = errno) {
    return std::generic_category().message(code);
}

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;

    [[nodiscard]] const sockaddr* get() const noexcept {
        return reinterpret_cast<const sockaddr*>(&storage);
    }
};

class Socket {
public:
    /// Starts to connect. Small writes are sent at once. A lost peer is detected by keep-alive
    /// probes when the connection is idle, and otherwise after `timeout` when the peer does not
    /// acknowledge data.
    [[nodiscard]] static Result<Socket> connect(const SocketAddress& address, Duration timeout);

    [[nodiscard]] Result<bool> is_connected() const;

    [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

private:
    explicit Socket(int descriptor) noexcept : descriptor_{descriptor} {}

    detail::FileDescriptor descriptor_;
};

}  // namespace routemaster::redis
