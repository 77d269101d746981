/// @file
/// A transport carries one batch to one callback and reports the result.

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
    std::string callback{};     ///< Where it goes: the callback of the subscription.
    std::string uuid{};         ///< The user name to present.
    std::uint32_t attempt = 1;  ///< 1 for the first.
    TimePoint created_at{};     ///< When the batch's first event was accepted.
    MessageList messages{};     ///< Encoded events, in order.
    /// Deliveries to its subscriber have failed: this one should not delay those of others.
    bool unhealthy = false;
};

/// The result of an attempt.
struct DeliveryReport {
    /// Success, or the error, whose text goes to the log.
    Result<void> outcome{};
    /// Messages that could not be decoded and were therefore left out.
    std::uint64_t undecodable = 0;
    /// It failed because the program has registered no such callback.
    bool unnamed = false;
    /// With a failure: no further attempt will succeed. If its subscriber `dead_letters()`, the
    /// batch becomes DEAD at once; else it is retried, as after any failure.
    bool permanent = false;
};

/// Gets the result of a delivery, once, from any thread.
using DeliveryDone = std::function<void(DeliveryReport)>;

/// Carries batches. Implemented over HTTP, for callbacks in the process, and for tests.
///
/// Thread safety: all members may be called from any thread.
class Transport {
public:
    virtual ~Transport() = default;

    /// Whether this transport can reach `callback`.
    [[nodiscard]] virtual bool serves(std::string_view callback) const = 0;

    /// Where it can deliver to now, as `AcquireJobs::destinations` says: a dispatcher acquires
    /// nothing else. By default every URL.
    [[nodiscard]] virtual std::vector<std::string> destinations() const { return {std::string{}}; }

    /// Says that a dispatcher uses it from now on. Each does so at its first poll.
    virtual void attach() {}

    /// Begins a delivery and returns at once. Calls `done` exactly once: inside this call, or
    /// later, or, as `cancelled`, when the transport is destroyed first.
    virtual void deliver(Delivery delivery, DeliveryDone done) = 0;

    /// Cancels the delivery of a batch. Returns false, until `done` has returned, when the caller
    /// must wait for the result: a callback in this process is running and cannot be stopped. A
    /// delivery that it cancels it reports as `cancelled`, inside this call. A transport that
    /// cannot cancel returns true.
    [[nodiscard]] virtual bool withdraw(const Uid& batch) {
        static_cast<void>(batch);
        return true;
    }

    /// Why it cannot deliver anything now; nothing when it can. Any thread.
    [[nodiscard]] virtual std::optional<std::string> trouble() const { return std::nullopt; }

    /// A thread of its own that has time for a dispatcher's turns while few deliveries are under
    /// way. Null, the default: there is none.
    [[nodiscard]] virtual SpareThread* spare_thread() { return nullptr; }
};

}  // namespace routemaster
