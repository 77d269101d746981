/// @file
/// `Transport`: delivers a batch to a callback, and reports the result.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/spare_thread.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// One attempt to deliver a batch.
struct Delivery {
    Uid batch{};
    std::string subscriber{};   ///< The subscriber's token.
    std::string callback{};     ///< The callback of the subscription.
    std::string uuid{};         ///< The user name to present to the callback.
    std::uint32_t attempt = 1;  ///< 1 for the first attempt.
    TimePoint created_at{};     ///< When the batch's first event was accepted.
    MessageList messages{};     ///< Encoded events, in order.
    /// Recent deliveries to this subscriber have failed. The delivery should not delay deliveries
    /// to other subscribers.
    bool unhealthy = false;
};

/// The result of an attempt.
struct DeliveryReport {
    /// Success, or the error; its text is logged.
    Result<void> outcome{};
    /// Messages that were left out, because they could not be decoded.
    std::uint64_t undecodable = 0;
    /// The delivery failed because the program has registered no callback with this name.
    bool unnamed = false;
    /// Read with a failure: no further attempt will succeed. If the subscriber has
    /// `dead_letters()`, the batch becomes DEAD at once; else the batch is retried, as after any
    /// failure.
    bool permanent = false;
};

/// Receives the result of a delivery, once, from any thread.
using DeliveryDone = std::function<void(DeliveryReport)>;

/// Delivers batches. Implemented over HTTP, for callbacks in the process, and for tests.
///
/// Thread safety: all members may be called from any thread.
class Transport {
public:
    virtual ~Transport() = default;

    /// Whether this transport can reach `callback`.
    [[nodiscard]] virtual bool serves(std::string_view callback) const = 0;

    /// The destinations that the transport can reach now, in the form of
    /// `AcquireJobs::destinations`. A dispatcher acquires only deliveries to these destinations.
    /// The default is every URL.
    [[nodiscard]] virtual std::vector<std::string> destinations() const { return {std::string{}}; }

    /// Called by each dispatcher at its first poll: from now on the dispatcher uses this transport.
    virtual void attach() {}

    /// Begins a delivery and returns at once. Calls `done` exactly once: inside this call, or
    /// later, or with `cancelled` if the transport is destroyed first.
    virtual void deliver(Delivery delivery, DeliveryDone done) = 0;

    /// Cancels the delivery of a batch, and reports `cancelled` to `done` inside this call. Returns
    /// false if a callback in this process is running: it cannot be stopped, and the caller must
    /// wait for `done`. Else returns true, even if the transport cannot cancel.
    [[nodiscard]] virtual bool withdraw(const Uid& batch) {
        static_cast<void>(batch);
        return true;
    }

    /// Why the transport cannot deliver anything now; nothing if it can. May be called from any
    /// thread.
    [[nodiscard]] virtual std::optional<std::string> trouble() const { return std::nullopt; }

    /// A lent thread: a thread of the transport on which a dispatcher may be polled while few
    /// deliveries are under way. Null, the default: none.
    [[nodiscard]] virtual SpareThread* spare_thread() { return nullptr; }
};

}  // namespace routemaster
