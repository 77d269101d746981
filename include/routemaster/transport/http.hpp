/// @file
/// Delivers batches as Ruby Routemaster does: each in one POST of a JSON array.

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

/// Settings of an `HttpTransport`. Defaults are Ruby Routemaster's.
struct HttpTransportOptions {
    /// Both timeouts are reduced by up to a tenth: by the id of the batch, so that deliveries which
    /// began together do not all end together, and to multiples of up to 512 ms, so that some do.
    Duration connect_timeout{2'000};  ///< Of looking up the name, connecting and setting up TLS.
    Duration total_timeout{20'000};   ///< Of all of it: to the last byte of the answer.
    bool verify_tls = true;           ///< Off: checks neither the peer's certificate nor its name.
    bool allow_http = false;          ///< Off: serves only https callbacks.
    bool allow_loopback = false;      ///< Off: refuses to connect to this machine.
    /// The proxy for all connections: `http://`, `https://` or `socks5h://`, with a port. Empty:
    /// none. Environment variables (`https_proxy`) are ignored.
    std::string proxy{};
    std::string user_agent = "routemaster-faraday-0.11.0";  ///< Receivers may check it.
    /// Deliveries under way at once, and as many again that are `unhealthy`. More wait for their
    /// turn, which their timeouts do not count. Over HTTP/1.1 each has a connection of its own;
    /// over HTTP/2 those to one host share one.
    std::size_t in_flight_max = 1'024;
    /// Connections, in use or idle, beyond which idle ones are closed, those idle longest first;
    /// and as many again of deliveries that are `unhealthy`. It bounds no deliveries, but with
    /// fewer than `in_flight_max` none is kept while many are under way.
    std::size_t connections_kept_max = 1'024;
    /// Bytes of an answer beyond which the delivery fails, of everything together: interim answers,
    /// headers, body and trailers. On the wire, with chunks, frames and records, an answer may take
    /// 512 KiB, four times `response_max` and twice the body of the request. There each chunk
    /// counts as 512 bytes more than it has, each read as 1 KiB more, and a message of TLS after
    /// the handshake as 64 KiB. Beyond that the connection is closed.
    std::size_t response_max = 1U << 20U;
    /// Bytes of its headers, which stay in memory until its end: each line counts as its bytes and
    /// 64.
    std::size_t head_max = 1U << 16U;
    /// Statuses that are permanent failures; see `DeliveryReport`. From 300 to 599.
    std::vector<int> permanent_statuses{410};
    Log log{};
};

/// `invalid`, naming the option, when an `HttpTransport` would refuse `options`.
[[nodiscard]] Result<void> check(const HttpTransportOptions& options);

/// Delivers over HTTP/1.1, or HTTP/2 where TLS negotiates it, on libcurl's multi interface. With
/// a libcurl that uses another TLS library than the OpenSSL of this one: over HTTP/1.1.
///
/// Any status from 200 to 299 is success; any other is a failure, and so are redirects, which are
/// not followed. A status of `permanent_statuses` is a permanent failure. The body of an answer is
/// ignored; it may be chunked, but not compressed. All deliveries share one thread and one pool of
/// kept-alive connections, but for those that are `unhealthy`: so that they delay no others, they
/// have a thread of the lowest priority, and a pool of their own.
/// With `allow_loopback` off, the address is checked when the connection is made, after name
/// resolution, so a name that resolves to this machine is refused as well: to its loopback
/// interface, or to an address of another one, which is known a second after the interface got it.
/// With a proxy it can check only the host in the callback: it refuses addresses of this machine
/// and `localhost`, but not a name that the proxy resolves to this machine.
///
/// It looks names up as the machine does, on up to twice 32 threads, and uses the addresses for a
/// minute, and for nine more while it looks them up again. Deliveries that need no lookup never
/// wait for one. It tries the addresses of a host one after another, IPv4 and IPv6
/// side by side, the first for about half of `connect_timeout`, the next for about half of what is
/// left.
///
/// Each POST carries `Routemaster-Batch`, `Routemaster-Attempt` and `Routemaster-Age` (milliseconds
/// since the batch's first event was accepted), so that a receiver can recognise a repetition.
///
/// Thread safety: all members may be called from any thread.
class HttpTransport final : public Transport {
public:
    /// Throws `Failure` when `check` fails, or when libcurl cannot be set up.
    explicit HttpTransport(HttpTransportOptions options = {});

    /// Cancels the deliveries under way.
    ~HttpTransport() override;

    [[nodiscard]] bool serves(std::string_view callback) const override;
    void deliver(Delivery delivery, DeliveryDone done) override;

    /// Also when the process has no descriptor left for another connection. A transport that breaks
    /// inside rebuilds itself, at most once a second; deliveries under way then fail as
    /// `unavailable`, and later ones wait.
    [[nodiscard]] std::optional<std::string> trouble() const override;

    [[nodiscard]] SpareThread* spare_thread() override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
