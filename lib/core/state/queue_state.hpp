/// @file
/// A queue of the state machine: the places of its jobs, and whether workers wait for jobs.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/containers/hash_index.hpp"
#include "core/containers/small_blocks.hpp"
#include "core/state/buried_jobs.hpp"
#include "core/state/dependents.hpp"
#include "core/state/id_index.hpp"
#include "core/state/job_state.hpp"
#include "core/state/named_groups.hpp"
#include "core/state/queue_rates.hpp"
#include "core/state/ranked_jobs.hpp"
#include "core/state/schedule.hpp"
#include "routemaster/job.hpp"
#include "routemaster/step/deliveries.hpp"

namespace routemaster::detail {

struct QueueState {
    /// The memory must outlive the queue.
    QueueState(std::string what, SmallBlocks& memory)
        : name{std::move(what)},
          payloads{memory},
          of_deliveries{name == delivery_queue},
          has_ids{!is_ruby_queue(name)} {}

    std::string name;
    SmallBlocks& payloads;     ///< The payloads of its jobs.
    bool of_deliveries;        ///< The queue of delivery jobs.
    bool has_ids;              ///< Its jobs have ids, and their attempts are counted.
    HashIndex<JobState> jobs;  ///< All jobs, by payload; jobs with a key, by id.
    HashIndex<JobState> keys;  ///< Jobs that still have their keys, by key.
    IdIndex by_id;             ///< All jobs with ids.
    Schedule scheduled;
    BuriedJobs buried;
    ReadyJobs ready;          ///< READY and eligible, for all workers, without a priority.
    RankedJobs ranked;        ///< READY, with a priority.
    Dependents dependents;    ///< The jobs waiting for each job.
    std::size_t waiting = 0;  ///< SCHEDULED jobs outside of `scheduled`: they wait for other jobs.
    std::size_t blocked = 0;  ///< READY and not eligible.
    NamedGroups groups;       ///< Groups of jobs with ids.

    // Only delivery jobs can be limited to a part of the workers.

    std::map<std::string, CallbackState, std::less<>> callbacks;  ///< By name.
    ReadyJobs abandoned;            ///< Deliveries without a subscriber: any worker may end them.
    std::size_t ready_for_few = 0;  ///< Number of READY jobs in `callbacks` and `abandoned`.

    std::size_t pending = 0;
    bool paused = false;  ///< Acquisitions get nothing. A paused queue stays without jobs.
    std::unique_ptr<QueueRates> rates{};  ///< Null without rate limits, past or present.
    /// A worker got fewer jobs than wanted and has not been woken since. True for a new queue: a
    /// worker may have asked for its jobs before the queue existed.
    bool hungry = true;
    bool woken = false;            ///< In the list of queues to wake.
    bool callbacks_hungry = true;  ///< As `hungry`, for workers with callbacks.
    bool callbacks_woken = false;  ///< As `woken`, for `callback_watch`.

    [[nodiscard]] bool limited() const noexcept { return rates != nullptr && rates->limited(); }
    /// Whether the queue stays without jobs.
    [[nodiscard]] bool kept() const noexcept { return of_deliveries || paused || limited(); }

    /// The next job for an acquisition by any worker; null without jobs.
    [[nodiscard]] JobState* first_ready() const noexcept {
        auto* listed = ready.front();
        return ranked.precede(listed) ? &ranked.first() : listed;
    }
};

}  // namespace routemaster::detail
