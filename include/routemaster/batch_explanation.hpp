/// @file
/// `BatchExplanation`: why a batch of events is not delivered yet.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "routemaster/queued_batch.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster {

/// Diagnosis of a queued batch: why the batch is not delivered to its subscriber yet.
struct BatchExplanation {
    QueuedBatch batch{};
    std::string callback{};  ///< The subscriber's callback; empty when the subscriber was removed.
    std::optional<Uid> before{};  ///< The subscriber's first batch; empty if it is this batch.
    /// The number of the subscriber's batches that may be in flight at once.
    std::uint32_t max_in_flight = 1;
    /// Workers that deliver batches. `handling` counts only workers that can deliver this batch:
    /// workers with the callback registered, or for a URL, workers with an HTTP transport.
    QueueWorkers workers{};
    TimePoint now{};  ///< Time of the diagnosis; `to_text` computes ages from it.

    friend bool operator==(const BatchExplanation&, const BatchExplanation&) = default;
};

/// Formats the explanation as a clause: "no process that delivers has the callback 'local:audit'
/// registered". If the batch waits for a retry, the clause also contains the error of the last
/// attempt.
[[nodiscard]] std::string to_text(const BatchExplanation& explanation);

}  // namespace routemaster
