#include "routemaster/health.hpp"

#include <cmath>

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

}  // namespace routemaster
