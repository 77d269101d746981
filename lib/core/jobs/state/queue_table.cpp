#include "core/jobs/state/queue_table.hpp"

#include <memory>
#include <utility>

namespace routemaster::detail {

QueueState& QueueTable::open(const std::string& name) {
    const auto found = queues_.find(name);
    if (found != queues_.end()) return found->second;
    return queues_.try_emplace(name, name, payloads_).first->second;
}

void QueueTable::note_empty(QueueState& queue) {
    auto* before = std::exchange(emptied_, &queue);
    if (before == nullptr || before == &queue || !before->jobs.empty() || before->kept()) return;
    if (found_last_ == before) found_last_ = nullptr;
    queues_.erase(queues_.find(before->name));
}

void QueueTable::pause(const std::string& name) {
    auto& queue = open(name);
    if (queue.paused) return;
    auto& state = paused_.open(name);
    state.label = name;
    queue.paused = true;
    changes_.changed(state);
}

void QueueTable::resume(const std::string& name) {
    auto* queue = find(name);
    if (queue == nullptr || !queue->paused) return;
    auto& state = *paused_.find(name);
    changes_.gone(state);
    paused_.erase(state);
    queue->paused = false;
    if (queue->jobs.empty()) {
        note_empty(*queue);
    } else {
        wake_ups_.wake(*queue);
    }
}

void QueueTable::limit(const std::string& name, const RateLimits& limits) {
    auto* state = limited_.find(name);
    if (limits == (state == nullptr ? RateLimits{} : state->limits)) return;
    if (limits == RateLimits{}) {
        changes_.gone(*state);
        limited_.erase(*state);
    } else {
        if (state == nullptr) state = &limited_.open(name);
        state->label = name;
        state->limits = limits;
        changes_.changed(*state);
    }
    auto& queue = open(name);
    if (queue.rates == nullptr) queue.rates = std::make_unique<QueueRates>();
    queue.rates->change(limits);
    if (queue.rates->over()) queue.rates.reset();
    if (queue.jobs.empty()) return note_empty(queue);
    // Workers may be waiting for a token of the former limits. They are woken because a token may
    // be available now.
    queue.hungry = true;
    wake_ups_.wake(queue);
}

void QueueTable::settle_restored() {
    for (const auto& [name, state] : paused_) open(name).paused = true;
    for (const auto& [name, state] : limited_) {
        auto& rates = open(name).rates;
        rates = std::make_unique<QueueRates>();
        rates->change(state.limits);
        rates->forget_tokens();
    }
    std::erase_if(queues_, [](const auto& entry) {
        return entry.second.jobs.empty() && !entry.second.kept();
    });
    emptied_ = nullptr;
    found_last_ = nullptr;
}

}  // namespace routemaster::detail
