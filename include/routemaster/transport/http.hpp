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
    /// Both timeouts are shortened by up to a tenth. First by a part that depends on the id of the
    /// batch, because deliveries that begin together should not all end together. Then to a
    /// multiple of up to 512 ms, because some deliveries should end together: each end may delay a
    /// healthy delivery.
    Duration connect_timeout{2'000};  ///< For the name lookup, the connection, and TLS.
    Duration total_timeout{20'000};   ///< For the whole delivery, to the last byte of the response.
    bool verify_tls = true;       ///< False: checks neither the peer's certificate nor its name.
    bool allow_http = false;      ///< False: serves only https callbacks.
    bool allow_loopback = false;  ///< False: refuses to connect to this machine.
    /// The proxy for all connections: `http://`, `https://` or `socks5h://`, with a port. Empty: no
    /// proxy. Environment variables (`https_proxy`) are ignored.
    std::string proxy{};
    /// Allows HTTP/2 over TLS. Only for receivers that the operator trusts: libcurl and nghttp2 do
    /// not bound the processor time that a receiver of HTTP/2 can cost. A receiver that floods its
    /// connection with GOAWAY or PING frames can delay all other deliveries for seconds. False: TLS
    /// offers the receiver only HTTP/1.1 (ALPN).
    bool http2 = false;
    std::string user_agent = "routemaster-faraday-0.11.0";  ///< Receivers may check this header.
    /// Deliveries under way at once, and as many `unhealthy` deliveries (`Delivery::unhealthy`)
    /// besides. Further deliveries wait; this wait does not count for the timeouts. Over HTTP/1.1
    /// each delivery under way has its own connection; over HTTP/2 deliveries to one host share a
    /// connection.
    std::size_t in_flight_max = 1'024;
    /// How many connections to keep, in use or idle, and as many besides for `unhealthy`
    /// deliveries. Beyond this, the connections that are idle for longest are closed. The number of
    /// deliveries is not limited by this setting; but if it is less than `in_flight_max`, no idle
    /// connection is kept while many deliveries are under way.
    std::size_t connections_kept_max = 1'024;
    /// Limit for a response, in bytes; a delivery with a larger response fails. Counts interim
    /// responses, headers, body and trailers. On the wire, including chunks, frames and records, a
    /// response may take 512 KiB, plus four times `response_max`, plus twice the body of the
    /// request; beyond this the connection is closed. There each chunk counts as 512 bytes more
    /// than its size, each read as 1 KiB more, and each TLS message after the handshake as 64 KiB.
    std::size_t response_max = 1U << 20U;
    /// Limit for the headers of a response, in bytes; headers stay in memory until the response
    /// ends. Each line counts with 64 bytes more than its size.
    std::size_t head_max = 1U << 16U;
    /// Statuses that are permanent failures; see `DeliveryReport`. From 300 to 599.
    std::vector<int> permanent_statuses{410};
    Log log{};
};

/// Checks the options. If the constructor of `HttpTransport` would refuse an option, the error is
/// `invalid` and names the option.
[[nodiscard]] Result<void> check(const HttpTransportOptions& options);

/// Delivers over HTTP/1.1, by libcurl's multi interface. If the option `http2` is true: over HTTP/2
/// to receivers with which TLS negotiates HTTP/2, unless libcurl uses another TLS library than this
/// library's OpenSSL.
///
/// **Results.** A status from 200 to 299 is success. Any other status is a failure, including
/// redirects, which are not followed. A status in `permanent_statuses` is a permanent failure. The
/// body of a response is ignored; it may be chunked, but not compressed.
///
/// **Threads.** All deliveries share one thread and one pool of kept-alive connections, except
/// `unhealthy` deliveries: these have a thread of the lowest priority and their own pool, in order
/// not to delay the rest.
///
/// **This machine.** If `allow_loopback` is false, the address is checked at connection, after name
/// resolution. Therefore a name is refused, too, if it resolves to this machine: to its loopback
/// interface, or to an address of another interface, which is known a second after the interface
/// got the address. With a proxy, only the host in the callback can be checked: addresses of this
/// machine and `localhost` are refused, but not a name that the proxy resolves to this machine.
///
/// **Names.** Names are looked up as the machine does, on up to twice 32 threads. Addresses are
/// used for a minute, and for nine minutes more while they are looked up again. A delivery that
/// needs no lookup never waits for a lookup. The addresses of a host are tried in turn, IPv4 and
/// IPv6 side by side: the first for about half of `connect_timeout`, the next for about half of the
/// remaining time.
///
/// **Descriptors.** A transport takes about eight file descriptors, and one for each connection in
/// use or kept: at most twice the greater of `in_flight_max` and `connections_kept_max`, plus one
/// for each delivery that tries IPv4 and IPv6 side by side. If the process has no descriptor or
/// memory left for a socket or a name lookup, deliveries wait for up to `total_timeout`, and kept
/// connections are closed. After this time a delivery fails as `unavailable`.
///
/// **Headers.** Each POST has the headers `Routemaster-Batch`, `Routemaster-Attempt` and
/// `Routemaster-Age` (milliseconds since the batch's first event was accepted), by which a receiver
/// can recognise a repetition.
///
/// Thread safety: all members may be called from any thread.
class HttpTransport final : public Transport {
public:
    /// Throws `Failure` if `check` fails, or if libcurl cannot be set up.
    explicit HttpTransport(HttpTransportOptions options = {});

    /// Cancels the deliveries under way. Inside a completion, of the transport or of a store, ends
    /// the program with a message.
    ~HttpTransport() override;

    [[nodiscard]] bool serves(std::string_view callback) const override;
    void deliver(Delivery delivery, DeliveryDone done) override;

    /// Also reports when the process has no file descriptor left for another connection. After an
    /// internal error the transport rebuilds itself, at most once a second; deliveries under way
    /// then fail as `unavailable`, and later deliveries wait.
    [[nodiscard]] std::optional<std::string> trouble() const override;

    [[nodiscard]] SpareThread* spare_thread() override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
