/// @file
/// Why a recurring job does not run.

#pragma once

#include <optional>
#include <string>

#include "routemaster/recurring_job.hpp"
#include "routemaster/time.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster {

/// What a recurring job, or a recurring timer, waits for.
struct RecurringExplanation {
    RecurringJob recurring{};
    QueueWorkers schedulers{};  ///< The `RecurringScheduler`s of the store.
    /// The workers of the recurring job's queue that have a handler for it. Absent for a recurring
    /// timer.
    std::optional<QueueWorkers> workers{};
    TimePoint now{};  ///< The time of the explanation, for the ages in its text.

    friend bool operator==(const RecurringExplanation&, const RecurringExplanation&) = default;
};

/// The explanation as a clause: "no scheduler runs; the last one was heard of 3 min ago".
[[nodiscard]] std::string to_text(const RecurringExplanation& explanation);

}  // namespace routemaster
