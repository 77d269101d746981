#include <memory>

#include "core/jobs/state/jobs.hpp"

namespace routemaster::detail {

void JobTable::limit(const std::string& name, const RateLimits& limits) {
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
    auto& queue = this->queue(name);
    if (queue.rates == nullptr) queue.rates = std::make_unique<QueueRates>();
    queue.rates->change(limits);
    if (queue.rates->over()) queue.rates.reset();
    if (queue.jobs.empty()) return forget_before(queue);
    // Workers may be waiting for a token of the former limits. They are woken because a token may
    // be available now.
    queue.hungry = true;
    wake_ups_.wake(queue);
}

void JobTable::begin_limited(QueueState& queue, TimePoint now) {
    queue.rates->begin(now);
    for (auto* job : queue.rates->take_back(JobPlaces::promoted_max)) {
        job->run_at = now;
        places_.make_ready(*job);
    }
    if (queue.rates->over()) queue.rates.reset();
}

void JobTable::settle_limited() {
    for (const auto& [name, state] : limited_) {
        auto& rates = queue(name).rates;
        rates = std::make_unique<QueueRates>();
        rates->change(state.limits);
        rates->forget_tokens();
    }
}

}  // namespace routemaster::detail
