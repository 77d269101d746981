/// @file
/// TLS with verified servers, by OpenSSL.

#pragma once

#include <memory>
#include <string>

#include "routemaster/result.hpp"
#include "socket.hpp"
#include "stream.hpp"

struct ssl_ctx_st;

namespace routemaster::redis {

/// The trusted authorities, shared by all connections of a link.
///
/// Thread safety: any number of threads may create streams.
class Tls {
public:
    /// Trusts the authorities in `ca_file`, or the system's authorities when it is empty. Throws
    /// `Failure`: `invalid` when the file cannot be used.
    explicit Tls(const std::string& ca_file);

    /// Makes a stream over a connected socket to `host`, a name or a numeric address. `begin` of
    /// the stream fails unless the server's certificate proves `host`.
    [[nodiscard]] Result<std::unique_ptr<Stream>> stream(Socket socket,
                                                         const std::string& host) const;

private:
    struct Free {
        void operator()(ssl_ctx_st* context) const noexcept;
    };

    std::unique_ptr<ssl_ctx_st, Free> context_;
};

}  // namespace routemaster::redis
