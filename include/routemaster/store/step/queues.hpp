/// @file
/// Steps for whole queues.

#pragma once

#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/rate_limit.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"

namespace routemaster {

/// Pauses or resumes a queue. No worker acquires jobs of a paused queue, even after a restart.
/// PENDING jobs continue, and all other steps work as always. During the pause no job is
/// promoted, expires, or is BURIED because it has no attempts left. Resuming wakes the idle
/// workers of the queue. A queue may be paused before it has jobs. A repetition changes
/// nothing.
struct PauseQueue {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "pause_queue",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_own_queue(queue); }

    /// Not a queue of Ruby Routemaster, whose processes do not support pauses; else `invalid`.
    std::string queue;
    bool paused = true;  ///< True: pause the queue. False: resume it.
};

/// Replaces the rate limits of a queue, or removes them. The token buckets are full at
/// first. `AcquireJobs` leases no more jobs than there are tokens, and replies when the
/// next token is added. A lease consumes a token and never returns it: after a nack, a
/// release or a failure, the next attempt consumes another token. A READY job whose
/// ordering group has no token keeps its position in the group, and delays no job of
/// another group. Limits may be set before a queue has jobs. Idle workers are woken. The
/// limits are stored. Redis stores the numbers of tokens, too. An embedded store does not:
/// when it is opened, its buckets are empty, so that a restart never exceeds a limit. A
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

    /// Not a queue of Ruby Routemaster, whose processes do not support limits; else `invalid`.
    std::string queue;
    RateLimits limits{};  ///< Default: no limits.
};

/// Lists the queues that have jobs in any state, are paused, or have rate limits, in the order of
/// their names, `delivery_queue` included. The cost is proportional to the length of the page, not
/// to the number of queues or jobs.
struct ListQueues {
    using Reply = std::vector<ListedQueue>;
    static constexpr StepTraits traits{.name = "list_queues",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(page.limit); }

    Page page{.after = {}, .limit = 100};
};

/// The list of the steps for whole queues.
using QueueSteps = StepList<PauseQueue, LimitQueue, ListQueues>;

}  // namespace routemaster
