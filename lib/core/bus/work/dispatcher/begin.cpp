#include "core/bus/work/dispatcher/impl.hpp"

#include <utility>
#include <variant>

namespace routemaster {

void Dispatcher::Impl::acquired(Id id, const Lease&) {
    flights_.emplace(id, Flight{});
    count_flights();
    ++beginning_;
    begin_again(id);
}

void Dispatcher::Impl::begin_again(Id id) {
    loop_.begin(id, BeginDelivery{.lease = loop_.lease(id),
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

void Dispatcher::Impl::begun(Id id, Outcome outcome) {
    flights_.at(id).beginning = false;
    --beginning_;
    auto start = std::get<DeliveryStart>(*std::move(outcome));
    if (start.verdict == Verdict::deliver) {
        if (!loop_.over(now_)) deliver(id, std::move(start));
        return;
    }
    log(LogLevel::debug, reason_of(start.verdict));
    loop_.forget(id);
    end(id);
}

void Dispatcher::Impl::unfit(Id id, const Error& error) {
    log(LogLevel::error, "queue 'main' holds a job that is not a delivery job: " + error.message());
    loop_.release(id, now_ + options_.health.backoff_max);
    end(id);
}

const char* Dispatcher::Impl::reason_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::throttled: return "postponed a delivery: its subscriber failed before";
        case Verdict::at_limit:
            return "postponed a delivery: its subscriber has its share of deliveries";
        default: return "ended a delivery whose batch or lease no longer exists";
    }
}

}  // namespace routemaster
