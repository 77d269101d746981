/// @file
/// How a subscriber's health slows deliveries to the subscriber. The formulas are Ruby
/// Routemaster's, plus a wait between attempts that Ruby Routemaster lacks.

#pragma once

#include <algorithm>
#include <cstdint>

#include "routemaster/time.hpp"

namespace routemaster {

/// Health of a subscriber without failures.
inline constexpr int health_points_max = 100;

/// How health changes, and how long deliveries to an unhealthy subscriber wait.
struct HealthOptions {
    int heal_rate = 1;             ///< Points for a successful delivery; 1 to 100.
    int damage_rate = -2;          ///< Points for a failed delivery; -100 to -1.
    Duration backoff_max{60'000};  ///< The longest wait, at a health of 0; 1 ms to 10 minutes.
};

/// Health after a change, clamped to 0 to 100.
[[nodiscard]] constexpr int changed_health(int points, int change) noexcept {
    return std::clamp(points + change, 0, health_points_max);
}

/// The wait for a health of `points`: round(backoff_max · 2^-points) milliseconds.
[[nodiscard]] Duration health_backoff(int points, Duration backoff_max) noexcept;

/// The wait after the n-th attempt failed, where `points` is the health after this failure:
/// max(health_backoff, min(backoff_max, 100 ms · 2^(n-1))), multiplied by 1 + `jitter`, a number in
/// [0, 0.5). Ruby Routemaster has only the first term, without jitter: 45 retries at full speed
/// before any pause.
[[nodiscard]] Duration retry_wait(int points, std::uint32_t attempt, Duration backoff_max,
                                  double jitter) noexcept;

/// When a retry is due after `wait`, if the attempt took `took`. The end of the wait is rounded up
/// to a multiple of a power of two of milliseconds, by less than 1,024 ms and less than half of
/// `wait` or `took`, whichever is longer. Retries of many subscribers thus fall due together, which
/// saves iterations of the dispatcher and commits.
[[nodiscard]] TimePoint retry_time(TimePoint now, Duration wait,
                                   Duration took = Duration::zero()) noexcept;

}  // namespace routemaster
