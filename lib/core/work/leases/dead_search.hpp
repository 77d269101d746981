/// @file
/// Looks for workers that died, on behalf of a process that is no worker at the moment.

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

/// Performs `ScrubWorkers` at an interval, as each worker does, and with the same care: after this
/// process stood still, or the store was away, live workers are heard of before it looks again.
/// Thread safety: none.
class DeadSearch {
public:
    /// The store must outlive it.
    DeadSearch(Store& store, Duration interval, Duration silence, Log log)
        : store_{store}, interval_{interval}, silence_{silence}, log_{std::move(log)} {}

    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    /// Looks if it is time. Returns when to poll next. While it is not `needed`, as a worker of
    /// this process looks, it does nothing, and is to be polled all the same.
    TimePoint poll(TimePoint now, bool needed);

private:
    void note(const Result<ReleasedJobs>& reply, TimePoint now);

    Store& store_;
    const Duration interval_;
    const Duration silence_;
    const Log log_;
    OwnEventQueue<Result<ReleasedJobs>> events_;
    std::optional<TimePoint> asked_at_;  // Without an answer yet.
    TimePoint look_at_ = never;
    TimePoint expected_at_ = never;  // When it asked to be polled next; `never`: at no instant.
    bool stood_still_ = false;       // The last poll came an interval late, or more.
};

}  // namespace routemaster::detail
