/// @file
/// The dependencies between jobs of a queue.

#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "routemaster/job.hpp"

namespace routemaster::detail {

/// Index from the id of an awaited job to the ids of the jobs that wait for it. The opposite
/// direction, from a waiting job to the jobs it waits for, is stored in the waiting job's details.
///
/// Not thread safe.
class Dependents {
public:
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

    /// Removes a job from the index. Returns the ids of its waiting jobs in ascending order.
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
