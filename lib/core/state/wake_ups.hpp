/// @file
/// Which queues have something to do for workers that found nothing.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/state/queue_state.hpp"
#include "routemaster/step.hpp"

namespace routemaster::detail {

/// Notes who found nothing, and whom to wake once there is something.
///
/// Not thread safe.
class WakeUps {
public:
    /// A worker got less than it asked for.
    static void note_hunger(QueueState& queue, const AcquireJobs& step);

    /// A job of a queue may be acquired, or falls due sooner than any other.
    void wake(QueueState& queue);
    /// The same of workers that serve callbacks.
    void wake_callbacks(QueueState& deliveries);
    /// Whoever watches this, which is no queue. Not to be called twice before `take`.
    void wake_watch(std::string watch) { woken_.push_back(std::move(watch)); }
    /// A recurring job may be due sooner than any other.
    void wake_schedulers();

    /// Names of the queues whose watchers are to be woken, each once. The caller clears their
    /// `woken`.
    [[nodiscard]] std::vector<std::string> take() { return std::exchange(woken_, {}); }
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return woken_; }

private:
    std::vector<std::string> woken_;
};

}  // namespace routemaster::detail
