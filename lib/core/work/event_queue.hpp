/// @file
/// What other threads have for an active object, until it is polled.

#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace routemaster::detail {

/// Events from other threads, and their wake-ups. Thread safe. Shared with those who will write, so
/// it may outlive its reader.
template <class Event>
class EventQueue {
public:
    /// All that has come since the last time.
    struct Events {
        std::vector<Event> events;
        bool woken = false;
    };

    void put(Event event) {
        const std::lock_guard lock{mutex_};
        events_.events.push_back(std::move(event));
        if (wake_) wake_();
    }

    void wake() {
        const std::lock_guard lock{mutex_};
        events_.woken = true;
        if (wake_) wake_();
    }

    [[nodiscard]] Events take() {
        const std::lock_guard lock{mutex_};
        return std::exchange(events_, {});
    }

    [[nodiscard]] bool empty() const {
        const std::lock_guard lock{mutex_};
        return events_.events.empty() && !events_.woken;
    }

    /// Calls `wake`, which must not call back, whenever something comes.
    void wake_with(std::function<void()> wake) {
        const std::lock_guard lock{mutex_};
        wake_ = std::move(wake);
    }

private:
    mutable std::mutex mutex_;  // Guards the two below; locked while waking, so no wake comes late.
    Events events_;
    std::function<void()> wake_;
};

}  // namespace routemaster::detail
