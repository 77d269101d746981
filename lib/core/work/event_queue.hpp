/// @file
/// What other threads have for an active object, until it is polled.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "core/system/patience.hpp"

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

    /// An event that got lost would leave its reader waiting for ever: this waits for memory.
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

    /// Calls `wake`, which must not call back, whenever something comes.
    void wake_with(std::function<void()> wake) {
        const std::lock_guard lock{wake_mutex_};
        wake_ = std::move(wake);
    }

private:
    /// Without the lock of the events: the reader would wait for it, if it ran at once. Others may
    /// wake it meanwhile: a thread of low priority loses the processor to the one that it wakes,
    /// and on a busy machine it is long until it can go on.
    void wake_reader() {
        const std::shared_lock lock{wake_mutex_};
        if (wake_) wake_();
    }

    mutable std::mutex mutex_;  // Guards the events.
    Events events_;
    std::shared_mutex wake_mutex_;  // Guards the wake-up; held while waking: none comes late.
    std::function<void()> wake_;
};

/// The queue of one active object, which others share to write into. Its wake-up ends with it: what
/// comes later wakes nobody.
template <class Event>
class OwnEventQueue {
public:
    OwnEventQueue() = default;
    OwnEventQueue(const OwnEventQueue&) = delete;
    OwnEventQueue& operator=(const OwnEventQueue&) = delete;
    ~OwnEventQueue() { queue_->wake_with({}); }

    [[nodiscard]] EventQueue<Event>* operator->() const noexcept { return queue_.get(); }

    /// For those who write.
    [[nodiscard]] const std::shared_ptr<EventQueue<Event>>& shared() const noexcept {
        return queue_;
    }

private:
    const std::shared_ptr<EventQueue<Event>> queue_ = std::make_shared<EventQueue<Event>>();
};

}  // namespace routemaster::detail
