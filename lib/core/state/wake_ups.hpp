/// @file
/// Which watchers of queues must be woken.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/state/queue_state.hpp"
#include "routemaster/step.hpp"

namespace routemaster::detail {

/// Notes queues with workers that found too few jobs, and wakes them when there are jobs.
///
/// Not thread safe.
class WakeUps {
public:
    /// A worker got fewer jobs than wanted.
    static void note_hunger(QueueState& queue, const AcquireJobs& step);

    /// A job of a queue can be acquired now, or has become the first to fall due.
    void wake(QueueState& queue);
    /// As `wake`, for workers with callbacks.
    void wake_callbacks(QueueState& deliveries);
    /// Wakes the watchers of a name that is not a queue. Call at most once per name before `take`.
    void wake_watch(std::string watch) { woken_.push_back(std::move(watch)); }
    /// A recurring job may have become the first to fall due.
    void wake_schedulers();

    /// Names of queues with watchers to wake, each once. The caller resets their `woken`.
    [[nodiscard]] std::vector<std::string> take() { return std::exchange(woken_, {}); }
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return woken_; }

private:
    std::vector<std::string> woken_;
};

}  // namespace routemaster::detail
