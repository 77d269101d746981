/// @file
/// A clock that stands still until a test moves it.

#pragma once

#include <atomic>
#include <cstdint>

#include "routemaster/time.hpp"

namespace routemaster::testing {

/// Tells the instant it was set to.
///
/// Thread safety: all members may be called from any thread.
class ManualClock final : public Clock {
public:
    /// Begins at an instant that is not special, so that nothing works by accident at zero.
    explicit ManualClock(TimePoint at = from_milliseconds(1'700'000'000'000))
        : at_{to_milliseconds(at)} {}

    [[nodiscard]] TimePoint now() const override { return from_milliseconds(at_.load()); }

    /// Moves on by `span`; a negative one steps back, as the clock of a machine may.
    void advance(Duration span) { at_.fetch_add(span.count()); }

    /// Moves to an instant.
    void set(TimePoint at) { at_.store(to_milliseconds(at)); }

private:
    std::atomic<std::int64_t> at_;
};

}  // namespace routemaster::testing
