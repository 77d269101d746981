/// @file
/// Settings of timers, and types that `Delayer` returns or takes.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "routemaster/recurring_job.hpp"
#include "routemaster/step/timers.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// Settings of one timer.
struct TimerOptions {
    /// 1 to `timer_id_length_max` bytes of UTF-8 without NUL. A timer with this id, in any state,
    /// is replaced. Empty: a new random id.
    std::string id{};
    /// How often the timer fires again if no listener confirms it, at most; up to
    /// `timer_retries_max`. 0: the timer is delivered at most once, and needs no confirmation.
    std::uint32_t retries_max = 0;
    /// How long a listener may take to confirm the timer. 0: the listener's
    /// `TimerListenerOptions::confirm_within`. Without retries only 0, else `invalid`.
    Duration confirm_within{0};
};

/// Settings of a recurring timer besides its schedule and its payload. See `RecurringSettings`.
struct RecurringTimerOptions {
    /// A zone of the machine's time zone database, for example `Europe/Berlin`.
    std::string time_zone = "UTC";
    CatchUp catch_up = CatchUp::once;
    bool overlap = false;
    std::uint32_t retries_max = 0;  ///< As in `TimerOptions`.
    Duration confirm_within{0};     ///< As in `TimerOptions`.
};

/// Settings of a recurring action besides its schedule and its action. See `RecurringSettings`.
struct RecurringActionOptions {
    /// A zone of the machine's time zone database, for example `Europe/Berlin`.
    std::string time_zone = "UTC";
    CatchUp catch_up = CatchUp::once;
    bool overlap = false;
};

/// A timer to post.
struct TimerPost {
    Value payload{};
    Duration delay{0};  ///< Time from now until the timer is due. Negative: the timer is due now.
    std::optional<TimePoint> at{};  ///< Used instead of `delay`.
    TimerOptions options{};
};

/// The result of a post.
struct PostedTimer {
    std::string id;
    TimerPosted outcome = TimerPosted::posted;

    friend bool operator==(const PostedTimer&, const PostedTimer&) = default;
};

/// A query for PENDING timers that fall due in a span of time.
struct UpcomingTimers {
    /// Time from now to the beginning of the span. Absent: the span has no beginning, and includes
    /// overdue timers.
    std::optional<Duration> offset{};
    /// The length of the span; without an offset, the length counts from now. Absent: the span has
    /// no end.
    std::optional<Duration> duration{};
    /// From 1 to 1,000. Fewer timers are returned if their payloads exceed `timer_slice_bytes_max`.
    std::uint32_t limit = 100;
};

/// A page of a list of timers, in order of `TimerStatus::at`, then of ids. A page contains at most
/// `timer_slice_bytes_max` of payload, and may therefore be shorter than `limit` without being the
/// last. The end of the list is reached when a page is empty.
struct TimerPage {
    TimePoint from = (TimePoint::min)();  ///< The earliest `at`.
    std::string after{};        ///< If not empty: at `from`, only timers with greater ids.
    TimePoint until = never;    ///< The latest `at`.
    std::uint32_t limit = 100;  ///< From 1 to 1,000.

    /// The page after `last`, the last timer of the page before.
    [[nodiscard]] static TimerPage following(const TimerStatus& last, std::uint32_t limit = 100) {
        return {.from = last.at, .after = last.id, .limit = limit};
    }
};

}  // namespace routemaster
