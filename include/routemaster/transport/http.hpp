/// @file
/// `HttpTransport`: delivers batches as Ruby Routemaster does, each in one POST of a JSON array.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "routemaster/transport.hpp"

namespace routemaster {

/// Settings of an `HttpTransport`. The defaults are Ruby Routemaster's.
struct HttpTransportOptions {
    /// Both timeouts are shortened by up to a tenth. First, by an amount that depends on the id of
    /// the batch, so that deliveries that began together do not all time out together. Second, to a
    /// multiple of up to 512 ms, so that some deliveries do time out together. Each separate
    /// timeout costs an iteration of the event loop, which may delay healthy deliveries.
    Duration connect_timeout{2'000};  ///< For name lookup, connection, and TLS handshake.
    Duration total_timeout{20'000};   ///< For the whole delivery, to the last byte of the response.
    bool verify_tls = true;           ///< False: neither the certificate nor its name is verified.
    bool allow_http = false;          ///< False: serves only https callbacks.
    bool allow_loopback = false;      ///< False: refuses to connect to this machine.
    /// The proxy for all connections: `http://`, `https://` or `socks5h://`, with a port. Empty: no
    /// proxy. Environment variables (`https_proxy`) are ignored.
    std::string proxy{};
    /// Allows HTTP/2 over TLS. Only for receivers that the operator trusts, because libcurl and
    /// nghttp2 do not bound the processor time that an HTTP/2 receiver can cost. A receiver that
    /// floods its connection with GOAWAY or PING frames can delay all other deliveries for seconds.
    /// False: TLS offers the receiver only HTTP/1.1 (ALPN).
    bool http2 = false;
    std::string user_agent = "routemaster-faraday-0.11.0";  ///< Receivers may check this header.
    /// Maximum number of deliveries in flight, and separately of `unhealthy` deliveries
    /// (`Delivery::unhealthy`) in flight. Further deliveries are queued; the time in the queue does
    /// not count for the timeouts. Over HTTP/1.1 each delivery in flight has its own connection.
    /// Over HTTP/2 deliveries to one host share a connection.
    std::size_t in_flight_max = 1'024;
    /// Maximum number of connections kept alive, in use or idle, and separately for `unhealthy`
    /// deliveries. Beyond this limit, the connections that have been idle for longest are closed.
    /// This setting does not limit the number of deliveries. But if it is less than
    /// `in_flight_max`, no idle connection is kept alive while many deliveries are in flight.
    std::size_t connections_kept_max = 1'024;
    /// Maximum size of a response, in bytes: interim responses, headers, body and trailers. A
    /// delivery with a larger response fails. Also limits the bytes on the wire, including chunk
    /// headers, frames and TLS records, to 512 KiB, plus four times `response_max`, plus twice the
    /// body of the request. In this second limit, each chunk counts 512 bytes more than its size,
    /// each read 1 KiB more, and each TLS message after the handshake 64 KiB more.
    std::size_t response_max = 1U << 20U;
    /// Maximum size of a response's headers, in bytes. Headers are buffered until the response
    /// ends, and each line counts 64 bytes in addition to its size.
    std::size_t head_max = 1U << 16U;
    /// Statuses that are permanent failures; see `DeliveryReport`. From 300 to 599.
    std::vector<int> permanent_statuses{410};
    Log log{};
};

/// Validates the options. If the constructor of `HttpTransport` would reject an option, the error
/// is `invalid` and names the option.
[[nodiscard]] Result<void> check(const HttpTransportOptions& options);

/// Transport over HTTP/1.1, by libcurl's multi interface. With the option `http2`, also over
/// HTTP/2, to receivers with which TLS negotiates HTTP/2. HTTP/2 is disabled if libcurl uses
/// another TLS library than the OpenSSL library of this program.
///
/// **Results.** A status from 200 to 299 is success. Any other status is a failure, including
/// redirects, which are not followed. A status in `permanent_statuses` is a permanent failure. The
/// body of a response is ignored; it may be chunked, but not compressed.
///
/// **Threads.** All deliveries share one thread and one pool of kept-alive connections, except
/// `unhealthy` deliveries. These have a separate thread with the lowest priority and a separate
/// pool, so that they do not delay the others.
///
/// **This machine.** If `allow_loopback` is false, the address is checked when connecting, after
/// name resolution. Therefore a name is rejected, too, if it resolves to this machine: to its
/// loopback interface, or to an address of another interface, which is known a second after it was
/// assigned. With a proxy, only the host in the callback can be checked. Addresses of this machine
/// and `localhost` are rejected, but not a name that the proxy resolves to this machine.
///
/// **Names.** Names are resolved by the system's resolver, on up to 32 threads, and up to 32 more
/// threads for `unhealthy` deliveries. Addresses are cached for a minute. For nine further minutes
/// they are still used, while they are looked up again. A delivery with cached addresses never
/// waits for a lookup. The addresses of a host are tried in order, IPv4 and IPv6 concurrently: the
/// first for about half of `connect_timeout`, the next for about half of the remaining time.
///
/// **Descriptors.** A transport uses about eight file descriptors, and one for each connection in
/// use or idle: at most twice the greater of `in_flight_max` and `connections_kept_max`, plus one
/// for each delivery that tries IPv4 and IPv6 concurrently. If the process has no descriptor or
/// memory left for a socket or a name lookup, idle connections are closed, and deliveries wait for
/// up to `total_timeout`. Then they fail as `unavailable`.
///
/// **Headers.** Each POST has the headers `Routemaster-Batch`, `Routemaster-Attempt` and
/// `Routemaster-Age` (milliseconds since the batch's first event was accepted), by which a receiver
/// can recognise a repeated delivery.
///
/// Thread safety: all members may be called from any thread.
class HttpTransport final : public Transport {
public:
    /// Throws `Failure` if `check` fails, or if libcurl cannot be initialised.
    explicit HttpTransport(HttpTransportOptions options = {});

    /// Cancels the deliveries in flight. Inside a completion, of the transport or of a store,
    /// terminates the program with a message.
    ~HttpTransport() override;

    [[nodiscard]] bool serves(std::string_view callback) const override;
    void deliver(Delivery delivery, DeliveryDone done) override;

    /// Also reports when the process has no file descriptor left for another connection. After an
    /// internal error, the transport recreates its libcurl handles, at most once a second.
    /// Deliveries in flight then fail as `unavailable`, and later deliveries wait.
    [[nodiscard]] std::optional<std::string> trouble() const override;

    [[nodiscard]] SpareThread* spare_thread() override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
