/// @file
/// `EventQueue`: passes events from other threads to an active object.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "core/system/patience.hpp"

namespace routemaster::detail {

/// Queue of events and wake-ups from many threads for one reader, an active object, at its next
/// poll. Thread safe. The queue may outlive its reader, because writers share its ownership.
template <class Event>
class EventQueue {
public:
    struct Events {
        std::vector<Event> events;
        bool woken = false;
    };

    /// Adds an event. If memory is exhausted, waits for memory, because the reader would wait for
    /// ever for a lost event.
    void put(Event event) {
        with_patience([&] {
            const std::lock_guard lock{mutex_};
            events_.events.push_back(std::move(event));
        });
        wake_reader();
    }

    void wake() {
        {
            const std::lock_guard lock{mutex_};
            events_.woken = true;
        }
        wake_reader();
    }

    [[nodiscard]] Events take() {
        const std::lock_guard lock{mutex_};
        return std::exchange(events_, {});
    }

    [[nodiscard]] bool empty() const {
        const std::lock_guard lock{mutex_};
        return events_.events.empty() && !events_.woken;
    }

    /// Sets the function to call after each event or wake-up. `wake` must not call the queue.
    void wake_with(std::function<void()> wake) {
        const std::lock_guard lock{wake_mutex_};
        wake_ = std::move(wake);
    }

private:
    /// Calls `wake_` without locking `mutex_`, because the woken reader would have to wait for this
    /// lock. `wake_mutex_` is locked as shared, because several writers may wake the reader
    /// concurrently. With an exclusive lock, a writer with a low priority could block all others on
    /// a busy machine: it may lose the processor to the woken thread for long.
    void wake_reader() {
        const std::shared_lock lock{wake_mutex_};
        if (wake_) wake_();
    }

    mutable std::mutex mutex_;  // Guards the events.
    Events events_;
    // Guards `wake_`. Locked during a call: no call of the old function may begin after `wake_with`
    // returned.
    std::shared_mutex wake_mutex_;
    std::function<void()> wake_;
};

/// The event queue of an active object, shared with its writers. The destructor removes the wake-up
/// function, so later events wake nothing.
template <class Event>
class OwnEventQueue {
public:
    OwnEventQueue() = default;
    OwnEventQueue(const OwnEventQueue&) = delete;
    OwnEventQueue& operator=(const OwnEventQueue&) = delete;
    ~OwnEventQueue() { queue_->wake_with({}); }

    [[nodiscard]] EventQueue<Event>* operator->() const noexcept { return queue_.get(); }

    [[nodiscard]] const std::shared_ptr<EventQueue<Event>>& shared() const noexcept {
        return queue_;
    }

private:
    const std::shared_ptr<EventQueue<Event>> queue_ = std::make_shared<EventQueue<Event>>();
};

}  // namespace routemaster::detail
