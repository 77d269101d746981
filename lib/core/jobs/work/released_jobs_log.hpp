/// @file
/// Logs the result of a scrub, the search for dead workers.

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "routemaster/log.hpp"
#include "routemaster/store/step/workers.hpp"

namespace routemaster::detail {

/// Logs nothing if the scrub released no job.
inline void log_released(const ReleasedJobs& released, const Log& log) {
    if (!log) return;
    if (released.jobs > 0) {
        log(LogLevel::warning, "requeued jobs of dead workers: " + std::to_string(released.jobs));
    }
    constexpr std::size_t named_max = 20;
    const auto named = std::min(released.buried.size(), named_max);
    for (std::size_t i = 0; i < named; ++i) {
        const auto& job = released.buried[i];
        log(LogLevel::warning, "job " + std::to_string(job.id) + " of queue '" + job.queue +
                                   "' is BURIED: its worker died during the last attempt");
    }
    if (released.buried.size() > named) {
        log(LogLevel::warning,
            "likewise BURIED: " + std::to_string(released.buried.size() - named) + " more jobs");
    }
}

}  // namespace routemaster::detail
