/// @file
/// Settings of timers, and what `Delayer` says of them.

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
    /// 1 to `timer_id_length_max` bytes of UTF-8 without NUL; a timer of that id, in any state, is
    /// replaced. Empty: a fresh id.
    std::string id{};
    /// How often it is fired again, at most, because nobody confirmed it; up to
    /// `timer_retries_max`. 0: it is handed out at most once, and needs no confirmation.
    std::uint32_t retries_max = 0;
    /// How long a listener may take to confirm it. 0: as `TimerListenerOptions::confirm_within`.
    Duration confirm_within{0};
};

/// Settings of a recurring timer beside its schedule and its payload. See `RecurringSettings`.
struct RecurringTimerOptions {
    std::string time_zone = "UTC";  ///< Of the machine's database, as `Europe/Berlin`.
    CatchUp catch_up = CatchUp::once;
    bool overlap = false;
    std::uint32_t retries_max = 0;  ///< As in `TimerOptions`.
    Duration confirm_within{0};     ///< As in `TimerOptions`.
};

/// Settings of a recurring action beside its schedule and what it does. See `RecurringSettings`.
struct RecurringActionOptions {
    std::string time_zone = "UTC";  ///< Of the machine's database, as `Europe/Berlin`.
    CatchUp catch_up = CatchUp::once;
    bool overlap = false;
};

/// A timer to be posted.
struct TimerPost {
    Value payload{};
    Duration delay{0};              ///< From now on. Negative: it is due now.
    std::optional<TimePoint> at{};  ///< Instead of `delay`.
    TimerOptions options{};
};

/// What became of a post.
struct PostedTimer {
    std::string id;
    TimerPosted outcome = TimerPosted::posted;

    friend bool operator==(const PostedTimer&, const PostedTimer&) = default;
};

/// Which PENDING timers fall due in a span of time.
struct UpcomingTimers {
    /// The span begins so long from now. Absent: it has no beginning, and overdue ones are in it.
    std::optional<Duration> offset{};
    /// How long the span is; without an offset it begins now. Absent: it has no end.
    std::optional<Duration> duration{};
    /// From 1 to 1,000. With more than `timer_slice_bytes_max` of payload there are fewer.
    std::uint32_t limit = 100;
};

/// A page of a list of timers, which is ordered by `TimerStatus::at` and, among equals, by id. It
/// may have fewer than `limit`, and not be the last one, as it has at most `timer_slice_bytes_max`
/// of payload: the one that follows the last is empty.
struct TimerPage {
    TimePoint from = (TimePoint::min)();  ///< The first `at`.
    std::string after{};        ///< With an id, only what comes after that timer at `from`.
    TimePoint until = never;    ///< The last `at`.
    std::uint32_t limit = 100;  ///< From 1 to 1,000.

    /// The page that comes after `last`, the last timer of one.
    [[nodiscard]] static TimerPage following(const TimerStatus& last, std::uint32_t limit = 100) {
        return {.from = last.at, .after = last.id, .limit = limit};
    }
};

}  // namespace routemaster
