/// @file
/// Parses the status of a job, as the Lua function job_status() returns it.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "redis/script_reply.hpp"
#include "redis/steps/further_options.hpp"
#include "redis/steps/metadata.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::redis {

inline std::uint32_t number_of(const redisReply& part) {
    return static_cast<std::uint32_t>(count(part).value);
}

inline JobStatus status_in(const redisReply& part, const ScriptReply& reply) {
    const auto parts = items(part, 13);
    JobStatus status;
    status.id = count(*parts[0]).value;
    status.state = static_cast<JobStatus::State>(std::clamp<std::int64_t>(number(*parts[1]), 0, 3));
    status.job = text(*parts[2]);
    if (status.state == JobStatus::State::scheduled) status.run_at = reply.time(*parts[3]);
    status.attempts = number_of(*parts[7]);
    if (const auto worker = text(*parts[8]); !worker.empty()) status.worker = uid(*parts[8]);
    TimeoutPart timeout{*parts[10]};
    status.options = {.attempts_max = number_of(*parts[9]),
                      .priority = timeout.priority,
                      .timeout = timeout.timeout,
                      .expires_at = reply.time(*parts[11]),
                      .metadata = std::move(timeout.metadata)};
    unpack_further(timeout.further, status.options);
    status.after = std::move(timeout.after);
    if (const auto key = text(*parts[4]); !key.empty()) {
        status.options.key = {
            .text = std::string{key},
            .scope = static_cast<KeyScope>(std::clamp<std::int64_t>(number(*parts[5]), 0, 2)),
            .until = reply.time(*parts[6])};
    }
    status.cancelled = number(*parts[12]) == -2;
    if (number(*parts[12]) >= 0) status.buried_at = reply.time(*parts[12]);
    for (std::size_t i = 13; i + 2 < parts.size(); i += 3) {
        const auto at = reply.time(*parts[i + 1]);
        const auto attempt = number_of(*parts[i]);
        if (const auto error = text(*parts[i + 2]); attempt > 0 || !error.empty()) {
            status.errors.push_back({attempt, at, std::string{error}});
        } else {
            status.failing_since = at;
        }
    }
    return status;
}

}  // namespace routemaster::redis
