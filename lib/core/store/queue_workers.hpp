/// @file
/// Counts the workers of a queue, by their profiles.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "routemaster/time.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster::detail {

/// Adds a live worker of the queue to the counts. An empty `handler` means any handler.
inline void count_worker(QueueWorkers& all, const WorkerProfile& profile, std::uint32_t busy,
                         TimePoint busy_since, std::string_view handler) {
    ++all.workers;
    if (!handler.empty() && !profile.may_handle(handler)) return;
    ++all.handling;
    if (profile.capacity == 0 || busy < profile.capacity) return;
    ++all.full;
    all.capacity += profile.capacity;
    if (busy_since == never) return;
    all.busy_since = std::min(busy_since, all.busy_since.value_or(busy_since));
}

}  // namespace routemaster::detail
