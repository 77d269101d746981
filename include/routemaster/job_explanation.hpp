/// @file
/// `JobExplanation`: why a job does not run, or which worker runs it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/time.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster {

/// Maximum number of jobs of a group that an explanation lists.
inline constexpr std::size_t explained_jobs_max = 10;

/// Diagnosis of a job: its state at an instant, and all reasons why the job does not run.
struct JobExplanation {
    /// The possible reasons. If several apply, the first in this order is reported.
    enum class Reason : std::uint8_t {
        leased,         ///< A worker has leased the job.
        buried,         ///< The job failed permanently; it waits for a kick or a deletion.
        awaits_jobs,    ///< The job waits until other jobs are done: `status.after`.
        not_due,        ///< The job becomes due at `status.run_at`.
        queue_paused,   ///< The queue is paused; no worker gets a job from it.
        group_is_full,  ///< Earlier jobs of the group use up the group's `concurrency`.
        rate_limited,   ///< The rate limit of the queue or of the group has no token left.
        no_worker,      ///< The job is READY, and no worker serves the queue.
        no_handler,     ///< READY, or due within 60 s; no worker of the queue has a handler for it.
        workers_busy,   ///< The job is READY, and all workers with a handler for it are busy.
        awaits_worker,  ///< The job is READY, and is acquired next, or after the jobs before it.
    };

    JobStatus status{};
    QueueStatus queue{};  ///< The state of the job's queue.
    /// The first jobs of the group that must end before this job, at most `explained_jobs_max`.
    /// They are leased, READY, or wait for a retry. Empty unless this job is READY.
    std::vector<JobId> before{};
    /// The BURIED jobs among `status.after`. This job waits until all of these were kicked and are
    /// done, and becomes BURIED when any of these is deleted.
    std::vector<JobId> buried{};
    /// How many jobs of the group may run at once; 0 if the job has no group.
    std::uint32_t concurrency = 0;
    /// When the queue, or the group, gets its next token, if its rate limit delays the job.
    std::optional<TimePoint> queue_limited_until{};
    std::optional<TimePoint> group_limited_until{};
    std::optional<TimePoint> leased_at{};  ///< Set if the job is leased and the time is known.
    /// When the last heartbeat of the job's worker arrived, if the job is leased.
    std::optional<TimePoint> heard_at{};
    /// The workers of the queue, and how many of them have a handler for the job. Absent in a reply
    /// of `AcquireJobs`.
    std::optional<QueueWorkers> workers{};
    TimePoint now{};  ///< Time of the diagnosis; `to_text` computes ages from it.

    /// Returns the reason, computed from the members.
    [[nodiscard]] Reason reason() const;

    friend bool operator==(const JobExplanation&, const JobExplanation&) = default;
};

/// The name of a reason: `leased`, `buried`, `awaits_jobs`, …
[[nodiscard]] std::string to_string(JobExplanation::Reason reason);

/// Formats the explanation as a clause: "jobs 3 and 4 of its group 'account:42', of which 2 may be
/// under way, are before it"; "no worker serves its queue; the last one was heard of 3 min ago".
/// For a SCHEDULED job, the clause also says if no worker, or no handler, exists for the job.
[[nodiscard]] std::string to_text(const JobExplanation& explanation);

}  // namespace routemaster
