/// @file
/// The listeners of a namespace of timers, and whose turn it is.

#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "core/containers/intrusive_list.hpp"
#include "routemaster/step/timer_firings.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

struct TimerSpace;

/// Who takes timers of a namespace.
struct TimerListener {
    TimerSpace& space;
    const std::string* name = nullptr;
    /// When it is to ask again; the instant it was woken, if it was since it asked.
    TimePoint asks_at{};
    bool woken = false;
    ListHook<TimerListener> in_line{};
    ListHook<TimerListener> in_age{};
};

/// All listeners, the one that asked longest ago first.
using TimerListenersByAge = IntrusiveList<TimerListener, &TimerListener::in_age>;

/// Listeners stand in a line, of which the first has the turn. Each knows when to ask again: the
/// first one when the next timer is due, the others `timer_listener_silence` after that. So
/// whatever becomes of the first one, others find out. Not kept in a journal: listeners end with
/// the process, or ask again.
///
/// Not thread safe.
class TimerTurns {
public:
    /// Those of a namespace. Both must outlive it.
    TimerTurns(TimerSpace& space, TimerListenersByAge& by_age) : space_{space}, by_age_{by_age} {}
    TimerTurns(const TimerTurns&) = delete;
    TimerTurns& operator=(const TimerTurns&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return line_.size(); }
    [[nodiscard]] bool empty() const noexcept { return line_.empty(); }

    /// A listener asks, and joins at the end if it is not in line. Those in front of it that are
    /// gone leave.
    TimerListener& ask(const std::string& name, TimePoint now);
    /// A listener that is in line took something: if it had the turn, the next one has it.
    void took(TimerListener& listener);
    /// When a listener that has asked is to ask again, if the next timer is due at `next`. It is
    /// told so.
    TimePoint tell(TimerListener& listener, TimePoint next, TimePoint now);
    /// A listener leaves, if it is in line.
    void leave(const std::string& name);

    /// The next timer is due at `next` now, or another listener is the first in line: calls `wake`
    /// with the name of each listener that is to ask sooner than it was told.
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

    /// Whether a listener has not asked although it was to.
    [[nodiscard]] static bool gone(TimerListener& listener, TimePoint now);
    void drop_gone(TimePoint now);
    void remove(TimerListener& listener);

    TimerSpace& space_;
    TimerListenersByAge& by_age_;
    std::map<std::string, TimerListener> listeners_;
    IntrusiveList<TimerListener, &TimerListener::in_line> line_;
    /// None that was not woken is to ask later. May be later than all of them.
    TimePoint latest_ = TimePoint::min();
};

}  // namespace routemaster::detail
