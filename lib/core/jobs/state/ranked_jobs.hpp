/// @file
/// `RankedJobs`: READY jobs with a priority.

#pragma once

#include <cstddef>

#include "core/containers/counted_tree.hpp"
#include "core/jobs/state/job_state.hpp"
#include "routemaster/job.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Priority queue of jobs, sorted by rank and, with equal ranks, by push number. The rank of a job
/// is its due time minus `priority_step` for each level of its priority. The rank never changes
/// while a job waits, so ageing needs no reordering. Takes no memory while empty.
///
/// Not thread safe.
class RankedJobs {
public:
    [[nodiscard]] std::size_t size() const noexcept { return jobs_.size(); }
    [[nodiscard]] bool empty() const noexcept { return jobs_.empty(); }

    [[nodiscard]] static TimePoint rank_of(const JobState& job) noexcept {
        return saturating_add(job.run_at, -job.priority() * priority_step);
    }

    /// The next job. The queue must not be empty.
    [[nodiscard]] JobState& first() const noexcept { return *jobs_.first().job; }

    /// Whether the first job precedes `other`, a job without a priority or null. With equal ranks,
    /// the job without a priority comes first.
    [[nodiscard]] bool precede(const JobState* other) const noexcept {
        return !empty() && (other == nullptr || jobs_.first().rank < other->run_at);
    }

    /// Inserts a job. Its priority and due time must not change while it is in the queue.
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
