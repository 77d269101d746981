/// @file
/// Steps about what became of jobs over time.

#pragma once

#include <string>

#include "routemaster/queue_throughput.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/traits.hpp"

namespace routemaster {

/// Says what became of the jobs of a queue in each of the last 60 minutes, and of the last 24
/// hours. An embedded store counts from when its process began; on Redis the processes of a store
/// count together, by the server's clock.
struct MeasureThroughput {
    using Reply = QueueThroughput;
    static constexpr StepTraits traits{.name = "measure_throughput",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_own_queue(queue); }

    std::string queue;  ///< None of Ruby Routemaster's, whose jobs nobody counts, else `invalid`.
};

/// The steps about what became of jobs over time.
using ThroughputSteps = StepList<MeasureThroughput>;

}  // namespace routemaster
