/// @file
/// Events from other threads for an active object, until its next poll.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "core/system/patience.hpp"

namespace routemaster::detail {

/// Events from other threads, and wake-ups. Thread safe. The queue may outlive its reader, because
/// writers share the queue.
template <class Event>
class EventQueue {
public:
    /// All events and wake-ups since the last `take`.
    struct Events {
        std::vector<Event> events;
        bool woken = false;
    };

    /// A lost event would leave the reader waiting for ever. When memory runs out, waits for
    /// memory.
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

    /// Calls `wake` after each event or wake-up. `wake` must not call the queue.
    void wake_with(std::function<void()> wake) {
        const std::lock_guard lock{wake_mutex_};
        wake_ = std::move(wake);
    }

private:
    /// Does not lock `mutex_`: the woken reader would wait for the lock. `wake_mutex_` is locked as
    /// shared: several writers may wake the reader. A writer of low priority can lose the processor
    /// to the woken thread, and stand still for long on a busy machine.
    void wake_reader() {
        const std::shared_lock lock{wake_mutex_};
        if (wake_) wake_();
    }

    mutable std::mutex mutex_;  // Guards the events.
    Events events_;
    // Guards `wake_`. Locked during its calls: no call begins after `wake_with`.
    std::shared_mutex wake_mutex_;
    std::function<void()> wake_;
};

/// The queue of an active object, shared with its writers. Its wake-up ends with the object: later
/// events wake nothing.
template <class Event>
class OwnEventQueue {
public:
    OwnEventQueue() = default;
    OwnEventQueue(const OwnEventQueue&) = delete;
    OwnEventQueue& operator=(const OwnEventQueue&) = delete;
    ~OwnEventQueue() { queue_->wake_with({}); }

    [[nodiscard]] EventQueue<Event>* operator->() const noexcept { return queue_.get(); }

    /// For the writers.
    [[nodiscard]] const std::shared_ptr<EventQueue<Event>>& shared() const noexcept {
        return queue_;
    }

private:
    const std::shared_ptr<EventQueue<Event>> queue_ = std::make_shared<EventQueue<Event>>();
};

}  // namespace routemaster::detail
