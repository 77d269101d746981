/// @file
/// Why a job does not run, or the worker that has the job.

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

/// The most jobs of a group that an explanation names.
inline constexpr std::size_t explained_jobs_max = 10;

/// The state of a job at an instant, and everything that keeps the job from running.
struct JobExplanation {
    /// The reasons. If several apply, the first counts.
    enum class Reason : std::uint8_t {
        leased,         ///< A worker has the job: nothing keeps it from running.
        buried,         ///< The job was given up, and is kept until a kick or a deletion.
        awaits_jobs,    ///< Other jobs must be done first: `status.after`.
        not_due,        ///< The job falls due at `status.run_at`.
        queue_paused,   ///< The queue is paused: no worker gets a job until it is resumed.
        group_is_full,  ///< Jobs in front of this job use up the `concurrency` of the group.
        rate_limited,   ///< The rate limit of the queue or of the group has no token left.
        no_worker,      ///< The job is READY, and no worker serves the queue.
        no_handler,     ///< READY, or due within 60 s; no worker of the queue has a handler for it.
        workers_busy,   ///< The job is READY, and all workers with a handler for it are busy.
        awaits_worker,  ///< The job is READY: the next worker gets this job, or a job before it.
    };

    JobStatus status{};
    QueueStatus queue{};  ///< The state of the job's queue.
    /// The first jobs of the group, for which this job waits, at most `explained_jobs_max`. These
    /// jobs are leased, READY, or wait for their next attempt. Empty unless this job is READY.
    std::vector<JobId> before{};
    /// The BURIED jobs among `status.after`. This job waits until all of these are kicked and done,
    /// and is BURIED when any of these is deleted.
    std::vector<JobId> buried{};
    /// How many jobs of the group may be under way, if the job has a group.
    std::uint32_t concurrency = 0;
    /// When the queue, or the group, gets its next token, if a rate limit keeps the job waiting.
    std::optional<TimePoint> queue_limited_until{};
    std::optional<TimePoint> group_limited_until{};
    std::optional<TimePoint> leased_at{};  ///< Set if the job is leased and the time is known.
    /// When the worker was last heard of, if the job is leased.
    std::optional<TimePoint> heard_at{};
    /// The workers of the queue, and the workers with a handler for the job. Absent in a reply of
    /// `AcquireJobs`.
    std::optional<QueueWorkers> workers{};
    TimePoint now{};  ///< When the explanation was made; `to_text` computes ages from it.

    /// The reason, derived from the members.
    [[nodiscard]] Reason reason() const;

    friend bool operator==(const JobExplanation&, const JobExplanation&) = default;
};

/// The name of a reason: `leased`, `buried`, `awaits_jobs`, …
[[nodiscard]] std::string to_string(JobExplanation::Reason reason);

/// Returns the explanation as a clause: "jobs 3 and 4 of its group 'account:42', of which 2 may be
/// under way, are before it"; "no worker serves its queue; the last one was heard of 3 min ago".
/// For a SCHEDULED job, the clause also says if no worker or no handler is ready for the job.
[[nodiscard]] std::string to_text(const JobExplanation& explanation);

}  // namespace routemaster
