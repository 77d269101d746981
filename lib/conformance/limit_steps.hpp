/// @file
/// What the cases about rate limits share.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario.hpp"

namespace routemaster::testing {

inline void limit(const Scenario& s, const RateLimits& limits) {
    s.perform(LimitQueue{work_queue, limits});
}
inline void limit_queue(const Scenario& s, const RateLimit& one) { limit(s, {.queue = one}); }
inline void limit_groups(const Scenario& s, const RateLimit& one) { limit(s, {.each_group = one}); }

inline JobOptions options_in(const std::string& group, std::uint32_t concurrency,
                             std::int32_t priority) {
    JobOptions options{.priority = priority};
    options.group = group;
    options.concurrency = concurrency;
    return options;
}

/// Pushes a job into a group of which ten may be under way. Returns its id.
inline JobId push_limited(const Scenario& s, const std::string& job, const std::string& group,
                          std::uint32_t concurrency = 10, std::int32_t priority = 0) {
    return s.push_with(job, options_in(group, concurrency, priority));
}

/// Each letter is a job.
inline void push_all(const Scenario& s, const std::string& jobs) {
    for (const char job : jobs) s.push(std::string{job});
}

inline std::vector<Lease> lease_what_may(const Scenario& s, std::uint32_t most = 100) {
    return s.acquire({.limit = most, .queue = work_queue}).leases;
}

/// Acquires everything that may begin, and returns the names in their order.
inline std::string take_all(const Scenario& s, std::uint32_t most = 100) {
    std::string all;
    for (const auto& lease : lease_what_may(s, most)) all += lease.job;
    return all;
}

/// Nothing may begin for so long.
inline void expect_wait(const Scenario& s, Duration span, Where at = Where::here()) {
    s.expect_idle_until(s.now() + span, work_queue, at);
}

inline RateLimits limits_of(const Scenario& s) {
    for (const auto& queue : s.perform(ListQueues{})) {
        if (queue.name == work_queue) return queue.limits;
    }
    return {};
}

}  // namespace routemaster::testing
