/// @file
/// A queue of the state machine: where its jobs stand, and whether anybody waits for them.

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

/// One queue.
struct QueueState {
    /// The memory must outlive it.
    QueueState(std::string what, SmallBlocks& memory)
        : name{std::move(what)},
          payloads{memory},
          of_deliveries{name == delivery_queue},
          has_ids{!is_ruby_queue(name)} {}

    std::string name;
    SmallBlocks& payloads;     ///< Where the payloads of its jobs are.
    bool of_deliveries;        ///< It is the one of delivery jobs, which is always there.
    bool has_ids;              ///< Its jobs have ids, and their attempts are counted.
    HashIndex<JobState> jobs;  ///< All: by their payloads, those with a key by their ids.
    HashIndex<JobState> keys;  ///< Those that have their keys, by these.
    IdIndex by_id;             ///< All, if they have ids.
    Schedule scheduled;
    BuriedJobs buried;
    ReadyJobs ready;          ///< READY and eligible, and not among those below.
    RankedJobs ranked;        ///< READY, with a priority.
    Dependents dependents;    ///< Who waits for which job.
    std::size_t waiting = 0;  ///< SCHEDULED, and not in `scheduled`, as they wait for others.
    std::size_t blocked = 0;  ///< READY and not eligible.
    NamedGroups groups;       ///< Of jobs with ids: those that a job of the queue names.

    // Only delivery jobs are not for everybody.

    std::map<std::string, CallbackState, std::less<>> callbacks;  ///< By their names.
    ReadyJobs abandoned;            ///< Their subscriber is gone: anybody may end them.
    std::size_t ready_for_few = 0;  ///< READY in these two.

    std::size_t pending = 0;
    bool paused = false;  ///< Nothing is acquired. Such a queue stays though it has no jobs.
    std::unique_ptr<QueueRates> rates{};  ///< If it has rate limits, or had; the same holds then.
    /// A worker got less than it asked for and has not been woken since. Also of a queue that
    /// begins: who asked for its jobs before left no trace.
    bool hungry = true;
    bool woken = false;            ///< Stands in the list of queues to wake.
    bool callbacks_hungry = true;  ///< As `hungry`, of workers that serve callbacks.
    bool callbacks_woken = false;  ///< As `woken`, of `callback_watch`.

    [[nodiscard]] bool limited() const noexcept { return rates != nullptr && rates->limited(); }
    /// Whether it stays though it has no jobs.
    [[nodiscard]] bool kept() const noexcept { return of_deliveries || paused || limited(); }

    /// The job that is acquired next of those that are for everybody; null when there is none.
    [[nodiscard]] JobState* first_ready() const noexcept {
        auto* listed = ready.front();
        return ranked.precede(listed) ? &ranked.first() : listed;
    }
};

}  // namespace routemaster::detail
