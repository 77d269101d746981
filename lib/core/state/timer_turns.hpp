/// @file
/// The listeners of a namespace of timers, and their turns.

#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "core/containers/intrusive_list.hpp"
#include "routemaster/step/timer_firings.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

struct TimerSpace;

/// A listener: a process taking timers of a namespace.
struct TimerListener {
    TimerSpace& space;
    const std::string* name = nullptr;
    /// When the next poll is expected. After a wake-up: the time of the wake-up.
    TimePoint asks_at{};
    bool woken = false;
    ListHook<TimerListener> in_line{};
    ListHook<TimerListener> in_age{};
};

/// All listeners of all namespaces, the longest silent one first.
using TimerListenersByAge = IntrusiveList<TimerListener, &TimerListener::in_age>;

/// The line of listeners of a namespace. The first listener has the turn. The reply to each poll
/// says when to poll again: to the first listener, when the next timer is due; to all others,
/// `timer_listener_silence` later. Thus another listener notices when the first dies. The line is
/// in no journal: listeners poll again after a restart.
///
/// Not thread safe.
class TimerTurns {
public:
    /// Both must outlive the object.
    TimerTurns(TimerSpace& space, TimerListenersByAge& by_age) : space_{space}, by_age_{by_age} {}
    TimerTurns(const TimerTurns&) = delete;
    TimerTurns& operator=(const TimerTurns&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return line_.size(); }
    [[nodiscard]] bool empty() const noexcept { return line_.empty(); }

    /// Notes that a listener polls. Appends a new listener to the line. Removes dead listeners in
    /// front.
    TimerListener& ask(const std::string& name, TimePoint now);
    /// Notes that a listener in line took timers. If it had the turn, the next listener gets the
    /// turn.
    void took(TimerListener& listener);
    /// To be called after a poll of the listener. Returns when it must poll again, and notes this
    /// time. The next timer is due at `next`.
    TimePoint tell(TimerListener& listener, TimePoint next, TimePoint now);
    /// Removes a listener from the line. Does nothing for an unknown name.
    void leave(const std::string& name);

    /// Called when the first timer or the first listener has changed. The next timer is due at
    /// `next`. Calls `wake` with the name of each listener whose next poll must come sooner than
    /// its last reply said.
    template <class Wake>
    void update(TimePoint next, TimePoint now, Wake wake) {
        drop_gone(now);
        auto* first = line_.front();
        if (first == nullptr) return;
        wake_if_later(*first, next, now, wake);
        const auto others = saturating_add(next, timer_listener_silence);
        if (latest_ <= others) return;
        latest_ = TimePoint::min();
        for (auto* each = first; each != nullptr; each = line_.next(*each)) {
            wake_if_later(*each, others, now, wake);
            if (!each->woken && each->asks_at > latest_) latest_ = each->asks_at;
        }
    }

private:
    template <class Wake>
    static void wake_if_later(TimerListener& listener, TimePoint wanted, TimePoint now,
                              Wake& wake) {
        if (listener.woken || listener.asks_at <= wanted) return;
        listener.woken = true;
        listener.asks_at = now;
        wake(*listener.name);
    }

    /// Whether a listener is dead: its poll is late by `timer_listener_silence`.
    [[nodiscard]] static bool gone(TimerListener& listener, TimePoint now);
    void drop_gone(TimePoint now);
    void remove(TimerListener& listener);

    TimerSpace& space_;
    TimerListenersByAge& by_age_;
    std::map<std::string, TimerListener> listeners_;
    IntrusiveList<TimerListener, &TimerListener::in_line> line_;
    /// Upper bound of `asks_at` of all listeners without a pending wake-up.
    TimePoint latest_ = TimePoint::min();
};

}  // namespace routemaster::detail
