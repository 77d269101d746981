/// @file
/// How many things with names of their own a state may have.

#pragma once

#include <cstdint>

namespace routemaster::detail {

/// Names that cost memory though little or nothing is in them. What a journal restores may be more.
struct NameLimits {
    std::uint32_t queues_max = 100'000;            ///< Of jobs, paused, or with rate limits.
    std::uint32_t timer_namespaces_max = 100'000;  ///< With timers or listeners.
};

}  // namespace routemaster::detail
