/// @file
/// What the scripts need with which a queue may get its first job, or lose its last one.

#pragma once

#include <string>

#include "lua_sources.hpp"
#include "redis/script.hpp"

namespace routemaster::redis {

/// A part of a script: `queue_names()` returns `enlist` and `delist`, of the files of that name.
inline std::string queue_names_part() {
    using namespace lua;
    return lazily("queue_names", {index, unindex, enlist, delist}, "enlist, delist");
}

}  // namespace routemaster::redis
