/// @file
/// Steps that list the jobs of a queue, and steps that change jobs without a lease.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "routemaster/job.hpp"
#include "routemaster/job_explanation.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"

namespace routemaster {

/// Maximum number of BURIED jobs in a queue. Beyond this limit, the job that was BURIED first is
/// dropped.
inline constexpr std::uint32_t buried_max = 10'000;

/// Maximum number of jobs that one `KickJobs` or `ListJobs` reads.
inline constexpr std::uint32_t jobs_looked_at_max = 1'000;

/// Counts the jobs of a queue by state, and reports whether the queue is paused.
struct CountJobs {
    using Reply = QueueStatus;
    static constexpr StepTraits traits{.name = "count_jobs",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_queue(queue); }

    std::string queue;
};

/// Finds a job by its id. Replies nothing if the queue has no job with this id.
struct FindJob {
    using Reply = std::optional<JobStatus>;
    static constexpr StepTraits traits{.name = "find_job",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_own_queue(queue); }

    std::string queue;  ///< Not a queue of Ruby Routemaster, else `invalid`, as in all steps below.
    JobId id = 0;
};

/// Replies why a job does not run, or which worker runs it, or nothing if the queue has no job with
/// this id. Costs as much as `FindJob` and `CountJobs`.
struct ExplainJob {
    using Reply = std::optional<JobExplanation>;
    static constexpr StepTraits traits{.name = "explain_job",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_own_queue(queue); }

    std::string queue;
    JobId id = 0;
};

/// Lists the jobs of a queue in one state, in the order of their ids, which is push order.
///
/// One step reads a limited number of jobs: `limit` for BURIED jobs without a name or a group, else
/// `jobs_looked_at_max`; and always at most `job_slice_bytes_max` bytes of jobs. Therefore a page
/// may be short, or even empty, although more jobs follow. The last page has a `next` of 0.
struct ListJobs {
    using Reply = JobPage;
    static constexpr StepTraits traits{.name = "list_jobs",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string queue;
    JobStatus::State state = JobStatus::State::ready;
    JobId after = 0;            ///< Lists only greater ids. The job `after` need not exist.
    std::uint32_t limit = 100;  ///< From 1 to `jobs_looked_at_max`, else `invalid`.
    std::string name{};         ///< Lists only jobs with this name; empty: any name.
    std::string group{};        ///< Lists only jobs of this ordering group; empty: all jobs.
};

/// Makes BURIED jobs READY, at the end of the queue. Kicks the job with `id` or, without `id`, the
/// jobs that were BURIED first, at most `job_slice_bytes_max` bytes of them. Their attempts count
/// from 0 again, their expiry is removed, and their errors stay. With an id, also makes a SCHEDULED
/// job due now, unless it depends on jobs in `after`. Replies with the number of kicked jobs; 0 if
/// none is left. A repetition with an id replies 0, unless the job was BURIED or SCHEDULED again. A
/// repetition without an id kicks further jobs.
struct KickJobs {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "kick_jobs",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string queue;
    std::optional<JobId> id{};
    std::uint32_t limit = 1'000;  ///< From 1 to `jobs_looked_at_max`, else `invalid`.
};

/// Deletes a job that is SCHEDULED, READY or BURIED. A repetition replies `unknown`.
struct DeleteJob {
    using Reply = Deletion;
    static constexpr StepTraits traits{.name = "delete_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_own_queue(queue); }

    std::string queue;
    JobId id = 0;
};

/// Cancels a job. A job that is SCHEDULED, READY or BURIED is removed at once. The worker of a
/// PENDING job is notified by the reply to its next `Heartbeat`. If the attempt succeeds, the job
/// is done. If it ends in any other way, or the worker crashes, the job is removed. A removed job
/// is counted in `jobs.cancelled`. A repetition replies `unknown`, or `requested` again.
struct CancelJob {
    using Reply = Cancellation;
    static constexpr StepTraits traits{.name = "cancel_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_own_queue(queue); }

    std::string queue;
    JobId id = 0;
};

/// The list of the steps for the jobs of a queue.
using JobListSteps =
    StepList<CountJobs, FindJob, ExplainJob, ListJobs, KickJobs, DeleteJob, CancelJob>;

}  // namespace routemaster
