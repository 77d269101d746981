/// @file
/// The search for dead workers by a process without a worker.

#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "core/work/event_queue.hpp"
#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/workers.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Performs `ScrubWorkers` at an interval, as each worker does. After this process stood still, or
/// the store was away, the search waits until the store has heard of all live workers. Thread
/// safety: none.
class DeadSearch {
public:
    /// The store must outlive the object.
    DeadSearch(Store& store, Duration interval, Duration silence, Log log)
        : store_{store}, interval_{interval}, silence_{silence}, log_{std::move(log)} {}

    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    /// Scrubs if due. Returns when to poll next. When not `needed`, because a worker of this
    /// process scrubs, does nothing, but must still be polled.
    TimePoint poll(TimePoint now, bool needed);

private:
    void note(const Result<ReleasedJobs>& reply, TimePoint now);

    Store& store_;
    const Duration interval_;
    const Duration silence_;
    const Log log_;
    OwnEventQueue<Result<ReleasedJobs>> events_;
    std::optional<TimePoint> asked_at_;  // Without a reply yet.
    TimePoint look_at_ = never;
    TimePoint expected_at_ = never;  // The last returned time; `never` if none.
    bool stood_still_ = false;       // The last poll was late by an interval or more.
};

}  // namespace routemaster::detail
