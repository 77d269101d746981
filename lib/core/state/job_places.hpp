/// @file
/// Where a job stands in its queue while nobody has leased it.

#pragma once

#include "core/state/queue_state.hpp"
#include "core/state/wake_ups.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Puts jobs among the SCHEDULED and the READY ones, and takes them out.
///
/// Not thread safe.
class JobPlaces {
public:
    /// `wake_ups` must outlive it.
    explicit JobPlaces(WakeUps& wake_ups) : wake_ups_{wake_ups} {}

    /// Makes a job that is nowhere SCHEDULED or READY. One that waits for others is SCHEDULED.
    void place(JobState& job, TimePoint now);
    /// Undoes `place`.
    static void displace(JobState& job);

    /// Makes a job that is nowhere READY.
    void make_ready(JobState& job);

    /// Lets a READY job be acquired by those who may.
    void offer(JobState& job);
    /// Undoes `offer`, also of one that was throttled since.
    static void withdraw(JobState& job);

    /// Takes the first SCHEDULED job that is due, which is then nowhere; null when none is.
    [[nodiscard]] static JobState* take_due(QueueState& queue, TimePoint now);

    /// Jobs promoted by one step at most; the rest waits for the next.
    static constexpr int promoted_max = 1'000;

private:
    WakeUps& wake_ups_;
};

}  // namespace routemaster::detail
