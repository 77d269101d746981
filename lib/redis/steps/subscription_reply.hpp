/// @file
/// Reads a subscription from its parts in the reply of a script.

#pragma once

#include <array>

#include "redis/script_reply.hpp"
#include "routemaster/subscription.hpp"

namespace routemaster::redis {

/// Of token, callback, uuid, timeout, max_events, max_in_flight, attempts_max, age_max, dead_max.
[[nodiscard]] inline Subscription subscription(const std::array<const redisReply*, 9>& parts) {
    Subscription told;
    told.token = text(*parts[0]);
    if (!absent(*parts[1])) told.callback = text(*parts[1]);
    if (!absent(*parts[2])) told.uuid = text(*parts[2]);
    told.timeout = Duration{number_or(*parts[3], told.timeout.count())};
    told.max_events = within(*parts[4], told.max_events);
    told.max_in_flight = within(*parts[5], told.max_in_flight);
    told.attempts_max = within(*parts[6], told.attempts_max);
    told.age_max = Duration{number_or(*parts[7], told.age_max.count())};
    told.dead_max = within(*parts[8], told.dead_max);
    return told;
}

}  // namespace routemaster::redis
