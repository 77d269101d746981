/// @file
/// A clock that a test sets and advances.

#pragma once

#include <atomic>
#include <cstdint>

#include "routemaster/time.hpp"

namespace routemaster::testing {

/// Returns the instant it was set to.
///
/// Thread safety: all members may be called from any thread.
class ManualClock final : public Clock {
public:
    /// Starts at an arbitrary instant, so that no test passes by accident at zero.
    explicit ManualClock(TimePoint at = from_milliseconds(1'700'000'000'000))
        : at_{to_milliseconds(at)} {}

    [[nodiscard]] TimePoint now() const override { return from_milliseconds(at_.load()); }

    /// Moves on by `span`; a negative one steps back, as a machine's clock may.
    void advance(Duration span) { at_.fetch_add(span.count()); }

    /// Moves to an instant.
    void set(TimePoint at) { at_.store(to_milliseconds(at)); }

private:
    std::atomic<std::int64_t> at_;
};

}  // namespace routemaster::testing
