/// @file
/// Bytes to and from a server, as they are or through TLS.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "routemaster/result.hpp"
#include "socket.hpp"

namespace routemaster::redis {

/// A connected stream of bytes that never blocks. What cannot be done now is done later, when
/// `poll` reports what `wish` asked for. An error is the end of the stream.
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class Stream {
public:
    virtual ~Stream() = default;

    /// Goes on with what the peers have to agree on first; true once that is done.
    [[nodiscard]] virtual Result<bool> begin() = 0;

    /// Takes what has come into `buffer`, and says how much that was; 0: nothing for now. When the
    /// buffer was filled there may be more, which `poll` need not report.
    [[nodiscard]] virtual Result<std::size_t> read(std::span<char> buffer) = 0;

    /// Sends the beginning of `bytes`, and says how much that was; 0: nothing for now. When it was
    /// not all, the next call has to begin with what is left.
    [[nodiscard]] virtual Result<std::size_t> write(std::string_view bytes) = 0;

    /// The events of `poll` to wait for; `writing` when there is something to be written.
    [[nodiscard]] virtual short wish(bool writing) const = 0;

    [[nodiscard]] virtual int descriptor() const = 0;
};

/// The bytes as they are.
[[nodiscard]] std::unique_ptr<Stream> plain_stream(Socket socket);

}  // namespace routemaster::redis
