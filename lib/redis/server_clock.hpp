/// @file
/// Estimates the server's clock.

#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "routemaster/time.hpp"

namespace routemaster::redis {

/// Measures the server's clock by round trips of TIME. The estimate is relative to the uptime of
/// this machine, a clock that is never set. Therefore a step of the system clock counts at once and
/// not only with the next TIME.
///
/// Thread safety: all members may be called from any thread.
class ServerClock {
public:
    using Microseconds = std::chrono::microseconds;

    /// CLOCK_BOOTTIME: as the steady clock, but it also runs while the machine is suspended.
    [[nodiscard]] static Microseconds uptime();

    /// Records a measurement: the server's clock showed `server`, since the epoch, at a moment
    /// between the uptimes `sent` and `received`.
    void measured(Microseconds sent, Microseconds received, Microseconds server);

    /// The next measurement is of another server and replaces all earlier ones.
    void changed();

    /// Returns the server's clock minus the system clock, which shows `system` since the epoch at
    /// `uptime`. Zero when the difference is within the uncertainty of the measurement, and before
    /// the first measurement.
    [[nodiscard]] Duration offset(Microseconds uptime, Microseconds system) const;

    /// The difference now.
    [[nodiscard]] Duration offset() const;

private:
    struct Measurement {
        Microseconds lead{};         ///< Server's clock minus the uptime.
        Microseconds uncertainty{};  ///< At the time of the measurement.
        Microseconds at{};           ///< The uptime at the measurement.

        [[nodiscard]] Microseconds uncertainty_at(Microseconds uptime) const;
    };

    mutable std::mutex mutex_;  ///< Guards the two members below.
    std::optional<Measurement> best_;
    bool changed_ = false;
};

}  // namespace routemaster::redis
