/// @file
/// Steps about whole queues.

#pragma once

#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"

namespace routemaster {

/// Pauses a queue, or resumes it. From a paused queue no job is acquired, by any worker and also
/// after a restart; jobs that are PENDING go on, and every other step does what it always does.
/// Nothing is promoted, expires or is given up meanwhile. When the queue is resumed, its idle
/// workers are woken. A queue may be paused before it has jobs.
/// Repeating it changes nothing.
struct PauseQueue {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "pause_queue",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_own_queue(queue); }

    /// None of Ruby Routemaster's, whose processes do not know of pauses, else `invalid`.
    std::string queue;
    bool paused = true;  ///< Whether it is to be paused; else it is resumed.
};

/// Lists the queues that have jobs, in whatever state, or are paused, by name. `delivery_queue` is
/// one of them. A page costs what it lists, however many queues and jobs there are.
struct ListQueues {
    using Reply = std::vector<ListedQueue>;
    static constexpr StepTraits traits{.name = "list_queues",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(page.limit); }

    Page page{.after = {}, .limit = 100};
};

/// The steps about whole queues.
using QueueSteps = StepList<PauseQueue, ListQueues>;

}  // namespace routemaster
