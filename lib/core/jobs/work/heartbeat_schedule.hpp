/// @file
/// `HeartbeatSchedule`: when a worker sends heartbeats, and when it scrubs dead workers.

#pragma once

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Schedule of the heartbeats of one worker. With each heartbeat, the worker may also scrub, which
/// means that the store looks for dead workers and releases their jobs. The schedule suppresses
/// scrubs when live workers may look dead. Not thread safe.
class HeartbeatSchedule {
public:
    /// `interval` is the time between heartbeats. A worker without a heartbeat for `silence` counts
    /// as dead.
    HeartbeatSchedule(Duration interval, Duration silence)
        : interval_{interval}, silence_{silence} {}

    [[nodiscard]] bool due(TimePoint now) const noexcept {
        return now >= next_ || now < last_sent_;
    }
    [[nodiscard]] TimePoint next() const noexcept { return next_; }

    /// Records that a heartbeat is sent. Returns whether the worker should also scrub.
    bool sent(TimePoint now);

    /// Records that the store has performed the heartbeat sent at `sent_at`. Returns whether a
    /// scrub may have ended leases of this worker, because the store may have received no earlier
    /// heartbeat for `silence`.
    bool heard(TimePoint sent_at, TimePoint now);

    /// Whether no scrub can have declared the worker dead since the last heartbeat with a reply.
    [[nodiscard]] bool certainly_alive(TimePoint now) const noexcept;

    void clock_set_back(TimePoint now);

private:
    /// Without a reply for this long, the store counts as unreachable.
    [[nodiscard]] Duration away_after() const noexcept { return 2 * interval_; }

    Duration interval_;
    Duration silence_;
    TimePoint first_sent_ = never;
    TimePoint last_sent_ = never;
    TimePoint heard_at_ = never;  ///< Send time of the last heartbeat that got a reply.
    TimePoint next_{};
    bool skipped_scrub_ = false;   ///< The last scrub was skipped after a late heartbeat.
    bool store_was_away_ = false;  ///< The store was unreachable since `heard_at_`.
    TimePoint scrubs_from_ = TimePoint::min();  ///< No scrubs before this time.
};

}  // namespace routemaster::detail
