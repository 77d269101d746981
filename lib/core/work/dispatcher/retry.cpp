#include "core/work/dispatcher/impl.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace routemaster {

void Dispatcher::Impl::refused(Id id, const Error& error) {
    auto& flight = flights_.at(id);
    if (error.code() == Errc::invalid) {
        log(LogLevel::error, "a job of the delivery queue is none: " + error.message());
        store_step(NackJob{flight.lease, now_ + options_.health.backoff_max});
        end(id);
        return;
    }
    if (flight.refusals == 0) warn("the store failed: " + error.message());
    retries_.emplace(now_ + refusal_backoff(flight.refusals++), id);
}

void Dispatcher::Impl::retry_due() {
    while (!retries_.empty() && retries_.begin()->first <= now_) {
        const auto id = retries_.begin()->second;
        retries_.erase(retries_.begin());
        const auto flight = flights_.find(id);
        if (flight == flights_.end()) continue;
        if (flight->second.settlement) {
            settle(id);
        } else {
            begin(id);
        }
    }
}

Duration Dispatcher::Impl::refusal_backoff(std::uint32_t refusals) {
    return std::min(refusal_wait_max, refusal_wait * (1 << std::min(refusals, 4U)));
}

void Dispatcher::Impl::start_over(TimePoint now) {
    next_acquire_ = std::min(next_acquire_, now);
    rested_at_ = std::min(rested_at_, now);
    if (asked_at_) asked_at_ = std::min(*asked_at_, now);
    const auto waiting = std::exchange(retries_, {});
    for (const auto& [at, id] : waiting) retries_.emplace(std::min(at, now), id);
}

}  // namespace routemaster
