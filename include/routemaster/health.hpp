/// @file
/// How a subscriber's health slows down deliveries to it. Formulas of Ruby Routemaster, and a wait
/// between attempts, which it lacked.

#pragma once

#include <algorithm>
#include <cstdint>

#include "routemaster/time.hpp"

namespace routemaster {

/// Health of a subscriber without failures.
inline constexpr int health_points_max = 100;

/// How health changes, and what low health costs.
struct HealthOptions {
    int heal_rate = 1;             ///< Points gained by a delivery that succeeded; 1 to 100.
    int damage_rate = -2;          ///< Points lost by one that failed; -100 to -1.
    Duration backoff_max{60'000};  ///< The longest wait, at no health at all; 1 ms to 10 minutes.
};

/// Health after a change, clamped to 0 to 100.
[[nodiscard]] constexpr int changed_health(int points, int change) noexcept {
    return std::clamp(points + change, 0, health_points_max);
}

/// The wait for a health of `points`: round(backoff_max · 2^-points) milliseconds.
[[nodiscard]] Duration health_backoff(int points, Duration backoff_max) noexcept;

/// The wait after the n-th attempt failed, `points` being the health after that failure:
/// max(health_backoff, min(backoff_max, 100 ms · 2^(n-1))), and up to half of it more by `jitter`,
/// a number in [0, 0.5). Ruby Routemaster had the first term only, without jitter: 45 retries at
/// full speed before any pause.
[[nodiscard]] Duration retry_wait(int points, std::uint32_t attempt, Duration backoff_max,
                                  double jitter) noexcept;

/// When a retry is due after such a wait, and an attempt that took so long: at the end of the wait,
/// rounded up to a multiple of a power of two of milliseconds, by less than 1,024 ms and half of
/// the longer of the two. So the retries of many subscribers fall due together: each time that one
/// does, it costs a turn of the dispatcher and a commit.
[[nodiscard]] TimePoint retry_time(TimePoint now, Duration wait,
                                   Duration took = Duration::zero()) noexcept;

}  // namespace routemaster
