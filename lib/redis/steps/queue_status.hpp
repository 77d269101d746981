/// @file
/// Parses the status of a queue, as the Lua function queue_status() returns it.

#pragma once

#include <cstddef>
#include <span>

#include "redis/script_reply.hpp"
#include "routemaster/job.hpp"

namespace routemaster::redis {

inline constexpr std::size_t queue_status_parts = 5;

inline QueueStatus queue_status_of(std::span<const redisReply* const> parts) {
    return {.scheduled = count(*parts[0]).value,
            .ready = count(*parts[1]).value,
            .pending = count(*parts[2]).value,
            .buried = count(*parts[3]).value,
            .paused = number(*parts[4]) == 1};
}

}  // namespace routemaster::redis
