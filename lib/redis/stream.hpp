/// @file
/// Bytes to and from a server, plain or through TLS.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "routemaster/result.hpp"
#include "socket.hpp"

namespace routemaster::redis {

/// A connected stream of bytes that never blocks. An operation that cannot proceed is repeated
/// after `poll` has reported an event of `poll_events`. An error ends the stream.
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class Stream {
public:
    virtual ~Stream() = default;

    /// Continues the handshake. Returns true when the handshake is complete.
    [[nodiscard]] virtual Result<bool> begin() = 0;

    /// Reads into `buffer` and returns the number of bytes, 0 when no bytes are available at
    /// present. When the buffer is full, more bytes may be available without an event from `poll`.
    [[nodiscard]] virtual Result<std::size_t> read(std::span<char> buffer) = 0;

    /// Sends the beginning of `bytes` and returns the number of bytes sent, 0 when the stream
    /// accepts no bytes at present. The next call has to begin with the remaining bytes.
    [[nodiscard]] virtual Result<std::size_t> write(std::string_view bytes) = 0;

    /// The events to `poll` for; `writing` when there are bytes to write.
    [[nodiscard]] virtual short poll_events(bool writing) const = 0;

    [[nodiscard]] virtual int descriptor() const = 0;
};

[[nodiscard]] std::unique_ptr<Stream> plain_stream(Socket socket);

}  // namespace routemaster::redis
