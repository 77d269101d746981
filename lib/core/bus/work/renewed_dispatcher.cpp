#include "core/bus/work/renewed_dispatcher.hpp"

#include <new>
#include <utility>

#include "routemaster/entropy.hpp"
#include "routemaster/log.hpp"

namespace routemaster::detail {

RenewedDispatcher::RenewedDispatcher(Store& store, DispatcherOptions options)
    : store_{store},
      options_{std::move(options)},
      dispatcher_{std::make_unique<Dispatcher>(store_, options_)} {}

TimePoint RenewedDispatcher::poll(TimePoint now) {
    try {
        if (given_up_) renew();
        return dispatcher_->poll(now);
    } catch (const std::bad_alloc&) {
        given_up_ = true;
        return saturating_add(now, pause);
    }
}

void RenewedDispatcher::wake_with(std::function<void()> wake) {
    wake_ = std::move(wake);
    dispatcher_->wake_with(wake_);
}

void RenewedDispatcher::close(TimePoint deadline) {
    close_at_ = deadline;
    dispatcher_->close(deadline);
}

std::size_t RenewedDispatcher::in_flight() const noexcept {
    const std::lock_guard lock{mutex_};
    return dispatcher_->in_flight();
}

std::optional<std::string> RenewedDispatcher::trouble() const {
    const std::lock_guard lock{mutex_};
    return dispatcher_->trouble();
}

/// A new seed gives the dispatcher a new worker id.
void RenewedDispatcher::renew() {
    auto options = options_;
    options.seed = entropy();
    auto fresh = std::make_unique<Dispatcher>(store_, std::move(options));
    fresh->wake_with(wake_);
    if (close_at_) fresh->close(*close_at_);
    if (options_.log) {
        options_.log(LogLevel::error,
                     "out of memory: deliveries under way are abandoned, and will be repeated");
    }
    {
        const std::lock_guard lock{mutex_};
        dispatcher_.swap(fresh);
    }
    given_up_ = false;
}

}  // namespace routemaster::detail
