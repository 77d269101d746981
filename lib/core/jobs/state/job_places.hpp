/// @file
/// `JobPlaces`: moves a job between the lists of its queue while the job is not leased.

#pragma once

#include "core/jobs/state/queue_state.hpp"
#include "core/state/wake_ups.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Inserts jobs into the SCHEDULED or READY jobs of their queue, and removes them. A *detached* job
/// is only in the index of its queue, and in none of these lists.
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

    void make_ready(JobState& job);

    void offer(JobState& job);
    static void withdraw(JobState& job);

    /// Detaches and returns the first due SCHEDULED job. Null if no job is due.
    [[nodiscard]] static JobState* take_due(QueueState& queue, TimePoint now);

    /// The largest number of jobs promoted from SCHEDULED to READY by one step. The next step
    /// continues.
    static constexpr int promoted_max = 1'000;

private:
    WakeUps& wake_ups_;
};

}  // namespace routemaster::detail
