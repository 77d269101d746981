/// @file
/// The clock for the link's timeouts.

#pragma once

#include <chrono>

namespace routemaster::redis {

/// Never steps, even when the machine's clock is set.
using Steady = std::chrono::steady_clock;

using Instant = Steady::time_point;

/// An instant that never comes.
inline constexpr Instant no_instant = Instant::max();

}  // namespace routemaster::redis
