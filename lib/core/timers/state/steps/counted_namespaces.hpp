/// @file
/// Which timer namespaces count towards `timer_namespaces_max`.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/timers/state/timers.hpp"
#include "routemaster/timer_action.hpp"

namespace routemaster::detail {

/// Whether a timer would create a namespace that counts towards the limit. The namespace of actions
/// is internal and does not count. Likewise, internal queues do not count towards `queues_max`.
inline bool adds_namespace(const TimerTable& timers, const std::string& space) {
    return space != action_space && !timers.has_space(space);
}

inline std::size_t counted_namespaces(const TimerTable& timers) {
    return timers.spaces() - (timers.has_space(std::string{action_space}) ? 1 : 0);
}

}  // namespace routemaster::detail
