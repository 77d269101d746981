/// @file
/// `QueuedBatch`: a batch of events that waits for its delivery, or is in flight.

#pragma once

#include <optional>
#include <string>

#include "routemaster/batch.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// A queued batch and its delivery state.
struct QueuedBatch {
    BatchStatus status{};
    /// SCHEDULED until `run_at`. READY when the batch is due, even if it waits for earlier batches
    /// of its subscriber. PENDING while the batch is in flight. On Redis, if more than 10,000
    /// deliveries are READY, a batch in flight may be listed as READY.
    JobStatus::State delivery = JobStatus::State::ready;
    std::optional<TimePoint> run_at{};  ///< Time of the next attempt, if SCHEDULED.
    /// The error of the last attempt, at most `dead_error_max` bytes. Empty before the first
    /// failure. The embedded store does not write the error to disk. Redis retains the error for a
    /// day.
    std::string error{};

    friend bool operator==(const QueuedBatch&, const QueuedBatch&) = default;
};

/// The reply to a manual operation on a queued batch.
enum class BatchAction {
    done,
    unknown,    ///< The subscriber has no queued batch with this id; nothing was changed.
    under_way,  ///< A worker is delivering the batch; nothing was changed.
};

}  // namespace routemaster
