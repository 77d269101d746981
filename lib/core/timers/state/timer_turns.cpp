#include "core/timers/state/timer_turns.hpp"

#include <algorithm>

namespace routemaster::detail {

TimerListener& TimerTurns::ask(const std::string& name, TimePoint now) {
    const auto [place, fresh] = listeners_.try_emplace(name, TimerListener{space_});
    auto& listener = place->second;
    if (fresh) {
        listener.name = &place->first;
        line_.push_back(listener);
    } else {
        by_age_.remove(listener);
    }
    by_age_.push_back(listener);
    listener.asks_at = now;
    listener.woken = false;
    drop_gone(now);
    return listener;
}

void TimerTurns::took(TimerListener& listener) {
    if (line_.front() != &listener) return;
    line_.remove(listener);
    line_.push_back(listener);
}

TimePoint TimerTurns::tell(TimerListener& listener, TimePoint next, TimePoint now) {
    drop_gone(now);
    if (next <= now) {
        listener.asks_at = now;
    } else {
        const auto& first = *line_.front();
        // If the first listener is overdue, it may be dead. The other listeners therefore poll
        // earlier.
        const auto turn = first.asks_at < now ? std::min(first.asks_at, next) : next;
        listener.asks_at =
            &first == &listener ? next : saturating_add(turn, timer_listener_silence);
    }
    latest_ = std::max(latest_, listener.asks_at);
    return listener.asks_at;
}

void TimerTurns::leave(const std::string& name) {
    const auto found = listeners_.find(name);
    if (found != listeners_.end()) remove(found->second);
}

bool TimerTurns::gone(TimerListener& listener, TimePoint now) {
    // If the clock was set back, the listener gets the full time, measured from now.
    if (listener.woken && listener.asks_at > now) listener.asks_at = now;
    return saturating_add(listener.asks_at, timer_listener_silence) <= now;
}

void TimerTurns::drop_gone(TimePoint now) {
    while (!line_.empty() && gone(*line_.front(), now)) remove(*line_.front());
}

void TimerTurns::remove(TimerListener& listener) {
    line_.remove(listener);
    by_age_.remove(listener);
    listeners_.erase(*listener.name);
}

}  // namespace routemaster::detail
