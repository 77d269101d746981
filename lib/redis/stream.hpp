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

/// A connected stream of bytes that never blocks. What cannot be done now is tried again when
/// `poll` reports an event that `poll_events` returned. An error ends the stream.
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class Stream {
public:
    virtual ~Stream() = default;

    /// Continues the peers' handshake; true once that is done.
    [[nodiscard]] virtual Result<bool> begin() = 0;

    /// Reads into `buffer`, and returns how many bytes that were; 0: nothing for now. When the
    /// buffer was filled there may be more, which `poll` need not report.
    [[nodiscard]] virtual Result<std::size_t> read(std::span<char> buffer) = 0;

    /// Sends the beginning of `bytes`, and returns how many that were; 0: none for now. When it was
    /// not all, the next call has to begin with what is left.
    [[nodiscard]] virtual Result<std::size_t> write(std::string_view bytes) = 0;

    /// The events to `poll` for; `writing` when there is something to write.
    [[nodiscard]] virtual short poll_events(bool writing) const = 0;

    [[nodiscard]] virtual int descriptor() const = 0;
};

/// A stream without TLS.
[[nodiscard]] std::unique_ptr<Stream> plain_stream(Socket socket);

}  // namespace routemaster::redis
