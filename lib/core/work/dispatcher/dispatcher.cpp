#include "core/work/dispatcher/impl.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <variant>

namespace routemaster {

Dispatcher::Dispatcher(Store& store, DispatcherOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(options))} {}

Dispatcher::~Dispatcher() = default;

TimePoint Dispatcher::poll(TimePoint now) { return impl_->poll(now); }

void Dispatcher::wake_with(std::function<void()> wake) { impl_->wake_with(std::move(wake)); }

void Dispatcher::close(TimePoint deadline) { impl_->close(deadline); }

bool Dispatcher::closed() const { return impl_->closed(); }

std::size_t Dispatcher::in_flight() const noexcept { return impl_->in_flight(); }

std::optional<std::string> Dispatcher::trouble() const { return impl_->trouble(); }

Dispatcher::Impl::Impl(Store& store, DispatcherOptions options)
    : store_{store},
      options_{std::move(options)},
      random_{options_.seed},
      worker_{random_.next(), random_.next()} {
    watch_ = store_.watch(delivery_queue, [event_queue = events_] { event_queue->wake(); });
}

TimePoint Dispatcher::Impl::poll(TimePoint now) {
    if (now < now_) start_over(now);
    now_ = now;
    const auto taken_back = over() ? take_back() : std::vector<Id>{};
    auto events = events_->take();
    if (events.woken) woken_ = true;
    for (auto& event : events.events) {
        std::visit([this](auto& any) { on(any); }, event);
    }
    retry_due();
    if (closing()) {
        nack(taken_back);
        retire_when_over();
    } else {
        acquire();
    }
    stay_alive();
    post();
    look_for_trouble();
    return events_->empty() ? next_poll() : now;
}

void Dispatcher::Impl::close(TimePoint deadline) {
    close_at_ = deadline;
    settle_by_ = saturating_add(deadline, settle_timeout);
}

std::optional<std::string> Dispatcher::Impl::trouble() const {
    for (const auto* transport : options_.transports) {
        if (auto why = transport->trouble()) return why;
    }
    const std::lock_guard lock{trouble_mutex_};
    return trouble_;
}

TimePoint Dispatcher::Impl::next_poll() const {
    if (retiring_) return never;
    auto next = next_heartbeat_;
    if (closing()) {
        next = std::min(next, !over() ? *close_at_ : now_ < settle_by_ ? settle_by_ : never);
    }
    if (asked_at_ && now_ < *asked_at_ + trouble_after) {
        next = std::min(next, *asked_at_ + trouble_after);
    }
    if (!retries_.empty()) next = std::min(next, retries_.begin()->first);
    const bool full = flights_.size() >= options_.in_flight_max;
    if (!closing() && !acquiring_ && !full) {
        next = std::min({next, next_acquire_, woken_ ? rested_at_ : never});
    }
    return next;
}

void Dispatcher::Impl::look_for_trouble() {
    std::optional<std::string> trouble;
    if (asked_at_ && now_ >= *asked_at_ + trouble_after) {
        trouble =
            "cannot acquire jobs: " +
            (acquire_refusals_ == 0 ? std::string{"the store does not answer"} : acquire_refusal_);
    }
    const std::lock_guard lock{trouble_mutex_};
    trouble_ = std::move(trouble);
}

}  // namespace routemaster
