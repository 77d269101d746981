/// @file
/// `Destinations`: assigns deliveries to workers with access to the receiver.

#pragma once

#include <string_view>
#include <vector>

#include "core/jobs/state/job_places.hpp"
#include "core/jobs/state/queue_state.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Router of deliveries: assigns the deliveries of each ordering group to workers that can reach
/// the group's destination, a URL or a callback.
///
/// Not thread safe.
class Destinations {
public:
    /// The referenced objects must outlive this object.
    Destinations(QueueState& deliveries, JobPlaces& places, WakeUps& wake_ups)
        : deliveries_{deliveries}, places_{places}, wake_ups_{wake_ups} {}

    /// Sets the destination of a group: a URL if `callback` is empty, otherwise the callback of
    /// this name.
    void direct(OrderingGroup& group, std::string_view callback);

    /// Allows any worker to acquire, and thereby complete, the deliveries of a group whose
    /// subscriber was removed.
    void abandon(OrderingGroup& group) { direct(group, &deliveries_.abandoned, nullptr); }

    /// The lists from which a worker may acquire deliveries, in the order of preference: deliveries
    /// of removed subscribers first, then the destinations in the order of the step.
    [[nodiscard]] std::vector<ReadyJobs*> sources_of(const AcquireJobs& step);

private:
    /// Moves READY jobs of a group to the list `ready`, at most `limit()` jobs.
    void direct(OrderingGroup& group, ReadyJobs* ready, CallbackState* callback);

    QueueState& deliveries_;
    JobPlaces& places_;
    WakeUps& wake_ups_;
};

}  // namespace routemaster::detail
