#include "core/state/wake_ups.hpp"

#include <algorithm>

namespace routemaster::detail {

void WakeUps::note_hunger(QueueState& queue, const AcquireJobs& step) {
    if (!queue.of_deliveries || !step.destinations) {
        queue.hungry = true;
        return;
    }
    for (const auto& name : *step.destinations) {
        (name.empty() ? queue.hungry : queue.callbacks_hungry) = true;
    }
}

void WakeUps::wake(QueueState& queue) {
    if (!queue.hungry || queue.woken || queue.paused) return;
    queue.hungry = false;
    queue.woken = true;
    woken_.push_back(queue.name);
}

void WakeUps::wake_callbacks(QueueState& deliveries) {
    if (!deliveries.callbacks_hungry || deliveries.callbacks_woken) return;
    deliveries.callbacks_hungry = false;
    deliveries.callbacks_woken = true;
    woken_.emplace_back(callback_watch);
}

void WakeUps::wake_schedulers() {
    if (std::find(woken_.begin(), woken_.end(), recurring_watch) != woken_.end()) return;
    woken_.emplace_back(recurring_watch);
}

}  // namespace routemaster::detail
