/// @file
/// Which workers may acquire which deliveries.

#pragma once

#include <string_view>
#include <vector>

#include "core/state/job_places.hpp"
#include "core/state/queue_state.hpp"
#include "routemaster/step.hpp"

namespace routemaster::detail {

/// Directs the deliveries of each group to workers with access to its destination.
///
/// Not thread safe.
class Destinations {
public:
    /// All must outlive the object.
    Destinations(QueueState& deliveries, JobPlaces& places, WakeUps& wake_ups)
        : deliveries_{deliveries}, places_{places}, wake_ups_{wake_ups} {}

    /// Directs the deliveries of a group to a URL (empty name) or to the callback of this name.
    void direct(OrderingGroup& group, std::string_view callback);

    /// Lets any worker end the deliveries of a group without a subscriber.
    void abandon(OrderingGroup& group) { direct(group, &deliveries_.abandoned, nullptr); }

    /// The lists from which a worker may take deliveries, in order: abandoned deliveries first,
    /// then the destinations of the step in their order.
    [[nodiscard]] std::vector<ReadyJobs*> sources_of(const AcquireJobs& step);

private:
    /// Moves the eligible READY jobs of a group, at most `limit()`.
    void direct(OrderingGroup& group, ReadyJobs* ready, CallbackState* callback);

    QueueState& deliveries_;
    JobPlaces& places_;
    WakeUps& wake_ups_;
};

}  // namespace routemaster::detail
