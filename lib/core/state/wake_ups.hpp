/// @file
/// `WakeUps`: collects the queues with workers to be woken.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/jobs/state/queue_state.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Registry of queues whose workers got too few jobs. Schedules wake-ups for these workers when
/// jobs become available.
///
/// Not thread safe.
class WakeUps {
public:
    /// Must be called when a worker got fewer jobs than wanted.
    static void note_hunger(QueueState& queue, const AcquireJobs& step);

    /// Must be called when a job of the queue becomes available, or when the earliest due time of
    /// the queue changes to an earlier time.
    void wake(QueueState& queue);
    /// As `wake`, for workers that deliver to callbacks.
    void wake_callbacks(QueueState& deliveries);
    /// Wakes the watchers of a name that is not a queue. To be called at most once per name between
    /// two calls of `take`.
    void wake_watch(std::string watch) { woken_.push_back(std::move(watch)); }
    /// Must be called when a recurring job may be due earlier than all others.
    void wake_schedulers();

    /// Returns and clears the names whose watchers must be woken, each once. The caller resets
    /// `woken` of these queues.
    [[nodiscard]] std::vector<std::string> take() { return std::exchange(woken_, {}); }
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return woken_; }

private:
    std::vector<std::string> woken_;
};

}  // namespace routemaster::detail
