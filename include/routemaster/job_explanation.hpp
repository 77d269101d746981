/// @file
/// Why a job is not under way, or who has it.

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

/// Jobs of its group that an explanation names at most.
inline constexpr std::size_t explained_jobs_max = 10;

/// What keeps a job from running, as the store that decides it sees it at one instant.
struct JobExplanation {
    /// Why; the first of these that holds.
    enum class Reason : std::uint8_t {
        leased,         ///< Nothing does: a worker has it.
        buried,         ///< It was given up, and is kept until it is kicked or deleted.
        awaits_jobs,    ///< Other jobs must be done before: `status.after`.
        not_due,        ///< It falls due at `status.run_at`.
        queue_paused,   ///< Nobody gets a job of its queue until that is resumed.
        group_is_full,  ///< As many jobs of its group as may be under way are `before` it.
        rate_limited,   ///< Its queue or its group has begun as many as its rate limit allows.
        no_worker,      ///< It is READY, and no worker serves its queue.
        no_handler,     ///< It is READY, and no worker of its queue has a handler of its name.
        workers_busy,   ///< It is READY, and all workers that have its handler are busy.
        awaits_worker,  ///< It is READY: a worker that asks gets it, or another before it.
    };

    JobStatus status{};
    QueueStatus queue{};  ///< Of its queue.
    /// The first jobs of its group, which keep it waiting, at most `explained_jobs_max`; they are
    /// leased, READY, or wait for their next attempt. None unless it is READY.
    std::vector<JobId> before{};
    /// Of `status.after` those that are BURIED: it waits until they are kicked and done, and is
    /// BURIED when one is deleted.
    std::vector<JobId> buried{};
    std::uint32_t concurrency = 0;  ///< Of its group now, if there are such.
    /// When its queue, or its group, has a token again, if its rate limit keeps the job waiting.
    std::optional<TimePoint> queue_limited_until{};
    std::optional<TimePoint> group_limited_until{};
    std::optional<TimePoint> leased_at{};  ///< Set if it is leased and that is known.
    std::optional<TimePoint> heard_at{};   ///< When its worker was last heard of, if it is leased.
    /// The workers of its queue, and of its name. None in a reply of `AcquireJobs`.
    std::optional<QueueWorkers> workers{};
    TimePoint now{};  ///< The instant of the explanation, for the ages in its text.

    /// Follows from the rest.
    [[nodiscard]] Reason reason() const;

    friend bool operator==(const JobExplanation&, const JobExplanation&) = default;
};

/// The word for a reason: `leased`, `buried`, `awaits_jobs`, …
[[nodiscard]] std::string to_string(JobExplanation::Reason reason);

/// The explanation as a clause: "jobs 3 and 4 of its group 'account:42', of which 2 may be under
/// way, are before it"; "no worker serves its queue; the last one was heard of 3 min ago". A job
/// that is SCHEDULED also says whether a worker and a handler wait for it.
[[nodiscard]] std::string to_text(const JobExplanation& explanation);

}  // namespace routemaster
