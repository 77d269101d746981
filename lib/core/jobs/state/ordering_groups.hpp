/// @file
/// `OrderingGroups`: decides which jobs of an ordering group may be acquired.

#pragma once

#include <cstdint>

#include "core/jobs/state/job_places.hpp"
#include "core/jobs/state/job_state.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Scheduler of ordering groups. Makes the first jobs of each group *eligible*, which means that
/// workers may acquire them. The other jobs of the group are *blocked*. A *detached* job is in the
/// index of its queue, but in none of the lists of SCHEDULED, READY, PENDING or BURIED jobs.
///
/// Not thread safe.
class OrderingGroups {
public:
    /// `places` must outlive the object.
    explicit OrderingGroups(JobPlaces& places) : places_{places} {}

    void set_now(TimePoint now) noexcept { now_ = now; }

    static void join(GroupedJob& job);
    /// Appends a job with an id to its group. Must be called once the due time of the job has come,
    /// and while the job is detached. The group adopts the concurrency that the job requests.
    void enter(GroupedJob& job);
    /// Removes a detached job from its group. Does nothing if the job is not in the group's list. A
    /// group of jobs with ids then adopts the concurrency that its last job requests.
    void leave(GroupedJob& job);

    /// Adjusts the eligible jobs of a group to `limit()`. Below the limit, blocked jobs become
    /// eligible. Above the limit, the last eligible jobs become blocked. PENDING jobs stay PENDING.
    void fit(OrderingGroup& group);

    /// Sets how many jobs of a group may run at once. PENDING jobs stay PENDING.
    void set_concurrency(OrderingGroup& group, std::uint32_t concurrency);

    void narrow(OrderingGroup& group, std::uint32_t most);

    /// Adjusts the window of a group: one job more after a success, two fewer after a failure, at
    /// most `most`. Failures do not shrink the window below its initial value. A window that was
    /// narrowed below this value grows even after failures. Otherwise a job that never succeeds
    /// would block the group.
    void adapt(OrderingGroup& group, bool success, std::uint32_t most);

private:
    static void append(GroupedJob& job);
    static void hold_back(GroupedJob& job);

    JobPlaces& places_;
    TimePoint now_{};
};

}  // namespace routemaster::detail
