/// @file
/// `Stream`: bytes to and from a server, with or without TLS.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "routemaster/result.hpp"
#include "socket.hpp"

namespace routemaster::redis {

/// Non-blocking connected byte stream. If an operation cannot proceed, it must be repeated after
/// `poll` has reported an event in `poll_events`. After an error, the stream is unusable.
///
/// Thread safety: one thread, with SIGPIPE blocked.
class Stream {
public:
    virtual ~Stream() = default;

    /// Continues the handshake. Returns true after its last step.
    [[nodiscard]] virtual Result<bool> begin() = 0;

    /// Reads into `buffer`. Returns the number of bytes read, 0 if no bytes are available now. If
    /// the buffer was filled, more bytes may be available without an event from `poll`.
    [[nodiscard]] virtual Result<std::size_t> read(std::span<char> buffer) = 0;

    /// Sends the beginning of `bytes`. Returns the number of bytes sent, 0 if the stream accepts no
    /// bytes now. The next call must begin with the unsent bytes.
    [[nodiscard]] virtual Result<std::size_t> write(std::string_view bytes) = 0;

    /// The events for which to `poll`. `writing` says whether there are bytes to write.
    [[nodiscard]] virtual short poll_events(bool writing) const = 0;

    [[nodiscard]] virtual int descriptor() const = 0;
};

[[nodiscard]] std::unique_ptr<Stream> plain_stream(Socket socket);

}  // namespace routemaster::redis
