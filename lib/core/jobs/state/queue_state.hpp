/// @file
/// `QueueState`: a queue of the state machine, with the lists of its jobs.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/containers/hash_index.hpp"
#include "core/containers/small_blocks.hpp"
#include "core/jobs/state/buried_jobs.hpp"
#include "core/jobs/state/dependents.hpp"
#include "core/jobs/state/job_state.hpp"
#include "core/jobs/state/named_groups.hpp"
#include "core/jobs/state/queue_rates.hpp"
#include "core/jobs/state/ranked_jobs.hpp"
#include "core/state/id_index.hpp"
#include "core/state/schedule.hpp"
#include "routemaster/job.hpp"
#include "routemaster/store/step/deliveries.hpp"

namespace routemaster::detail {

struct QueueState {
    /// `memory` must outlive the queue.
    QueueState(std::string what, SmallBlocks& memory)
        : name{std::move(what)},
          payloads{memory},
          of_deliveries{name == delivery_queue},
          has_ids{!is_ruby_queue(name)} {}

    std::string name;
    SmallBlocks& payloads;     ///< Memory for the payloads of the queue's jobs.
    bool of_deliveries;        ///< Whether this is the queue of delivery jobs.
    bool has_ids;              ///< Whether the jobs of the queue have ids and count their attempts.
    HashIndex<JobState> jobs;  ///< All jobs, by payload hash or, with a key, by id hash.
    HashIndex<JobState> keys;  ///< Jobs that still have their keys, by the hash of the key.
    IdIndex by_id;
    Schedule scheduled;
    BuriedJobs buried;
    ReadyJobs ready;  ///< READY and eligible jobs without a priority, for all workers.
    RankedJobs ranked;
    Dependents dependents;
    std::size_t waiting = 0;  ///< SCHEDULED, but waiting for other jobs, not in `scheduled`.
    std::size_t blocked = 0;  ///< READY jobs that are not eligible.
    NamedGroups groups;

    // Used by the delivery queue only: deliveries that only some workers may acquire.

    std::map<std::string, CallbackState, std::less<>> callbacks;  ///< By name.
    ReadyJobs abandoned;            ///< Without a subscriber: any worker may complete them.
    std::size_t ready_for_few = 0;  ///< Number of READY jobs in `callbacks` and in `abandoned`.

    std::size_t pending = 0;
    bool paused = false;                  ///< Acquisitions return no jobs. Not removed when empty.
    std::unique_ptr<QueueRates> rates{};  ///< Null without limits and throttled jobs.
    /// A worker received fewer jobs than it wanted and has not been woken since. True for a new
    /// queue, because a worker may have polled before the queue existed.
    bool hungry = true;
    bool woken = false;            ///< The queue is in the list of queues to wake.
    bool callbacks_hungry = true;  ///< As `hungry`, for workers with callbacks.
    bool callbacks_woken = false;  ///< As `woken`, for `callback_watch`.

    [[nodiscard]] bool limited() const noexcept { return rates != nullptr && rates->limited(); }
    /// Whether the queue is not removed when it has no jobs.
    [[nodiscard]] bool kept() const noexcept { return of_deliveries || paused || limited(); }

    /// The next job for an acquisition by any worker; null without READY jobs.
    [[nodiscard]] JobState* first_ready() const noexcept {
        auto* listed = ready.front();
        return ranked.precede(listed) ? &ranked.first() : listed;
    }
};

}  // namespace routemaster::detail
