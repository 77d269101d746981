/// @file
/// A fragment for scripts that may add the first job of a queue or remove its last job.

#pragma once

#include <string>

#include "lua_sources.hpp"
#include "redis/script.hpp"

namespace routemaster::redis {

/// Script fragment in which `queue_names()` returns `enlist` and `delist`, of the files of these
/// names.
inline std::string queue_names_part() {
    using namespace lua;
    return lazily("queue_names", {index, unindex, enlist, delist}, "enlist, delist");
}

}  // namespace routemaster::redis
