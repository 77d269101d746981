/// @file
/// What the scripts about timers have in common, and how their replies are read.

#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "lua_sources.hpp"
#include "redis/script_reply.hpp"
#include "routemaster/step/timers.hpp"
#include "routemaster/timer.hpp"

namespace routemaster::redis {

/// For scripts that seldom have to tell the listener whose turn it is when the next timer is due:
/// `turns()` gives the function that does so.
inline std::string lazy_turns(std::string_view function) {
    return lazily("turns", {lua::timer_turn}, function);
}

/// An instant at which a timer is due, comes back or died. Other programs may have written any.
inline TimePoint timer_instant(const ScriptReply& reply, const redisReply& part) {
    return std::min(reply.time(part), due_at_max);
}

/// What became of a post, as post_timer.lua replies it.
inline TimerPosted timer_posted(const redisReply& part) {
    switch (number(part)) {
        case 0: return TimerPosted::posted;
        case 1: return TimerPosted::replaced;
        case 2: return TimerPosted::kept;
        default: throw Unexpected{};
    }
}

/// How often a timer came back, or how often it may.
inline std::uint32_t timer_retries(const redisReply& part) {
    return static_cast<std::uint32_t>(count(part).value);
}

}  // namespace routemaster::redis
