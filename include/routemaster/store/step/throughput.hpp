/// @file
/// The step for the throughput of a queue.

#pragma once

#include <string>

#include "routemaster/queue_throughput.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/traits.hpp"

namespace routemaster {

/// Replies with the counts of a queue for each of the last 60 minutes, and for each of the last 24
/// hours. An embedded store counts from the start of its process. On Redis the counts of all
/// processes are added, by the server's clock.
struct MeasureThroughput {
    using Reply = QueueThroughput;
    static constexpr StepTraits traits{.name = "measure_throughput",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_own_queue(queue); }

    /// Not a queue of Ruby Routemaster, whose jobs are not counted; else `invalid`.
    std::string queue;
};

/// The list of the steps for throughput.
using ThroughputSteps = StepList<MeasureThroughput>;

}  // namespace routemaster
