/// @file
/// Who may acquire which deliveries.

#pragma once

#include <string_view>
#include <vector>

#include "core/state/job_places.hpp"
#include "core/state/queue_state.hpp"
#include "routemaster/step.hpp"

namespace routemaster::detail {

/// Directs the deliveries of each group to the workers that can make them.
///
/// Not thread safe.
class Destinations {
public:
    /// All must outlive it.
    Destinations(QueueState& deliveries, JobPlaces& places, WakeUps& wake_ups)
        : deliveries_{deliveries}, places_{places}, wake_ups_{wake_ups} {}

    /// The deliveries of a group go to a URL from now on, or to the callback of that name.
    void direct(OrderingGroup& group, std::string_view callback);

    /// The subscriber of a group is gone, and its deliveries are for anybody to end.
    void abandon(OrderingGroup& group) { direct(group, &deliveries_.abandoned, nullptr); }

    /// What a worker may take of the deliveries, in the order in which it is served: first what
    /// anybody may, and then as it asked.
    [[nodiscard]] std::vector<ReadyJobs*> sources_of(const AcquireJobs& step);

private:
    /// Moves what is READY and eligible of a group, which is no more than the group is wide.
    void direct(OrderingGroup& group, ReadyJobs* ready, CallbackState* callback);

    QueueState& deliveries_;
    JobPlaces& places_;
    WakeUps& wake_ups_;
};

}  // namespace routemaster::detail
