/// @file
/// Callbacks in the process that get batches as subscribers do.

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

/// Handles a batch. If it throws, the delivery failed, and the batch is retried later. See also
/// `Reject`.
using BatchHandler = std::function<void(const Batch&)>;

/// Callables that convert to a `BatchHandler`.
template <class Handler>
concept HandlesBatches = std::is_invocable_v<Handler&, const Batch&>;

/// The callbacks of a process, by the token of their subscriber. They live as long as the process:
/// after a restart the program registers them again, and gets the batches that waited.
///
/// Something must call them: a `DeliveryWorker`, or a `Dispatcher` with a `LocalTransport` that is
/// polled. When nothing does, one warning is logged: with the first event that is published 10 s
/// after another, or else at the end of the bus.
///
/// Thread safety: all members may be called from any thread.
class Callbacks {
public:
    /// `log` may be called until they are destroyed.
    explicit Callbacks(Log log = {}) : log_{std::move(log)} {}
    ~Callbacks();
    Callbacks(const Callbacks&) = delete;
    Callbacks& operator=(const Callbacks&) = delete;

    /// Names the callback of a subscriber, in place of the one before.
    void set(const std::string& token, BatchHandler handler);

    /// Forgets the callback of a subscriber. If it is running, it goes on to its end.
    void remove(const std::string& token);

    /// The callback of a subscriber; null when none is registered.
    [[nodiscard]] std::shared_ptr<const BatchHandler> find(std::string_view token) const;

    /// The subscribers that have a callback here, in alphabetical order.
    [[nodiscard]] std::vector<std::string> names() const;

    /// Says that they are called from now on: a dispatcher runs.
    void attach();

    /// Says that events were published, and warns if that was so 10 s ago and nothing calls the
    /// callbacks yet.
    void published(TimePoint now) {
        if (idle_.load(std::memory_order_relaxed)) wait_since(now);
    }

private:
    void wait_since(TimePoint now);
    void warn() const;

    Log log_;
    mutable std::mutex mutex_;  // Guards the rest, though anybody may read `idle_`.
    std::map<std::string, std::shared_ptr<const BatchHandler>, std::less<>> handlers_;
    std::atomic<bool> idle_{false};  // There are callbacks, nothing calls them, nothing was logged.
    bool attended_ = false;          // Something calls them, or the warning was logged.
    TimePoint waiting_since_ = never;  // The first event since it is idle.
};

}  // namespace routemaster
