/// @file
/// `QueuedBatch`: a batch of events that waits, or is under way.

#pragma once

#include <optional>
#include <string>

#include "routemaster/batch.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// A queued batch and the state of its delivery.
struct QueuedBatch {
    BatchStatus status{};
    /// SCHEDULED until `run_at`. READY when the batch is due, even if batches of its ordering group
    /// go first. PENDING while the batch is under way. On Redis, if more than 10,000 deliveries are
    /// READY, a batch under way may be listed as READY.
    JobStatus::State delivery = JobStatus::State::ready;
    std::optional<TimePoint> run_at{};  ///< The time of the next attempt, if SCHEDULED.
    /// The error of the last attempt, at most `dead_error_max` bytes; empty before the first
    /// failure. The embedded store does not keep the error on disk. On Redis the error is kept for
    /// a day.
    std::string error{};

    friend bool operator==(const QueuedBatch&, const QueuedBatch&) = default;
};

/// The reply to an action on a queued batch.
enum class BatchAction {
    done,
    unknown,    ///< The subscriber has no queued batch with this id; nothing was changed.
    under_way,  ///< A worker is delivering the batch; nothing was changed.
};

}  // namespace routemaster
