/// @file
/// The clock for the timeouts of a link.

#pragma once

#include <chrono>

namespace routemaster::redis {

/// A clock that is not affected when the system clock is set.
using Steady = std::chrono::steady_clock;

using Instant = Steady::time_point;

inline constexpr Instant no_instant = Instant::max();

}  // namespace routemaster::redis
