/// @file
/// The time by which the link measures its timeouts.

#pragma once

#include <chrono>

namespace routemaster::redis {

/// It never steps, whatever becomes of the machine's clock.
using Steady = std::chrono::steady_clock;

/// A moment of it.
using Instant = Steady::time_point;

/// A moment that does not come.
inline constexpr Instant no_instant = Instant::max();

}  // namespace routemaster::redis
