/// @file
/// Why a batch of events is not delivered yet.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "routemaster/queued_batch.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster {

/// Why a queued batch is not delivered to its subscriber yet.
struct BatchExplanation {
    QueuedBatch batch{};
    std::string callback{};       ///< The subscriber's callback; empty when the subscriber is gone.
    std::optional<Uid> before{};  ///< The subscriber's first batch, unless this batch is the first.
    /// How many batches of the subscriber may be under way at once.
    std::uint32_t max_in_flight = 1;
    /// Workers that deliver batches. `handling` counts the workers that have registered the
    /// callback, or that deliver to URLs.
    QueueWorkers workers{};
    TimePoint now{};  ///< When the explanation was made; `to_text` computes ages from it.

    friend bool operator==(const BatchExplanation&, const BatchExplanation&) = default;
};

/// Returns the explanation as a clause: "no process that delivers has the callback 'local:audit'
/// registered". If the batch waits for its next attempt, the clause also says why the last attempt
/// failed.
[[nodiscard]] std::string to_text(const BatchExplanation& explanation);

}  // namespace routemaster
