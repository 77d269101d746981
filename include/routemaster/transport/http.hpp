/// @file
/// Delivers batches as the original bus does: one POST of a JSON array for each.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/log.hpp"
#include "routemaster/time.hpp"
#include "routemaster/transport.hpp"

namespace routemaster {

/// Settings of an `HttpTransport`. Defaults are the original's.
struct HttpTransportOptions {
    Duration connect_timeout{2'000};
    Duration total_timeout{20'000};  ///< From the first byte sent to the last received.
    bool verify_tls = true;          ///< Off: neither the peer's certificate nor its name counts.
    bool allow_http = false;         ///< Off: only https callbacks are served.
    bool allow_loopback = false;     ///< Off: connecting to this very machine is refused.
    std::string user_agent = "routemaster-faraday-0.11.0";  ///< Receivers may look at it.
    std::size_t connections_max = 1'024;   ///< Kept open at most; deliveries beyond it wait.
    std::size_t response_max = 1U << 20U;  ///< Bytes of an answer that are read before it fails.
    /// Statuses that are permanent failures; see `DeliveryReport`. From 300 to 599.
    std::vector<int> permanent_statuses{410};
    Log log{};
};

/// Delivers over HTTP/1.1, or HTTP/2 where TLS negotiates it, on libcurl's multi interface.
///
/// Any status from 200 to 299 is success; redirects are not followed and are failures, and so is
/// any other, for good if it is one of `permanent_statuses`. The body of
/// an answer is ignored. All deliveries share one thread and one pool of kept-alive connections.
/// With `allow_loopback` off, the address is checked when the connection is made, after name
/// resolution, so a name that resolves to this machine is refused as well.
///
/// Thread safety: all members may be called from any thread.
class HttpTransport final : public Transport {
public:
    /// Throws `Failure` when libcurl cannot be set up.
    explicit HttpTransport(HttpTransportOptions options = {});

    /// Cancels what is under way.
    ~HttpTransport() override;

    [[nodiscard]] bool serves(std::string_view callback) const override;
    void deliver(Delivery delivery, DeliveryDone done) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
