/// @file
/// `DeadSearch`: searches for dead workers in a process that has no worker itself.

#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "core/work/event_queue.hpp"
#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step/workers.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Periodic `ScrubWorkers`, as each worker performs it. After this process was suspended, or the
/// store was unreachable, the search pauses until the store has received heartbeats of all live
/// workers. Not thread safe.
class DeadSearch {
public:
    /// The store must outlive the object.
    DeadSearch(Store& store, Duration interval, Duration silence, Log log)
        : store_{store}, interval_{interval}, silence_{silence}, log_{std::move(log)} {}

    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    /// Scrubs if due. Returns when to poll next. Call this function even if not `needed`, because a
    /// worker of this process scrubs: it then only notes the time.
    TimePoint poll(TimePoint now, bool needed);

private:
    void note(const Result<ReleasedJobs>& reply, TimePoint now);

    Store& store_;
    const Duration interval_;
    const Duration silence_;
    const Log log_;
    OwnEventQueue<Result<ReleasedJobs>> events_;
    std::optional<TimePoint> asked_at_;  // When the current step was submitted.
    TimePoint look_at_ = never;
    TimePoint expected_at_ = never;  // The time that the last poll returned; `never` if none.
    bool stood_still_ = false;       // Whether the last poll was late by an interval or more.
};

}  // namespace routemaster::detail
