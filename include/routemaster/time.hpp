/// @file
/// Instants and spans of time. One type each: whole milliseconds, in UTC, persistable.

#pragma once

#include <chrono>
#include <cstdint>

namespace routemaster {

/// A span of time in milliseconds.
using Duration = std::chrono::milliseconds;

/// An instant: milliseconds since the Unix epoch, comparable between processes.
using TimePoint = std::chrono::sys_time<std::chrono::milliseconds>;

/// An instant that does not come.
inline constexpr TimePoint never = TimePoint::max();

/// The instant as a number, as it is stored and sent.
[[nodiscard]] constexpr std::int64_t to_milliseconds(TimePoint at) noexcept {
    return at.time_since_epoch().count();
}

/// The instant that `to_milliseconds` made a number of.
[[nodiscard]] constexpr TimePoint from_milliseconds(std::int64_t milliseconds) noexcept {
    return TimePoint{Duration{milliseconds}};
}

/// `at + span`, but never past `never` nor before the beginning of time.
[[nodiscard]] constexpr TimePoint saturating_add(TimePoint at, Duration span) noexcept {
    if (span.count() > 0 && at > never - span) return never;
    if (span.count() < 0 && at < TimePoint::min() - span) return TimePoint::min();
    return at + span;
}

/// Tells the time. Held by façades and runners only; everything below takes `now` as an argument.
///
/// Thread safety: `now` may be called from any thread.
class Clock {
public:
    virtual ~Clock() = default;

    /// The present instant. May step back when the machine's clock is set.
    [[nodiscard]] virtual TimePoint now() const = 0;
};

}  // namespace routemaster
