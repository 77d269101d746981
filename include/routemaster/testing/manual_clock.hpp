/// @file
/// `ManualClock`: a clock that a test sets and advances.

#pragma once

#include <atomic>
#include <cstdint>

#include "routemaster/time.hpp"

namespace routemaster::testing {

/// Clock that returns the instant set by the test.
///
/// Thread safety: all members may be called from any thread.
class ManualClock final : public Clock {
public:
    /// Starts at an arbitrary instant, because a test must not pass only because the time is 0.
    explicit ManualClock(TimePoint at = from_milliseconds(1'700'000'000'000))
        : at_{to_milliseconds(at)} {}

    [[nodiscard]] TimePoint now() const override { return from_milliseconds(at_.load()); }

    /// Advances the clock by `span`. A negative span sets it back, as on a real machine.
    void advance(Duration span) { at_.fetch_add(span.count()); }

    /// Sets the clock.
    void set(TimePoint at) { at_.store(to_milliseconds(at)); }

private:
    std::atomic<std::int64_t> at_;
};

}  // namespace routemaster::testing
