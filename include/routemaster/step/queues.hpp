/// @file
/// Steps about whole queues.

#pragma once

#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/rate_limit.hpp"
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

/// Gives a queue rate limits, in place of those that it has, or takes them away; buckets then begin
/// full. `AcquireJobs` hands out no more jobs than there are tokens, and says when the next one
/// comes. A job takes a token when a worker gets it, and none goes back, be the job nacked,
/// released or done: it takes another one with its next attempt. A READY job whose ordering group
/// has no token keeps its place in its group, and delays no job of another. A queue may get limits
/// before it has jobs; idle workers are woken.
/// The limits are kept across restarts, and so is, on Redis, how many tokens are left. Whoever
/// opens an embedded store finds empty buckets, so no restart gives more jobs than a limit allows.
/// Repeating it changes nothing.
struct LimitQueue {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "limit_queue",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const {
        if (auto checked = check_own_queue(queue); !checked) return checked;
        return limits.check();
    }

    /// None of Ruby Routemaster's, whose processes do not know of limits, else `invalid`.
    std::string queue;
    RateLimits limits{};  ///< By default it has none any more.
};

/// Lists the queues that have jobs, in whatever state, are paused, or have rate limits, by name;
/// `delivery_queue` among them. A page costs what it lists, however many queues and jobs there are.
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
using QueueSteps = StepList<PauseQueue, LimitQueue, ListQueues>;

}  // namespace routemaster
