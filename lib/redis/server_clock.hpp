/// @file
/// What the server's clock shows, as far as it can be known from here.

#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "routemaster/time.hpp"

namespace routemaster::redis {

/// Learns from round trips of TIME. What was learnt is kept against a clock of this machine that
/// nobody sets, so that a step of the system clock is seen at once and not with the next TIME.
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

    /// The next measurement is of another server: what is known ends with it.
    void changed();

    /// What to add to the system clock, which shows `system` since the epoch at `uptime`, to get
    /// what the server's clock shows. Zero when they differ by no more than the measurement can
    /// tell, and as long as there was none.
    [[nodiscard]] Duration offset(Microseconds uptime, Microseconds system) const;

    /// The same, now.
    [[nodiscard]] Duration offset() const;

private:
    struct Measurement {
        Microseconds lead{};         ///< Of the server's clock before the uptime.
        Microseconds uncertainty{};  ///< When it was made.
        Microseconds at{};           ///< The uptime when it was made.

        [[nodiscard]] Microseconds uncertainty_at(Microseconds uptime) const;
    };

    mutable std::mutex mutex_;  ///< Guards the two below.
    std::optional<Measurement> best_;
    bool changed_ = false;
};

}  // namespace routemaster::redis
