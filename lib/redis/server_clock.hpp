/// @file
/// The server's clock, as precisely as it can be known from here.

#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "routemaster/time.hpp"

namespace routemaster::redis {

/// Measures round trips of TIME. The result is relative to a clock of this machine that nobody
/// sets, so that a step of the system clock counts at once and not with the next TIME.
///
/// Thread safety: all members may be called from any thread.
class ServerClock {
public:
    using Microseconds = std::chrono::microseconds;

    /// CLOCK_BOOTTIME: as the steady clock, but it also runs while the machine is suspended.
    [[nodiscard]] static Microseconds uptime();

    /// The server's clock showed `server`, since the epoch, at some moment between the uptimes
    /// `sent` and `received`.
    void measured(Microseconds sent, Microseconds received, Microseconds server);

    /// The next measurement is of another server: forgets what is known.
    void changed();

    /// What to add to the system clock, which shows `system` since the epoch at `uptime`, to get
    /// the server's clock. Zero when they differ by no more than the uncertainty of the
    /// measurement, and before the first measurement.
    [[nodiscard]] Duration offset(Microseconds uptime, Microseconds system) const;

    /// The same, now.
    [[nodiscard]] Duration offset() const;

private:
    struct Measurement {
        Microseconds lead{};         ///< Server's clock minus the uptime.
        Microseconds uncertainty{};  ///< When it was measured.
        Microseconds at{};           ///< The uptime when it was measured.

        [[nodiscard]] Microseconds uncertainty_at(Microseconds uptime) const;
    };

    mutable std::mutex mutex_;  ///< Guards the two below.
    std::optional<Measurement> best_;
    bool changed_ = false;
};

}  // namespace routemaster::redis
