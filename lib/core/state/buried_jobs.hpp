/// @file
/// The BURIED jobs of a queue.

#pragma once

#include <cstddef>

#include "core/state/id_index.hpp"
#include "core/state/job_state.hpp"

namespace routemaster::detail {

/// Jobs in the order of their burial, and in that of their ids.
///
/// Not thread safe.
class BuriedJobs {
public:
    [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }
    /// The one that was buried first; null when there is none.
    [[nodiscard]] JobState* first() const noexcept { return order_.front(); }
    [[nodiscard]] const IdIndex& by_id() const noexcept { return by_id_; }

    /// Adds a job that is nowhere, as the one that was buried last.
    void add(JobState& job) {
        job.state = JobState::State::buried;
        by_id_.insert(job);
        order_.push_back(job);
    }
    void remove(JobState& job) {
        order_.remove(job);
        by_id_.remove(job);
    }

private:
    IntrusiveList<JobState, &JobState::in_state> order_;
    IdIndex by_id_;
};

}  // namespace routemaster::detail
