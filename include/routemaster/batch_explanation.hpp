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

/// What keeps a queued batch from its subscriber.
struct BatchExplanation {
    QueuedBatch batch{};
    std::string callback{};           ///< Of the subscriber; empty when the subscriber is gone.
    std::optional<Uid> before{};      ///< The first batch of the subscriber, unless it is this one.
    std::uint32_t max_in_flight = 1;  ///< Batches of the subscriber that may be under way at once.
    /// The workers that deliver, and of these the ones that have the callback registered, or
    /// deliver to URLs.
    QueueWorkers workers{};
    TimePoint now{};  ///< The instant of the explanation, for the ages in its text.

    friend bool operator==(const BatchExplanation&, const BatchExplanation&) = default;
};

/// The explanation as a clause: "no process that delivers has the callback 'local:audit'
/// registered". A batch that waits for its next attempt also says why the last one failed.
[[nodiscard]] std::string to_text(const BatchExplanation& explanation);

}  // namespace routemaster
