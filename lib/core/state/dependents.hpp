/// @file
/// The dependencies between jobs of a queue.

#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "routemaster/job.hpp"

namespace routemaster::detail {

/// The waiting jobs, by the id of the awaited job. The details of a waiting job list the jobs it
/// waits for.
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

    /// Removes and returns the jobs waiting for a job, in the order of their ids.
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
