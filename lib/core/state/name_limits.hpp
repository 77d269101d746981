/// @file
/// Limits on the number of queues and timer namespaces.

#pragma once

#include <cstdint>

namespace routemaster::detail {

/// Limits on the number of names, because a name takes memory even without content. A restored
/// state may exceed the limits.
struct NameLimits {
    std::uint32_t queues_max = 100'000;            ///< With jobs, a pause or rate limits.
    std::uint32_t timer_namespaces_max = 100'000;  ///< With timers or listeners.
};

}  // namespace routemaster::detail
