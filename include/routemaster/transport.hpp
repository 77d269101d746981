/// @file
/// `Transport`: the interface that delivers batches to callbacks.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/spare_thread.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// One attempt to deliver a batch.
struct Delivery {
    Uid batch{};
    std::string subscriber{};   ///< The token of the subscriber.
    std::string callback{};     ///< The callback of the subscription.
    std::string uuid{};         ///< The user name to send to the callback.
    std::uint32_t attempt = 1;  ///< 1 for the first attempt.
    TimePoint created_at{};     ///< When the batch's first event was accepted.
    MessageList messages{};     ///< Encoded events, in order.
    /// Whether recent deliveries to this subscriber have failed. A delivery to an unhealthy
    /// subscriber should not delay deliveries to other subscribers.
    bool unhealthy = false;
};

/// The result of a delivery attempt.
struct DeliveryReport {
    /// Success, or an error whose text is logged.
    Result<void> outcome{};
    /// Number of messages that were omitted, because they could not be decoded.
    std::uint64_t undecodable = 0;
    /// The delivery failed because the process has no callback with this name.
    bool unnamed = false;
    /// Used only after a failure: no retry can succeed. If the subscriber has
    /// `dead_letters()`, the batch becomes DEAD at once. Otherwise the batch is retried, as
    /// after any failure.
    bool permanent = false;
};

/// Callback that receives the result of a delivery, once, on any thread.
using DeliveryDone = std::function<void(DeliveryReport)>;

/// Interface that delivers batches: over HTTP, to callbacks in the process, or in tests.
///
/// Thread safety: all members may be called from any thread.
class Transport {
public:
    virtual ~Transport() = default;

    /// Whether this transport can deliver to `callback`.
    [[nodiscard]] virtual bool serves(std::string_view callback) const = 0;

    /// Returns the destinations to which the transport can deliver now, in the form of
    /// `AcquireJobs::destinations`. A dispatcher acquires only deliveries to these destinations.
    /// The default is every URL.
    [[nodiscard]] virtual std::vector<std::string> destinations() const { return {std::string{}}; }

    /// Called by each dispatcher at its first poll, to announce that it uses this transport.
    virtual void attach() {}

    /// Begins a delivery and returns at once. Calls `done` exactly once, inside this call or later.
    /// If the transport is destroyed first, `done` gets `cancelled`.
    virtual void deliver(Delivery delivery, DeliveryDone done) = 0;

    /// Cancels the delivery of a batch, and calls `done` with `cancelled` inside this call. Returns
    /// false if its callback runs in this process, because it cannot be interrupted: the caller
    /// must wait for `done`. Otherwise returns true, even if the transport cannot cancel.
    [[nodiscard]] virtual bool withdraw(const Uid& batch) {
        static_cast<void>(batch);
        return true;
    }

    /// Returns why the transport cannot deliver anything now; empty if it can. May be called from
    /// any thread.
    [[nodiscard]] virtual std::optional<std::string> trouble() const { return std::nullopt; }

    /// Returns a thread of the transport on which a dispatcher may be polled while few deliveries
    /// are in flight. Null, the default: there is none.
    [[nodiscard]] virtual SpareThread* spare_thread() { return nullptr; }
};

}  // namespace routemaster
