/// @file
/// `QueueTable`: the queues of jobs, with their pauses and rate limits.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "core/containers/small_blocks.hpp"
#include "core/jobs/state/limited_queue.hpp"
#include "core/jobs/state/paused_queue.hpp"
#include "core/jobs/state/queue_state.hpp"
#include "core/state/entity.hpp"
#include "core/state/named.hpp"
#include "core/state/wake_ups.hpp"
#include "routemaster/rate_limit.hpp"

namespace routemaster::detail {

/// Table of all job queues by name. A queue exists as long as it has jobs, a pause or rate limits.
/// The queue of delivery jobs always exists. Not thread safe.
class QueueTable {
public:
    using Queues = std::map<std::string, QueueState, std::less<>>;

    /// All arguments must outlive the table. `payloads` allocates the payloads of jobs.
    QueueTable(ChangeLog& changes, SmallBlocks& payloads, WakeUps& wake_ups)
        : changes_{changes}, payloads_{payloads}, wake_ups_{wake_ups} {}

    /// The queue of this name, created if missing. The caller must then push a job, pause the queue
    /// or limit the queue, because any other empty queue is removed.
    QueueState& open(const std::string& name);

    [[nodiscard]] QueueState* find(const std::string& name) {
        if (found_last_ != nullptr && found_last_->name == name) return found_last_;
        const auto found = queues_.find(name);
        if (found == queues_.end()) return nullptr;
        return found_last_ = &found->second;
    }
    [[nodiscard]] const QueueState* find(const std::string& name) const {
        const auto found = queues_.find(name);
        return found == queues_.end() ? nullptr : &found->second;
    }
    [[nodiscard]] const QueueState* found_last() const noexcept { return found_last_; }

    [[nodiscard]] QueueState& deliveries() noexcept { return deliveries_; }

    /// Number of queues in memory: the existing queues, and at most one queue that has just become
    /// empty.
    [[nodiscard]] std::size_t size() const noexcept { return queues_.size(); }
    /// Number of queues with jobs, a pause or rate limits, except the queue of delivery jobs.
    [[nodiscard]] std::size_t lasting() const noexcept {
        const bool over = emptied_ != nullptr && emptied_->jobs.empty() && !emptied_->kept();
        return queues_.size() - (over ? 2 : 1);
    }
    [[nodiscard]] Queues& all() noexcept { return queues_; }
    [[nodiscard]] const Queues& all() const noexcept { return queues_; }

    /// To be called when a queue has become empty. Removes the queue that became empty before
    /// `queue` did, unless it has jobs again, a pause or rate limits. The last empty queue stays in
    /// memory. Otherwise a queue with one job at a time would be created again for each job.
    void note_empty(QueueState& queue);

    void pause(const std::string& name);
    void resume(const std::string& name);

    /// Replaces the rate limits of a queue. Limits equal to `RateLimits{}` remove them.
    void limit(const std::string& name, const RateLimits& limits);

    // --- Restoring ------------------------------------------------------------------------------

    [[nodiscard]] NamedTable<PausedQueueState>& paused() noexcept { return paused_; }
    [[nodiscard]] NamedTable<LimitedQueueState>& limited() noexcept { return limited_; }
    /// Applies the restored pauses and rate limits to their queues. Must be called after
    /// `paused()`, `limited()` and all jobs were restored.
    void settle_restored();

private:
    ChangeLog& changes_;
    SmallBlocks& payloads_;
    WakeUps& wake_ups_;
    Queues queues_;
    QueueState* found_last_ = nullptr;  ///< Consecutive steps mostly use the same queue.
    QueueState& deliveries_ = open(delivery_queue);
    QueueState* emptied_ = nullptr;  ///< The last queue to become empty.
    NamedTable<PausedQueueState> paused_;
    NamedTable<LimitedQueueState> limited_;
};

}  // namespace routemaster::detail
