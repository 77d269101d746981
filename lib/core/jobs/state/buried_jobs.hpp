/// @file
/// `BuriedJobs`: the BURIED jobs of a queue.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/jobs/state/job_state.hpp"
#include "core/state/id_index.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// List of BURIED jobs by time of burial and then id, with an index by id.
///
/// Not thread safe.
class BuriedJobs {
public:
    [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }
    [[nodiscard]] JobState* first() const noexcept { return order_.front(); }
    [[nodiscard]] const IdIndex& by_id() const noexcept { return by_id_; }

    /// Adds a job from no list. Appending is fast. If the clock was set back, the job is inserted
    /// before later burials, which is slower.
    void add(JobState& job) {
        job.state = JobState::State::buried;
        by_id_.insert(job);
        auto* before = order_.back();
        while (before != nullptr && key(job) < key(*before)) before = order_.previous(*before);
        order_.insert_after(before, job);
    }
    void remove(JobState& job) {
        order_.remove(job);
        by_id_.remove(job);
    }

private:
    static std::pair<TimePoint, std::uint64_t> key(const JobState& job) {
        return {*job.details->buried_at, job.order};
    }

    IntrusiveList<JobState, &JobState::in_state> order_;
    IdIndex by_id_;
};

}  // namespace routemaster::detail
