/// @file
/// The seam to subscribers: a transport carries one batch to one callback and says how it went.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "routemaster/batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// One attempt to hand a batch over.
struct Delivery {
    Uid batch{};
    std::string subscriber{};   ///< Whom it is for.
    std::string callback{};     ///< Where it goes, as the subscriber asked.
    std::string uuid{};         ///< The user name to present.
    std::uint32_t attempt = 1;  ///< 1 for the first.
    TimePoint created_at{};     ///< When the batch's first event was taken in.
    MessageList messages{};     ///< Encoded events, in order.
};

/// How an attempt went.
struct DeliveryReport {
    /// Success, or why not. The text goes to the log.
    Result<void> outcome{};
    /// Messages that could not be decoded and were therefore left out.
    std::uint64_t undecodable = 0;
    /// It failed because the program has named no such callback.
    bool unnamed = false;
    /// With a failure: no further attempt will succeed. The batch becomes DEAD at once when its
    /// subscriber `dead_letters()`, and comes again as after any failure when it does not.
    bool permanent = false;
};

/// Is told how a delivery went, once, from any thread.
using DeliveryDone = std::function<void(DeliveryReport)>;

/// Carries batches. Implemented over HTTP, for callbacks in the process, and for tests.
///
/// Thread safety: all members may be called from any thread.
class Transport {
public:
    virtual ~Transport() = default;

    /// Whether this transport can reach `callback`.
    [[nodiscard]] virtual bool serves(std::string_view callback) const = 0;

    /// Begins a delivery and returns at once. Calls `done` exactly once: inside this call, or
    /// later, or, as `cancelled`, when the transport is destroyed first.
    virtual void deliver(Delivery delivery, DeliveryDone done) = 0;

    /// Says that nobody waits for the delivery of a batch any more. False when somebody must: a
    /// callback in this process is running, cannot be stopped, and will be reported. Then it
    /// answers false until `done` has returned. What it takes back it reports as `cancelled`,
    /// inside this call; a transport that takes nothing back answers true.
    [[nodiscard]] virtual bool withdraw(const Uid& batch) {
        static_cast<void>(batch);
        return true;
    }

    /// Why it cannot deliver anything now; nothing when it can. Any thread.
    [[nodiscard]] virtual std::optional<std::string> trouble() const { return std::nullopt; }
};

}  // namespace routemaster
