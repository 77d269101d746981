/// @file
/// A subscriber's health, and the delivery delays computed from it. The formulas are Ruby
/// Routemaster's, plus a delay between retries that Ruby Routemaster does not have.

#pragma once

#include <algorithm>
#include <cstdint>

#include "routemaster/time.hpp"

namespace routemaster {

/// Maximum health, of a subscriber without failures.
inline constexpr int health_points_max = 100;

/// How fast health changes, and how long deliveries to an unhealthy subscriber are delayed.
struct HealthOptions {
    int heal_rate = 1;             ///< Points gained by a successful delivery; 1 to 100.
    int damage_rate = -2;          ///< Points lost by a failed delivery; -100 to -1.
    Duration backoff_max{60'000};  ///< The delay at health 0; 1 ms to 10 minutes.
};

/// Returns the health after a change, clamped to 0 to 100.
[[nodiscard]] constexpr int changed_health(int points, int change) noexcept {
    return std::clamp(points + change, 0, health_points_max);
}

/// Returns the delay at a health of `points`: round(backoff_max · 2^-points) milliseconds.
[[nodiscard]] Duration health_backoff(int points, Duration backoff_max) noexcept;

/// Returns the delay before the retry after attempt number `attempt` failed, where `points` is the
/// health after this failure: max(health_backoff, min(backoff_max, 100 ms · 2^(attempt-1))),
/// multiplied by 1 + `jitter`, a number in [0, 0.5). Ruby Routemaster has only the first term and
/// no jitter, and therefore retries 45 times without a noticeable delay.
[[nodiscard]] Duration retry_wait(int points, std::uint32_t attempt, Duration backoff_max,
                                  double jitter) noexcept;

/// Returns when a retry is due after the delay `wait`, if the attempt lasted `took`. The due time
/// is rounded up to a multiple of a power of two of milliseconds, by less than 1,024 ms and less
/// than half of `wait` or `took`, whichever is longer. Retries of many subscribers thus become due
/// together, which saves polls of the dispatcher and commits.
[[nodiscard]] TimePoint retry_time(TimePoint now, Duration wait,
                                   Duration took = Duration::zero()) noexcept;

}  // namespace routemaster
