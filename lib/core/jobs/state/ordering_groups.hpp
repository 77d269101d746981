/// @file
/// `OrderingGroups`: decides which jobs of an ordering group may be acquired.

#pragma once

#include <cstdint>

#include "core/jobs/state/job_places.hpp"
#include "core/jobs/state/job_state.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Makes the first jobs of each group *eligible*: workers may acquire them. The remaining jobs are
/// *blocked*. A *detached* job is only in the index of its queue.
///
/// Not thread safe.
class OrderingGroups {
public:
    /// `places` must outlive the object.
    explicit OrderingGroups(JobPlaces& places) : places_{places} {}

    /// Sets the current time for the following calls.
    void set_now(TimePoint now) noexcept { now_ = now; }

    static void join(GroupedJob& job);
    /// Appends a detached job with an id to its group, when the job is due. The group adopts the
    /// concurrency that the job requests.
    void enter(GroupedJob& job);
    /// Removes a detached job from its group. Does nothing if the job is not in it. A group of jobs
    /// with ids then adopts the concurrency that its last job requests.
    void leave(GroupedJob& job);

    /// Adjusts a group to its limit. Below the limit, blocked jobs become eligible. Above it, the
    /// last eligible jobs become blocked. PENDING jobs stay PENDING.
    void fit(OrderingGroup& group);

    /// Sets how many jobs of a group may run at once. PENDING jobs stay PENDING.
    void set_concurrency(OrderingGroup& group, std::uint32_t concurrency);

    /// Makes only the first `most` jobs of a group eligible.
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
