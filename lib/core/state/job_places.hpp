/// @file
/// The place of a job in its queue while the job is not leased.

#pragma once

#include "core/state/queue_state.hpp"
#include "core/state/wake_ups.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Puts jobs among the SCHEDULED or READY jobs of their queue, and takes them out. A *detached* job
/// stands in the index of its queue only.
///
/// Not thread safe.
class JobPlaces {
public:
    /// `wake_ups` must outlive the object.
    explicit JobPlaces(WakeUps& wake_ups) : wake_ups_{wake_ups} {}

    /// Makes a detached job SCHEDULED or READY. A job with `waiting` becomes SCHEDULED.
    void place(JobState& job, TimePoint now);
    /// Undoes `place`. Detaches BURIED jobs as well.
    static void displace(JobState& job);

    /// Makes a detached job READY.
    void make_ready(JobState& job);

    /// Puts a READY job into the list for its workers.
    void offer(JobState& job);
    /// Undoes `offer`, even if the job has been throttled since.
    static void withdraw(JobState& job);

    /// Detaches and returns the first due SCHEDULED job; null without a due job.
    [[nodiscard]] static JobState* take_due(QueueState& queue, TimePoint now);

    /// The limit of jobs to promote per step. The next step continues.
    static constexpr int promoted_max = 1'000;

private:
    WakeUps& wake_ups_;
};

}  // namespace routemaster::detail
