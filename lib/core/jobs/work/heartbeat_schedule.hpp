/// @file
/// `HeartbeatSchedule`: when a worker sends heartbeats, and when it scrubs dead workers.

#pragma once

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The heartbeats of one worker. Not thread safe.
class HeartbeatSchedule {
public:
    /// A worker without a heartbeat for `silence` counts as dead.
    HeartbeatSchedule(Duration interval, Duration silence)
        : interval_{interval}, silence_{silence} {}

    [[nodiscard]] bool due(TimePoint now) const noexcept {
        return now >= next_ || now < last_sent_;
    }
    [[nodiscard]] TimePoint next() const noexcept { return next_; }

    /// To be called when a heartbeat is sent. Returns whether the worker should also scrub.
    bool sent(TimePoint now);

    /// To be called when the store has performed the heartbeat sent at `sent_at`. Returns whether a
    /// scrub may have ended leases of this worker before: the store may not have heard of the
    /// worker for `silence`.
    bool heard(TimePoint sent_at, TimePoint now);

    /// Whether no scrub can have taken the worker for dead since the last heartbeat with a reply.
    [[nodiscard]] bool certainly_alive(TimePoint now) const noexcept;

    void clock_set_back(TimePoint now);

private:
    /// Without a reply for this time, the store counts as away.
    [[nodiscard]] Duration away_after() const noexcept { return 2 * interval_; }

    Duration interval_;
    Duration silence_;
    TimePoint first_sent_ = never;
    TimePoint last_sent_ = never;
    TimePoint heard_at_ = never;  ///< When the last heartbeat with a reply was sent.
    TimePoint next_{};
    bool skipped_scrub_ = false;   ///< The last scrub was skipped after a late heartbeat.
    bool store_was_away_ = false;  ///< The store was away since the last heartbeat with a reply.
    TimePoint scrubs_from_ = TimePoint::min();  ///< No scrubs before this time.
};

}  // namespace routemaster::detail
