/// @file
/// Which jobs of a queue wait for which.

#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "routemaster/job.hpp"

namespace routemaster::detail {

/// Jobs that wait for another job, by its id. What a job waits for itself stands in its details.
///
/// Not thread safe.
class Dependents {
public:
    /// How many wait for a job.
    [[nodiscard]] std::size_t of(JobId awaited) const {
        const auto found = waiting_.find(awaited);
        return found == waiting_.end() ? 0 : found->second.size();
    }

    void add(JobId awaited, JobId waiting) { waiting_[awaited].insert(waiting); }

    void remove(JobId awaited, JobId waiting) {
        const auto found = waiting_.find(awaited);
        if (found == waiting_.end()) return;
        found->second.erase(waiting);
        if (found->second.empty()) waiting_.erase(found);
    }

    /// Those that wait for a job, which is gone, in the order of their ids.
    [[nodiscard]] std::set<JobId> take(JobId awaited) {
        const auto found = waiting_.find(awaited);
        if (found == waiting_.end()) return {};
        auto all = std::move(found->second);
        waiting_.erase(found);
        return all;
    }

private:
    std::map<JobId, std::set<JobId>> waiting_;
};

}  // namespace routemaster::detail
