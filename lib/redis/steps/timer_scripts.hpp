/// @file
/// Functions that several protocols of timers use.

#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "lua_sources.hpp"
#include "redis/script_reply.hpp"
#include "routemaster/store/step/timers.hpp"
#include "routemaster/timer.hpp"

namespace routemaster::redis {

/// Script fragment in which `turns()` returns `function` of timer_turn.lua. For scripts that rarely
/// have to notify the current listener.
inline std::string lazy_turns(std::string_view function) {
    return lazily("turns", {lua::timer_turn}, function);
}

/// The time at which a timer is due, will be retried, or died. Clamped, because other programs may
/// have written any number.
inline TimePoint timer_instant(const ScriptReply& reply, const redisReply& part) {
    return std::min(reply.time(part), due_at_max);
}

inline TimerPosted timer_posted(const redisReply& part) {
    switch (number(part)) {
        case 0: return TimerPosted::posted;
        case 1: return TimerPosted::replaced;
        case 2: return TimerPosted::kept;
        default: throw Unexpected{};
    }
}

inline std::uint32_t timer_retries(const redisReply& part) {
    return static_cast<std::uint32_t>(count(part).value);
}

}  // namespace routemaster::redis
