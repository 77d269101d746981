/// @file
/// `Tls`: encrypted streams with verified servers, by OpenSSL.

#pragma once

#include <memory>
#include <string>

#include "routemaster/result.hpp"
#include "socket.hpp"
#include "stream.hpp"

struct ssl_ctx_st;

namespace routemaster::redis {

/// The trusted certificate authorities, shared by all connections of a link.
///
/// Thread safety: any number of threads may create streams.
class Tls {
public:
    /// Trusts the authorities in `ca_file`, or the system's authorities if it is empty. Throws
    /// `Failure` with `invalid` when the file cannot be used.
    explicit Tls(const std::string& ca_file);

    /// Creates a stream over a connected socket to `host`, a name or a numeric address. The
    /// stream's `begin` fails unless the server's certificate is valid for `host`.
    [[nodiscard]] Result<std::unique_ptr<Stream>> stream(Socket socket,
                                                         const std::string& host) const;

private:
    struct Free {
        void operator()(ssl_ctx_st* context) const noexcept;
    };

    std::unique_ptr<ssl_ctx_st, Free> context_;
};

}  // namespace routemaster::redis
