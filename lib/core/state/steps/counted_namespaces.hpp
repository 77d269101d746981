/// @file
/// The namespaces of timers that count for `timer_namespaces_max`.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/state/timers.hpp"
#include "routemaster/timer_action.hpp"

namespace routemaster::detail {

/// Whether a timer of this namespace adds a namespace that counts. The namespace of actions is the
/// bus's own, and does not count, as the bus's own queues do not count for `queues_max`.
inline bool adds_namespace(const TimerTable& timers, const std::string& space) {
    return space != action_space && !timers.has_space(space);
}

inline std::size_t counted_namespaces(const TimerTable& timers) {
    return timers.spaces() - (timers.has_space(std::string{action_space}) ? 1 : 0);
}

}  // namespace routemaster::detail
