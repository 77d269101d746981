/// @file
/// `ServerClock`: estimates the clock of the server.

#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "routemaster/time.hpp"

namespace routemaster::redis {

/// Estimator of the server's clock, from round trips of TIME. It stores the difference to the
/// uptime of this machine, a clock that is never set. If the system clock is set, the offset
/// therefore changes at once and not only with the next TIME.
///
/// Thread safety: all members may be called from any thread.
class ServerClock {
public:
    using Microseconds = std::chrono::microseconds;

    /// The uptime of this machine (CLOCK_BOOTTIME). Unlike the steady clock, it also counts while
    /// the machine is suspended.
    [[nodiscard]] static Microseconds uptime();

    /// Records a measurement. At a moment between the uptimes `sent` and `received`, the server's
    /// clock showed `server`, in microseconds since the Unix epoch.
    void measured(Microseconds sent, Microseconds received, Microseconds server);

    /// Must be called when the server changes. The next measurement then replaces all earlier ones.
    void changed();

    /// Returns the server's clock minus the system clock. `system` is what the system clock showed,
    /// since the Unix epoch, at `uptime`. Zero if the difference is within the uncertainty of the
    /// measurement, and before the first measurement.
    [[nodiscard]] Duration offset(Microseconds uptime, Microseconds system) const;

    [[nodiscard]] Duration offset() const;

private:
    struct Measurement {
        Microseconds lead{};         ///< Server's clock minus uptime.
        Microseconds uncertainty{};  ///< Uncertainty when measured. It grows with time.
        Microseconds at{};           ///< Uptime when measured.

        [[nodiscard]] Microseconds uncertainty_at(Microseconds uptime) const;
    };

    mutable std::mutex mutex_;  ///< Guards the two members below.
    std::optional<Measurement> best_;
    bool changed_ = false;
};

}  // namespace routemaster::redis
