/// @file
/// Helpers for the cases about rate limits.

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

inline JobId push_limited(const Scenario& s, const std::string& job, const std::string& group,
                          std::uint32_t concurrency = 10, std::int32_t priority = 0) {
    return s.push_with(job, options_in(group, concurrency, priority));
}

inline void push_all(const Scenario& s, const std::string& jobs) {
    for (const char job : jobs) s.push(std::string{job});
}

inline std::vector<Lease> lease_what_may(const Scenario& s, std::uint32_t most = 100) {
    return s.acquire({.limit = most, .queue = work_queue}).leases;
}

/// Acquires all jobs that may begin, and returns their names in order.
inline std::string take_all(const Scenario& s, std::uint32_t most = 100) {
    std::string all;
    for (const auto& lease : lease_what_may(s, most)) all += lease.job;
    return all;
}

/// Expects that no job may begin until `span` has passed.
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
