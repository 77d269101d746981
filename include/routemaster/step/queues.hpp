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

/// Pauses or resumes a queue. No worker acquires jobs from a paused queue, even after a restart.
/// PENDING jobs go on, and all other steps work as always. During the pause no job is promoted,
/// expires, or is BURIED for a lack of attempts. Resuming wakes the idle workers of the queue. A
/// queue may be paused before it has jobs.
/// A repetition changes nothing.
struct PauseQueue {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "pause_queue",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_own_queue(queue); }

    /// Not a queue of Ruby Routemaster, whose processes do not know pauses; else `invalid`.
    std::string queue;
    bool paused = true;  ///< True: pause the queue. False: resume it.
};

/// Replaces the rate limits of a queue, or removes them. The buckets begin full. `AcquireJobs`
/// leases no more jobs than there are tokens, and replies when the next token comes. A job takes a
/// token with its lease and never returns it: after a nack, a release or a failure, the next
/// attempt takes another token. A READY job whose ordering group has no token keeps its place in
/// the group, and delays no job of another group. A queue may get limits before it has jobs; idle
/// workers are woken.
/// The limits are kept across restarts. On Redis, the number of tokens is kept, too. When an
/// embedded store is opened, its buckets are empty, and so a restart never exceeds a limit. A
/// repetition changes nothing.
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

    /// Not a queue of Ruby Routemaster, whose processes do not know limits; else `invalid`.
    std::string queue;
    RateLimits limits{};  ///< By default no limits: removes them.
};

/// Lists the queues that have jobs in any state, are paused, or have rate limits, in order of their
/// names; includes `delivery_queue`. A page costs as much as the entries it lists, however many
/// queues and jobs exist.
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
