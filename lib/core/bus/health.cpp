#include "routemaster/health.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace routemaster {

Duration health_backoff(int points, Duration backoff_max) noexcept {
    return Duration{std::llround(std::ldexp(static_cast<double>(backoff_max.count()), -points))};
}

Duration retry_wait(int points, std::uint32_t attempt, Duration backoff_max,
                    double jitter) noexcept {
    const auto doublings = static_cast<int>(std::min<std::uint32_t>(attempt, 30)) - 1;
    const Duration growing{std::int64_t{100} << std::max(doublings, 0)};
    const auto wait = std::max(health_backoff(points, backoff_max), std::min(backoff_max, growing));
    return Duration{std::llround(static_cast<double>(wait.count()) * (1.0 + jitter))};
}

TimePoint retry_time(TimePoint now, Duration wait, Duration took) noexcept {
    const auto longer = std::max(wait, took);
    const auto slack = std::bit_floor(
        static_cast<std::uint64_t>(std::clamp<std::int64_t>(longer.count() / 2, 1, 1'024)));
    const auto due = static_cast<std::uint64_t>((now + wait).time_since_epoch().count());
    return TimePoint{Duration{static_cast<std::int64_t>((due + slack - 1) & ~(slack - 1))}};
}

}  // namespace routemaster
