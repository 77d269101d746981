/// @file
/// `Rounds`: schedules periodic work and its orderly end.

#pragma once

#include <algorithm>
#include <optional>

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Schedule of periodic work. A round of work may take several polls. Rounds begin once per
/// interval, the first at once, and never overlap. After a round that took longer than the
/// interval, the next round begins at once.
class Rounds {
public:
    /// An interval below 1 ms counts as 1 ms.
    explicit Rounds(Duration interval) : interval_{std::max(interval, Duration{1})} {}

    void begin_turn(TimePoint now) {
        // If the clock was set back, the next round begins now instead of being delayed.
        if (now < now_) next_ = std::min(next_, now);
        now_ = now;
    }

    /// Whether a round begins now. If true, the round lasts until `end` is called.
    bool begin() {
        if (under_way_ || closing() || now_ < next_) return false;
        under_way_ = true;
        next_ = saturating_add(now_, interval_);
        return true;
    }
    void end() { under_way_ = false; }

    /// Begins no further rounds. The current round may continue until `deadline`.
    void close(TimePoint deadline) { close_at_ = deadline; }
    [[nodiscard]] bool closing() const noexcept { return close_at_.has_value(); }
    [[nodiscard]] bool closed() const noexcept {
        return closing() && (!under_way_ || now_ >= *close_at_);
    }

    /// When to poll again, unless a reply comes earlier.
    [[nodiscard]] TimePoint next_poll() const {
        if (closing()) return closed() ? never : *close_at_;
        return under_way_ ? never : next_;
    }

private:
    Duration interval_;
    TimePoint now_ = TimePoint::min();
    TimePoint next_ = TimePoint::min();
    bool under_way_ = false;
    std::optional<TimePoint> close_at_;
};

}  // namespace routemaster::detail
