/// @file
/// Settings of timers, and argument and result types of `Delayer`.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "routemaster/recurring_job.hpp"
#include "routemaster/store/step/timers.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// Settings of one timer.
struct TimerOptions {
    /// 1 to `timer_id_length_max` bytes of UTF-8 without NUL. A timer with this id, in any state,
    /// is replaced. Empty: a random id.
    std::string id{};
    /// How often the timer fires again if no listener confirms it, up to `timer_retries_max`. 0:
    /// the timer is delivered at most once, and needs no confirmation.
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

/// A timer to be posted.
struct TimerPost {
    Value payload{};
    Duration delay{0};  ///< Time from now until the timer is due; a negative delay counts as 0.
    std::optional<TimePoint> at{};  ///< Due time; if set, `delay` is ignored.
    TimerOptions options{};
};

/// The result of posting a timer.
struct PostedTimer {
    std::string id;
    TimerPosted outcome = TimerPosted::posted;

    friend bool operator==(const PostedTimer&, const PostedTimer&) = default;
};

/// Query for PENDING timers that are due within a span of time.
struct UpcomingTimers {
    /// Time from now to the start of the span. Absent: the span has no start, so overdue timers are
    /// included.
    std::optional<Duration> offset{};
    /// Length of the span. Without an `offset`, the length counts from now. Absent: the span has no
    /// end.
    std::optional<Duration> duration{};
    /// From 1 to 1,000. Fewer timers are returned if their payloads exceed `timer_slice_bytes_max`.
    std::uint32_t limit = 100;
};

/// Query for a page of a list of timers, ordered by `TimerStatus::at` and then by id. A page has at
/// most `timer_slice_bytes_max` bytes of payloads, so a page with fewer than `limit` timers need
/// not be the last. The list ends with an empty page.
struct TimerPage {
    TimePoint from = (TimePoint::min)();  ///< The earliest `at`.
    std::string after{};        ///< If not empty: at `from`, only greater ids are included.
    TimePoint until = never;    ///< The latest `at`.
    std::uint32_t limit = 100;  ///< From 1 to 1,000.

    /// Returns the query for the next page, where `last` is the last timer of the current page.
    [[nodiscard]] static TimerPage following(const TimerStatus& last, std::uint32_t limit = 100) {
        return {.from = last.at, .after = last.id, .limit = limit};
    }
};

}  // namespace routemaster
