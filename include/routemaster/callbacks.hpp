/// @file
/// Callbacks: functions in this process that receive the batches of subscribers.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/log.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Function that handles a batch. If it throws, the delivery has failed, and the batch is retried
/// later. See also `Reject`.
using BatchHandler = std::function<void(const Batch&)>;

/// Callables that convert to a `BatchHandler`.
template <class Handler>
concept HandlesBatches = std::is_invocable_v<Handler&, const Batch&>;

/// Registry of a process's callbacks, by subscriber token. Callbacks are not persisted. After a
/// restart, the program registers its callbacks again, and they receive the batches that are still
/// queued.
///
/// A `DeliveryWorker`, or a polled `Dispatcher` with a `LocalTransport`, calls the callbacks. If
/// neither exists, a warning is logged once: when an event is published at least 10 s after the
/// first event, or else when the bus is destroyed.
///
/// Thread safety: all members may be called from any thread.
class Callbacks {
public:
    /// `log` must stay valid until this object is destroyed.
    explicit Callbacks(Log log = {}) : log_{std::move(log)} {}
    ~Callbacks();
    Callbacks(const Callbacks&) = delete;
    Callbacks& operator=(const Callbacks&) = delete;

    /// Sets the callback of a subscriber, in place of an earlier callback.
    void set(const std::string& token, BatchHandler handler);

    /// Removes the callback of a subscriber, without interrupting a running call.
    void remove(const std::string& token);

    /// Returns the callback of a subscriber; null when none is registered.
    [[nodiscard]] std::shared_ptr<const BatchHandler> find(std::string_view token) const;

    /// The tokens of the subscribers with a callback in this process, in alphabetical order.
    [[nodiscard]] std::vector<std::string> names() const;

    /// Records that a dispatcher calls the callbacks from now on, so no warning is needed.
    void attach();

    /// Records that events were published at `now`. Logs the warning if nothing calls the callbacks
    /// and the first event was published at least 10 s earlier.
    void published(TimePoint now) {
        if (idle_.load(std::memory_order_relaxed)) wait_since(now);
    }

private:
    void wait_since(TimePoint now);
    void warn() const;

    Log log_;
    mutable std::mutex mutex_;  // Guards the members below; `idle_` may be read without it.
    std::map<std::string, std::shared_ptr<const BatchHandler>, std::less<>> handlers_;
    // True while callbacks are registered, nothing calls them, and no warning was logged.
    std::atomic<bool> idle_{false};
    bool attended_ = false;  // A dispatcher calls the callbacks, or the warning was logged.
    TimePoint waiting_since_ = never;  // When the first event was published while `idle_`.
};

}  // namespace routemaster
