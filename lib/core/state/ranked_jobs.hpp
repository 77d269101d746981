/// @file
/// READY jobs that have a priority.

#pragma once

#include <cstddef>

#include "core/containers/counted_tree.hpp"
#include "core/state/job_state.hpp"
#include "routemaster/job.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Jobs by their ranks and, among equals, in the order of their pushes. The rank of a job is when
/// it fell due, less `priority_step` for each level of its priority. It never changes while the job
/// waits, so a job need not be moved as it ages. Takes nothing while it is empty.
///
/// Not thread safe.
class RankedJobs {
public:
    [[nodiscard]] std::size_t size() const noexcept { return jobs_.size(); }
    [[nodiscard]] bool empty() const noexcept { return jobs_.empty(); }

    [[nodiscard]] static TimePoint rank_of(const JobState& job) noexcept {
        return saturating_add(job.run_at, -job.priority() * priority_step);
    }

    /// The job whose turn it is. There must be one.
    [[nodiscard]] JobState& first() const noexcept { return *jobs_.first().job; }

    /// Whether the first of these goes before `other`, which has no priority and may be null. Of
    /// equals the one without a priority goes first.
    [[nodiscard]] bool precede(const JobState* other) const noexcept {
        return !empty() && (other == nullptr || jobs_.first().rank < other->run_at);
    }

    /// Priority and due time of a job must not change while it is here.
    void insert(JobState& job) { jobs_.insert({rank_of(job), &job}); }
    void remove(JobState& job) { jobs_.remove({rank_of(job), &job}); }

private:
    struct Slot {
        TimePoint rank;
        JobState* job;

        friend bool operator<(const Slot& a, const Slot& b) noexcept {
            return a.rank != b.rank ? a.rank < b.rank : a.job->order < b.job->order;
        }
    };

    CountedTree<Slot> jobs_;
};

}  // namespace routemaster::detail
