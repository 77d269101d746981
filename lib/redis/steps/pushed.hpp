/// @file
/// Parses the reply of a script to a push.

#pragma once

#include "redis/script_reply.hpp"
#include "routemaster/job.hpp"

namespace routemaster::redis {

[[nodiscard]] inline Pushed pushed(const redisReply& outcome, const redisReply& id) {
    const auto word = number(outcome);
    return {word == 1   ? PushOutcome::pushed
            : word == 2 ? PushOutcome::replaced
                        : PushOutcome::duplicate,
            count(id).value};
}

}  // namespace routemaster::redis
