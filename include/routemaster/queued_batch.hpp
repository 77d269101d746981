/// @file
/// What a store says of a batch that waits, or is under way.

#pragma once

#include <optional>
#include <string>

#include "routemaster/batch.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// A queued batch, and how far its delivery is.
struct QueuedBatch {
    BatchStatus status{};
    /// SCHEDULED until `run_at`; READY when it is due, though others of its ordering group may be
    /// before it; PENDING while it is under way. On Redis, while more than 10,000 deliveries are
    /// READY, one under way may be listed as READY.
    JobStatus::State delivery = JobStatus::State::ready;
    std::optional<TimePoint> run_at{};  ///< Of the next attempt, if SCHEDULED.
    /// Why the last attempt failed, at most `dead_error_max` bytes; empty before a failure. It is
    /// not kept on disk, and on Redis for a day.
    std::string error{};

    friend bool operator==(const QueuedBatch&, const QueuedBatch&) = default;
};

/// What became of an action on a queued batch.
enum class BatchAction {
    done,
    unknown,    ///< The subscriber has no queued batch of that id; nothing was changed.
    under_way,  ///< A worker has it; nothing was changed.
};

}  // namespace routemaster
