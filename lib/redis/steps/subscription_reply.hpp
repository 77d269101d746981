/// @file
/// Parses a subscription in the reply of a script.

#pragma once

#include <array>

#include "redis/script_reply.hpp"
#include "routemaster/subscription.hpp"

namespace routemaster::redis {

/// Parses the elements token, callback, uuid, timeout, max_events, max_in_flight, attempts_max,
/// age_max, dead_max.
[[nodiscard]] inline Subscription subscription(const std::array<const redisReply*, 9>& parts) {
    Subscription found;
    found.token = text(*parts[0]);
    if (!absent(*parts[1])) found.callback = text(*parts[1]);
    if (!absent(*parts[2])) found.uuid = text(*parts[2]);
    found.timeout = Duration{number_or(*parts[3], found.timeout.count())};
    found.max_events = within(*parts[4], found.max_events);
    found.max_in_flight = within(*parts[5], found.max_in_flight);
    found.attempts_max = within(*parts[6], found.attempts_max);
    found.age_max = Duration{number_or(*parts[7], found.age_max.count())};
    found.dead_max = within(*parts[8], found.dead_max);
    return found;
}

}  // namespace routemaster::redis
