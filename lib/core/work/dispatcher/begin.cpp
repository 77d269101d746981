#include "core/work/dispatcher/impl.hpp"

#include <utility>

namespace routemaster {

void Dispatcher::Impl::begin(Id id) {
    ++beginning_;
    begins_.ids.push_back(id);
    begins_.steps.emplace_back(BeginDelivery{.lease = flights_.at(id).lease,
                                             .backoff_max = options_.health.backoff_max,
                                             .jitter = jitter(),
                                             .concurrency_max = concurrency_max(),
                                             .pause = unhealthy_pause()});
}

std::uint32_t Dispatcher::Impl::concurrency_max() const noexcept {
    return share_.concurrency_max(flights_.size() - 1);
}

Duration Dispatcher::Impl::unhealthy_pause() const noexcept {
    return share_.too_many(unhealthy_ + beginning_) ? at_limit_pause : Duration{0};
}

void Dispatcher::Impl::on(Begun& begun) {
    beginning_ -= begun.ids.size();
    for (std::size_t i = 0; i < begun.ids.size(); ++i) {
        const auto flight = flights_.find(begun.ids[i]);
        if (flight == flights_.end()) continue;
        auto start = reply_of<BeginDelivery>(begun.outcomes[i]);
        if (!start) {
            refused(flight->first, start.error());
        } else if (start->verdict == Verdict::deliver) {
            if (!over()) deliver(flight->first, *std::move(start));
        } else {
            log(LogLevel::debug, reason_of(start->verdict));
            end(flight->first);
        }
    }
}

const char* Dispatcher::Impl::reason_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::throttled: return "spared a subscriber that failed before";
        case Verdict::at_limit: return "put off a delivery: its subscriber has its share";
        default: return "ended a delivery whose batch or lease is gone";
    }
}

}  // namespace routemaster
