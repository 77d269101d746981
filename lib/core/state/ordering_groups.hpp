/// @file
/// Ordering groups: which of their jobs may be acquired.

#pragma once

#include <cstdint>

#include "core/state/job_places.hpp"
#include "core/state/job_state.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Keeps all but the first jobs of each group from being acquired.
///
/// Not thread safe.
class OrderingGroups {
public:
    /// `places` must outlive it.
    explicit OrderingGroups(JobPlaces& places) : places_{places} {}

    /// When what follows happens.
    void set_now(TimePoint now) noexcept { now_ = now; }

    /// Puts a job that is nowhere at the end of its group.
    static void join(GroupedJob& job);
    /// The same of one with an id, which is due. The group gets the concurrency that it asks for.
    void enter(GroupedJob& job);
    /// Takes a job that is nowhere out of its group, if it is in it. A group of jobs with ids gets
    /// the concurrency that the last of them asks for.
    void leave(GroupedJob& job);

    /// Lets jobs at the first blocked of a group in while there is capacity, and keeps the last
    /// ones out again while a group that became narrower has too many. What is PENDING is let be.
    void fit(OrderingGroup& group);

    /// Lets a group have another number of jobs under way. Those that are stay under way.
    void set_concurrency(OrderingGroup& group, std::uint32_t concurrency);

    /// Keeps all but the first `most` jobs of a group from being acquired.
    void narrow(OrderingGroup& group, std::uint32_t most);

    /// Lets a group have one job more after a success, and two less after a failure, but no more
    /// than `most`. What it may begin with it regains after failures, too: or one job that is
    /// never done would keep the others waiting.
    void adapt(OrderingGroup& group, bool success, std::uint32_t most);

private:
    /// Puts a job behind the others of its group.
    static void append(GroupedJob& job);
    /// A READY job that may not be acquired any more goes back to those that wait.
    static void hold_back(GroupedJob& job);

    JobPlaces& places_;
    TimePoint now_{};
};

}  // namespace routemaster::detail
