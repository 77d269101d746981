#include "core/timers/work/requested_timers.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "routemaster/entropy.hpp"
#include "routemaster/error.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

Error timers_stopping() { return {Errc::unavailable, "the service is stopping"}; }

RequestedTimers::RequestedTimers(Store& store, std::string space,
                                 const TimerRequestsOptions& options, TimePoint now)
    : store_{store},
      options_{options},
      space_{std::move(space)},
      listener_{Uid{entropy(), entropy()}.text()},
      watch_{store.watch(timer_watch(space_, listener_),
                         [events = events_.shared()] { events->wake(); })},
      schedule_{options.poll_interval, Duration{0}, "take timers"},
      now_{now},
      used_at_{now} {}

void RequestedTimers::wait(TimerWaiter waiter) {
    waiter.until = saturating_add(now_, waiter.request.wait);
    waiters_.push_back(std::move(waiter));
    used_at_ = now_;
    schedule_.ask_at(now_);
}

void RequestedTimers::refuse_waiting(const Error& error) {
    Waiters kept;
    if (asking_for_first_ && !waiters_.empty()) {
        kept.splice(kept.end(), waiters_, waiters_.begin());
    }
    auto refused = std::exchange(waiters_, std::move(kept));
    for (const auto& waiter : refused) waiter.done(error);
}

void RequestedTimers::close(TimePoint deadline) {
    close_at_ = deadline;
    refuse_waiting(timers_stopping());
}

bool RequestedTimers::idle() const noexcept {
    return waiters_.empty() && !asking_ && now_ - used_at_ >= options_.idle_max;
}

std::size_t RequestedTimers::passing() const noexcept {
    const auto count = std::count_if(waiters_.begin(), waiters_.end(), [](const auto& waiter) {
        return waiter.request.wait <= Duration{0};
    });
    return static_cast<std::size_t>(count);
}

TimePoint RequestedTimers::poll(TimePoint now) {
    if (now < now_) {
        schedule_.clock_set_back(now);
        used_at_ = now;
        if (close_at_) *close_at_ -= now_ - now;
        for (auto& waiter : waiters_) {
            waiter.until = std::min(waiter.until, saturating_add(now, waiter.request.wait));
        }
    }
    now_ = now;
    auto events = events_->take();
    if (events.woken) schedule_.wake();
    for (auto& event : events.events) {
        std::visit([this](auto& any) { on(any); }, event);
    }
    answer_overdue();
    if (close_at_) {
        leave();
    } else {
        ask();
    }
    return events_->empty() ? next_poll() : now_;
}

TimePoint RequestedTimers::next_poll() const {
    if (over_) return never;
    if (close_at_) return saturating_add(*close_at_, leave_timeout);
    auto next = never;
    for (const auto& waiter : waiters_) {
        if (waiter.until > now_) next = std::min(next, waiter.until);
    }
    if (!waiters_.empty()) return std::min(next, schedule_.next());
    // No poll must be scheduled, because the reply wakes the loop.
    if (asking_) return never;
    next = used_at_ + options_.idle_max;
    if (unwanted_ || !joined_) return next;
    return std::min(next, std::max(schedule_.next(), used_at_ + unwanted_grace));
}

// --- Waiting requests ---------------------------------------------------------------------------

void RequestedTimers::answer_overdue() {
    Waiters answered;
    for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
        const auto each = waiter++;
        if (served(each)) continue;
        const bool overdue = each->until <= now_ && each->look == TimerWaiter::Look::answered;
        if (overdue || each->gone()) answered.splice(answered.end(), waiters_, each);
    }
    for (const auto& waiter : answered) {
        if (trouble_) {
            waiter.done(*trouble_);
        } else {
            waiter.done(std::vector<FiredTimer>{});
        }
    }
}

void RequestedTimers::serve(std::vector<FiredTimer> timers) {
    auto next = timers.begin();
    while (next != timers.end() && !waiters_.empty()) {
        Waiters served;
        served.splice(served.end(), waiters_, waiters_.begin());
        const auto& waiter = served.front();
        if (waiter.gone()) {
            waiter.done(std::vector<FiredTimer>{});
            continue;
        }
        const auto count = std::min<std::ptrdiff_t>(timers.end() - next, waiter.request.limit);
        waiter.done(std::vector<FiredTimer>{std::make_move_iterator(next),
                                            std::make_move_iterator(next + count)});
        next += count;
    }
    if (next == timers.end() || !options_.log) return;
    options_.log(
        LogLevel::warning,
        std::to_string(timers.end() - next) + " timers of " + space_ +
            " were taken for clients that have disconnected: timers without retries are lost");
}

// --- The store ----------------------------------------------------------------------------------

void RequestedTimers::ask() {
    if (asking_ || !schedule_.due(now_)) return;
    TakeTimers step{.space = space_, .listener = listener_, .limit = 0};
    if (waiters_.empty()) {
        if (!joined_ || unwanted_ || now_ < used_at_ + unwanted_grace) return;
        unwanted_ = true;
    } else {
        const auto& request = waiters_.front().request;
        step.limit = request.limit;
        step.confirm_within = request.confirm_within;
        for (auto& waiter : waiters_) {
            if (waiter.look == TimerWaiter::Look::none) waiter.look = TimerWaiter::Look::asked;
        }
        asking_for_first_ = joined_ = true;
        unwanted_ = false;
        used_at_ = now_;
    }
    asking_ = true;
    schedule_.asked(now_);
    submit(store_, std::move(step), now_, [events = events_.shared()](Result<TakenTimers> taken) {
        events->put(Taken{std::move(taken)});
    });
}

void RequestedTimers::on(Taken& taken) {
    asking_ = false;
    asking_for_first_ = false;
    // The other due timers belong to later requests, which are not completed yet.
    const bool all = !taken.taken || taken.taken->wake_at > now_;
    for (auto& waiter : waiters_) {
        if (all && waiter.look == TimerWaiter::Look::asked) {
            waiter.look = TimerWaiter::Look::answered;
        }
    }
    if (!taken.taken) {
        unwanted_ = false;
        trouble_ = taken.taken.error();
        if (schedule_.refused(now_, trouble_->message()) && options_.log) {
            options_.log(LogLevel::warning,
                         "cannot take timers of " + space_ + ": " + trouble_->message());
        }
        return;
    }
    trouble_.reset();
    if (!waiters_.empty()) used_at_ = now_;
    schedule_.answered(now_, !taken.taken->timers.empty(), taken.taken->wake_at);
    serve(std::move(taken.taken->timers));
    const bool unasked = std::any_of(waiters_.begin(), waiters_.end(), [](const auto& waiter) {
        return waiter.look == TimerWaiter::Look::none;
    });
    if (unasked) schedule_.ask_at(now_);
}

void RequestedTimers::leave() {
    if (now_ >= saturating_add(*close_at_, leave_timeout) || !joined_) over_ = true;
    if (over_) {
        asking_for_first_ = false;
        return refuse_waiting(timers_stopping());
    }
    if (leaving_ || asking_) return;
    leaving_ = true;
    submit(store_, LeaveTimers{space_, listener_}, now_,
           [events = events_.shared()](const Result<Done>&) { events->put(Left{}); });
}

}  // namespace routemaster::detail
