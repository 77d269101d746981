/// @file
/// Ordering groups: which of their jobs may be acquired.

#pragma once

#include <cstdint>

#include "core/state/job_places.hpp"
#include "core/state/job_state.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Makes only the first jobs of each group eligible: they may be acquired. A *detached* job stands
/// in the index of its queue, but in no list of the queue and under no lease.
///
/// Not thread safe.
class OrderingGroups {
public:
    /// `places` must outlive the object.
    explicit OrderingGroups(JobPlaces& places) : places_{places} {}

    /// Sets the time of the following calls.
    void set_now(TimePoint now) noexcept { now_ = now; }

    /// Appends a detached job to its group.
    static void join(GroupedJob& job);
    /// Appends a detached job with an id to its group when the job is due. The group takes its
    /// concurrency.
    void enter(GroupedJob& job);
    /// Takes a detached job out of its group. Does nothing if the job is not in it. A group of jobs
    /// with ids takes the concurrency of its last job.
    void leave(GroupedJob& job);

    /// Makes blocked jobs eligible while the limit allows. If the limit is exceeded, makes the last
    /// eligible jobs blocked again. PENDING jobs stay PENDING.
    void fit(OrderingGroup& group);

    /// Sets how many jobs of a group may run at once. PENDING jobs stay PENDING.
    void set_concurrency(OrderingGroup& group, std::uint32_t concurrency);

    /// Makes only the first `most` jobs of a group eligible.
    void narrow(OrderingGroup& group, std::uint32_t most);

    /// Changes the window of a group: 1 job more after a success, 2 fewer after a failure, at most
    /// `most`. Failures do not push the window below its first value. A window narrowed below this
    /// value grows even after failures: otherwise a job without success would stop the group.
    void adapt(OrderingGroup& group, bool success, std::uint32_t most);

private:
    static void append(GroupedJob& job);
    /// Makes a READY job blocked.
    static void hold_back(GroupedJob& job);

    JobPlaces& places_;
    TimePoint now_{};
};

}  // namespace routemaster::detail
