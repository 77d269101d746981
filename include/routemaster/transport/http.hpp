/// @file
/// Delivers batches as Ruby Routemaster does: one POST of a JSON array for each.

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
    /// Of both limits, up to a tenth is taken off by the id of the batch, so that deliveries which
    /// began together do not end together.
    Duration connect_timeout{2'000};
    Duration total_timeout{20'000};  ///< From the first byte sent to the last received.
    bool verify_tls = true;          ///< Off: neither the peer's certificate nor its name counts.
    bool allow_http = false;         ///< Off: only https callbacks are served.
    bool allow_loopback = false;     ///< Off: connecting to this very machine is refused.
    /// Where connections go instead of straight to callbacks: `http://`, `https://` or
    /// `socks5h://`, with a port. Empty: nowhere else. Variables of the environment (`https_proxy`)
    /// count for nothing.
    std::string proxy{};
    std::string user_agent = "routemaster-faraday-0.11.0";  ///< Receivers may look at it.
    std::size_t connections_max = 1'024;  ///< Kept open at most; deliveries beyond it wait.
    /// Bytes of an answer that are read before it fails, of all that it consists of: interim
    /// answers, headers, body and trailers.
    std::size_t response_max = 1U << 20U;
    /// How much of it may be headers, which are held in memory until its end: each line counts as
    /// its bytes and 64.
    std::size_t head_max = 1U << 16U;
    /// Statuses that are permanent failures; see `DeliveryReport`. From 300 to 599.
    std::vector<int> permanent_statuses{410};
    Log log{};
};

/// What an `HttpTransport` would not take: `invalid`, with the name of the option.
[[nodiscard]] Result<void> check(const HttpTransportOptions& options);

/// Delivers over HTTP/1.1, or HTTP/2 where TLS negotiates it, on libcurl's multi interface.
///
/// Any status from 200 to 299 is success; redirects are not followed and are failures, and so is
/// any other, for good if it is one of `permanent_statuses`. The body of
/// an answer is ignored. All deliveries share one thread and one pool of kept-alive connections.
/// With `allow_loopback` off, the address is checked when the connection is made, after name
/// resolution, so a name that resolves to this machine is refused as well: to its loopback
/// interface, or to an address of another one, which is known a second after the interface got it.
/// With a proxy only the host in the callback can be looked at: addresses and `localhost` are
/// refused, and a name that the proxy resolves to this machine is not.
///
/// Names are looked up as the machine does it, on up to 32 threads, and used for a minute; for nine
/// more while they are looked up again. Deliveries that need no lookup never wait for one.
///
/// Each POST carries `Routemaster-Batch`, `Routemaster-Attempt` and `Routemaster-Age` (milliseconds
/// since the batch's first event was taken in), so that a receiver can tell a repetition.
///
/// Thread safety: all members may be called from any thread.
class HttpTransport final : public Transport {
public:
    /// Throws `Failure` when `check` complains, and when libcurl cannot be set up.
    explicit HttpTransport(HttpTransportOptions options = {});

    /// Cancels what is under way.
    ~HttpTransport() override;

    [[nodiscard]] bool serves(std::string_view callback) const override;
    void deliver(Delivery delivery, DeliveryDone done) override;

    /// Also when the process has no descriptor left for another connection. What broke inside is
    /// made anew by itself, at most once a second; what was under way then has failed as
    /// `unavailable`, and what came later waits.
    [[nodiscard]] std::optional<std::string> trouble() const override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
