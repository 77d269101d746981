/// @file
/// A part for scripts that place or end jobs: functions for a job with an ordering group.

#pragma once

#include <string>

#include "lua_sources.hpp"
#include "redis/script.hpp"

namespace routemaster::redis {

/// A part of a script: `job_groups()` returns `place_grouped`, `leave_group`, `leave_by`,
/// `is_held`, `first_of`, `stop_throttling`, `offer_own`, `position_of`, `throttled_as`,
/// `throttled_in` and `unthrottle` of job_group.lua. Stands before the parts `ranks`, `forget` and
/// `burial`, where `job_groups()` is called.
inline std::string job_groups_part() {
    using namespace lua;
    return lazily("job_groups", {wake, ready, record, ranks, deleted, unrank, job_group},
                  "place_grouped, leave_group, leave_by, is_held, first_of, stop_throttling, "
                  "offer_own, position_of, throttled_as, throttled_in, unthrottle");
}

}  // namespace routemaster::redis
