#include "core/jobs/state/jobs.hpp"

namespace routemaster::detail {

void JobTable::pause(const std::string& name) {
    auto& queue = this->queue(name);
    if (queue.paused) return;
    auto& state = paused_.open(name);
    state.label = name;
    queue.paused = true;
    changes_.changed(state);
}

void JobTable::resume(const std::string& name) {
    auto* queue = find_queue(name);
    if (queue == nullptr || !queue->paused) return;
    auto& state = *paused_.find(name);
    changes_.gone(state);
    paused_.erase(state);
    queue->paused = false;
    if (queue->jobs.empty()) {
        forget_before(*queue);
    } else {
        wake_ups_.wake(*queue);
    }
}

void JobTable::settle_paused() {
    for (const auto& [name, state] : paused_) queue(name).paused = true;
}

}  // namespace routemaster::detail
