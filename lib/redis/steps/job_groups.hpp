/// @file
/// A fragment for scripts that schedule or end jobs, with the functions for a job in an ordering
/// group.

#pragma once

#include <string>

#include "lua_sources.hpp"
#include "redis/script.hpp"

namespace routemaster::redis {

/// Script fragment in which `job_groups()` returns `place_grouped`, `leave_group`, `leave_by`,
/// `is_held`, `first_of`, `stop_throttling`, `offer_own`, `position_of`, `throttled_as`,
/// `throttled_in` and `unthrottle` of job_group.lua. Must be before the fragments `ranks`, `forget`
/// and `burial` with their calls of `job_groups()`.
inline std::string job_groups_part() {
    using namespace lua;
    return lazily("job_groups", {wake, ready, record, ranks, deleted, unrank, job_group},
                  "place_grouped, leave_group, leave_by, is_held, first_of, stop_throttling, "
                  "offer_own, position_of, throttled_as, throttled_in, unthrottle");
}

}  // namespace routemaster::redis
