/// @file
/// Types for instants and spans of time: whole milliseconds, in UTC, storable.

#pragma once

#include <chrono>
#include <cstdint>

namespace routemaster {

/// A span of time in milliseconds.
using Duration = std::chrono::milliseconds;

/// An instant: milliseconds since the Unix epoch, comparable between processes.
using TimePoint = std::chrono::sys_time<std::chrono::milliseconds>;

/// An instant in the infinite future.
inline constexpr TimePoint never = (TimePoint::max)();

/// Converts an instant to a number, for storing and sending.
[[nodiscard]] constexpr std::int64_t to_milliseconds(TimePoint at) noexcept {
    return at.time_since_epoch().count();
}

/// Converts a number from `to_milliseconds` back to an instant.
[[nodiscard]] constexpr TimePoint from_milliseconds(std::int64_t milliseconds) noexcept {
    return TimePoint{Duration{milliseconds}};
}

/// Returns `at + span`, clamped to the range of `TimePoint`.
[[nodiscard]] constexpr TimePoint saturating_add(TimePoint at, Duration span) noexcept {
    if (span.count() > 0 && at > never - span) return never;
    if (span.count() < 0 && at < (TimePoint::min)() - span) return (TimePoint::min)();
    return at + span;
}

/// The last instant at which a job or a timer may be due. Redis stores due times as doubles, which
/// cannot represent greater numbers exactly.
inline constexpr TimePoint due_at_max = from_milliseconds((std::int64_t{1} << 53) - 1);

/// Whether a job or a timer may be due at this instant: from 1970 to `due_at_max`.
[[nodiscard]] constexpr bool is_due_time(TimePoint at) noexcept {
    return at >= TimePoint{} && at <= due_at_max;
}

/// Returns the due time after a delay, at most `due_at_max`. A negative delay counts as 0.
[[nodiscard]] constexpr TimePoint due_after(Duration delay, TimePoint now) noexcept {
    const TimePoint at = delay > Duration{0} ? saturating_add(now, delay) : now;
    return at < due_at_max ? at : due_at_max;
}

/// The longest span that an HTTP request, or the action of a timer, may contain: 1,000 years.
inline constexpr Duration span_max{31'536'000'000'000};

/// Interface of a clock. Only façades and runners read a clock; all code below them gets `now` as
/// an argument.
///
/// Thread safety: `now` may be called from any thread.
class Clock {
public:
    virtual ~Clock() = default;

    /// Returns the current instant. It may decrease when the machine's clock is set.
    [[nodiscard]] virtual TimePoint now() const = 0;

    /// Returns how long to sleep until `at`; 0 or negative if `at` has passed. A clock with a
    /// resolution finer than 1 ms overrides this function. Otherwise sleepers wake up to 1 ms too
    /// late. `at` is at most 100 years away.
    [[nodiscard]] virtual std::chrono::nanoseconds until(TimePoint at) const { return at - now(); }
};

}  // namespace routemaster
