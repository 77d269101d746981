/// @file
/// The script that removes a subscriber, with or without its API token.

#pragma once

#include "lua_sources.hpp"
#include "redis/script.hpp"

namespace routemaster::redis {

[[nodiscard]] inline Script remove_subscriber_script(const StepTraits& traits) {
    using namespace lua;
    return compose("remove_subscriber", script_kind(traits),
                   {expect, index, unindex, wake, counter, job, callback, group_concurrency,
                    ordering_group, concurrency, redirect, idle_topic, dead},
                   remove_subscriber);
}

}  // namespace routemaster::redis
