/// @file
/// `TimerTurns`: the listeners of a timer namespace, and which of them takes the next timers.

#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "core/containers/intrusive_list.hpp"
#include "routemaster/store/step/timer_firings.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

struct TimerSpace;

/// A listener: a process that takes due timers of a namespace.
struct TimerListener {
    TimerSpace& space;
    const std::string* name = nullptr;
    /// When the listener's next poll is expected. After a wake-up: when it was woken.
    TimePoint asks_at{};
    bool woken = false;
    ListHook<TimerListener> in_line{};
    ListHook<TimerListener> in_age{};
};

/// All listeners of all namespaces. The listener that has been silent longest is first.
using TimerListenersByAge = IntrusiveList<TimerListener, &TimerListener::in_age>;

/// Round-robin queue of the listeners of a namespace. The first listener takes the next due timers.
/// The reply to each poll says when to poll again: to the first listener, when the next timer is
/// due; to all others, `timer_listener_silence` later. The second listener thus notices when the
/// first has died. The queue is not in the journal, because listeners poll again after a restart.
///
/// Not thread safe.
class TimerTurns {
public:
    /// `space` and `by_age` must outlive the object.
    TimerTurns(TimerSpace& space, TimerListenersByAge& by_age) : space_{space}, by_age_{by_age} {}
    TimerTurns(const TimerTurns&) = delete;
    TimerTurns& operator=(const TimerTurns&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return line_.size(); }
    [[nodiscard]] bool empty() const noexcept { return line_.empty(); }

    /// Records that a listener polls. Appends a new listener to the queue. Removes dead listeners
    /// from the front.
    TimerListener& ask(const std::string& name, TimePoint now);
    /// Records that a listener took timers. The first listener then moves to the end.
    void took(TimerListener& listener);
    /// Returns when the listener must poll again, and records this time. To be called after a poll
    /// of the listener. `next` is when the next timer is due.
    TimePoint tell(TimerListener& listener, TimePoint next, TimePoint now);
    void leave(const std::string& name);

    /// Must be called when the first timer or the first listener has changed. `next` is when the
    /// next timer is due. Calls `wake` with the name of each listener that must poll earlier than
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

    /// Whether a listener is dead: its poll is overdue by `timer_listener_silence`.
    [[nodiscard]] static bool gone(TimerListener& listener, TimePoint now);
    void drop_gone(TimePoint now);
    void remove(TimerListener& listener);

    TimerSpace& space_;
    TimerListenersByAge& by_age_;
    std::map<std::string, TimerListener> listeners_;
    IntrusiveList<TimerListener, &TimerListener::in_line> line_;
    /// Upper bound of `asks_at` of all listeners that have not been woken.
    TimePoint latest_ = TimePoint::min();
};

}  // namespace routemaster::detail
