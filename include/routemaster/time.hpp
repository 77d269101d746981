/// @file
/// Instants and spans of time, one type each: whole milliseconds, in UTC, persistable.

#pragma once

#include <chrono>
#include <cstdint>

namespace routemaster {

/// A span of time in milliseconds.
using Duration = std::chrono::milliseconds;

/// An instant: milliseconds since the Unix epoch, comparable between processes.
using TimePoint = std::chrono::sys_time<std::chrono::milliseconds>;

/// An instant that never comes.
inline constexpr TimePoint never = (TimePoint::max)();

/// The instant as a number, for storing and sending.
[[nodiscard]] constexpr std::int64_t to_milliseconds(TimePoint at) noexcept {
    return at.time_since_epoch().count();
}

/// The instant from the number that `to_milliseconds` returned.
[[nodiscard]] constexpr TimePoint from_milliseconds(std::int64_t milliseconds) noexcept {
    return TimePoint{Duration{milliseconds}};
}

/// `at + span`, clamped to the range of `TimePoint`.
[[nodiscard]] constexpr TimePoint saturating_add(TimePoint at, Duration span) noexcept {
    if (span.count() > 0 && at > never - span) return never;
    if (span.count() < 0 && at < (TimePoint::min)() - span) return (TimePoint::min)();
    return at + span;
}

/// The last instant at which a job or a timer may be due. A greater number is not exact in Redis,
/// which stores due times as doubles.
inline constexpr TimePoint due_at_max = from_milliseconds((std::int64_t{1} << 53) - 1);

/// Whether a job or a timer may be due at this instant: from 1970 to `due_at_max`.
[[nodiscard]] constexpr bool is_due_time(TimePoint at) noexcept {
    return at >= TimePoint{} && at <= due_at_max;
}

/// The due time after a delay. A negative delay means `now`. The result is at most `due_at_max`.
[[nodiscard]] constexpr TimePoint due_after(Duration delay, TimePoint now) noexcept {
    const TimePoint at = delay > Duration{0} ? saturating_add(now, delay) : now;
    return at < due_at_max ? at : due_at_max;
}

/// The longest span that a request over HTTP, or the action of a timer, may contain: 1,000 years.
inline constexpr Duration span_max{31'536'000'000'000};

/// A source of the current time. Only façades and runners have a clock; all code below takes `now`
/// as an argument.
///
/// Thread safety: `now` may be called from any thread.
class Clock {
public:
    virtual ~Clock() = default;

    /// The current instant. May go back when the machine's clock is set.
    [[nodiscard]] virtual TimePoint now() const = 0;

    /// The time to sleep until `at`; 0 or negative if `at` has come. A clock with a finer
    /// resolution than 1 ms overrides this function; otherwise sleepers wake up to 1 ms too late.
    /// `at` is at most 100 years away.
    [[nodiscard]] virtual std::chrono::nanoseconds until(TimePoint at) const { return at - now(); }
};

}  // namespace routemaster
