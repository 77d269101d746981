/// @file
/// The waits of jobs without a handler.

#pragma once

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The first and the longest time for which a pool leaves a job without a handler to other pools.
inline constexpr Duration unhandled_wait_min{1'000};
inline constexpr Duration unhandled_wait_max{60'000};

}  // namespace routemaster::detail
