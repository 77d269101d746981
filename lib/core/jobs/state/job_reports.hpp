/// @file
/// `JobReports`: what a store reports about its jobs and queues.

#pragma once

#include <vector>

#include "core/jobs/state/job_state.hpp"
#include "core/jobs/state/queue_state.hpp"
#include "core/jobs/state/queue_table.hpp"
#include "core/jobs/state/worker_profiles.hpp"
#include "core/state/entity.hpp"
#include "routemaster/job_explanation.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Read-only view of jobs and queues, for the steps that list or explain them. `status`, `explain`
/// and the list of jobs throw `Failure` when a job cannot be read from the journal. Not thread
/// safe.
class JobReports {
public:
    /// `changes` and `workers` must outlive the object. `changes` reads the payloads that were
    /// evicted from memory.
    JobReports(ChangeLog& changes, const WorkerProfiles& workers)
        : changes_{changes}, workers_{workers} {}

    [[nodiscard]] JobStatus status(const JobState& job, TimePoint now) const;
    [[nodiscard]] JobExplanation explain(const JobState& job, TimePoint now) const;
    [[nodiscard]] JobPage list(const QueueState& queue, const ListJobs& step, TimePoint now) const;
    [[nodiscard]] static QueueStatus count(const QueueState& queue, TimePoint now);
    /// The queues with jobs, a pause or rate limits, sorted by name.
    [[nodiscard]] std::vector<ListedQueue> list(const QueueTable& queues, const Page& page,
                                                TimePoint now) const;

private:
    static void name_those_before(const JobState& job, JobExplanation& all);

    ChangeLog& changes_;
    const WorkerProfiles& workers_;
};

}  // namespace routemaster::detail
