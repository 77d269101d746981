/// @file
/// `RecurringExplanation`: why a recurring job does not run.

#pragma once

#include <optional>
#include <string>

#include "routemaster/recurring_job.hpp"
#include "routemaster/time.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster {

/// Diagnosis of a recurring job, or a recurring timer: why nothing is pushed or posted.
struct RecurringExplanation {
    RecurringJob recurring{};
    QueueWorkers schedulers{};  ///< The `RecurringScheduler`s of the store.
    /// The workers of the recurring job's queue, and how many of them have a handler for the job.
    /// Absent for a recurring timer.
    std::optional<QueueWorkers> workers{};
    TimePoint now{};  ///< Time of the diagnosis; `to_text` computes ages from it.

    friend bool operator==(const RecurringExplanation&, const RecurringExplanation&) = default;
};

/// Formats the explanation as a clause: "no scheduler runs; the last one was heard of 3 min ago".
[[nodiscard]] std::string to_text(const RecurringExplanation& explanation);

}  // namespace routemaster
