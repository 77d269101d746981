/// @file
/// Steps that look at the jobs of a queue, and act on jobs that nobody has leased.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "routemaster/job.hpp"
#include "routemaster/job_explanation.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"

namespace routemaster {

/// BURIED jobs that a queue keeps at most. Beyond that, those that were buried first are dropped.
inline constexpr std::uint32_t buried_max = 10'000;

/// Jobs that one `KickJobs` or `ListJobs` looks at, at most.
inline constexpr std::uint32_t jobs_looked_at_max = 1'000;

/// Counts the jobs of a queue in each state, and says whether it is paused.
struct CountJobs {
    using Reply = QueueStatus;
    static constexpr StepTraits traits{.name = "count_jobs",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_queue(queue); }

    std::string queue;
};

/// Replies the status of a job; nothing when the queue has none of that id.
struct FindJob {
    using Reply = std::optional<JobStatus>;
    static constexpr StepTraits traits{.name = "find_job",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_own_queue(queue); }

    std::string queue;  ///< None of Ruby Routemaster's, else `invalid`; so in all steps below.
    JobId id = 0;
};

/// Replies what keeps a job from running, or who has it; nothing when the queue has none of that
/// id. Costs as much as `FindJob` and `CountJobs`.
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

/// Replies the jobs of a queue in a state, in the order of their ids, and so of their pushes.
///
/// A page costs what it looks at: at most `limit` BURIED jobs, or `jobs_looked_at_max` jobs in
/// the other states, or when a name or a group is asked for, and `job_slice_bytes_max` of them. So
/// a page may be short, even empty, though more follow: it is the last one only when its `next` is
/// 0.
struct ListJobs {
    using Reply = JobPage;
    static constexpr StepTraits traits{.name = "list_jobs",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string queue;
    JobStatus::State state = JobStatus::State::ready;
    JobId after = 0;            ///< Only jobs with a greater id; the job itself may be gone.
    std::uint32_t limit = 100;  ///< From 1 to `jobs_looked_at_max`, else `invalid`.
    std::string name{};         ///< Only jobs of that name; empty: of any.
    std::string group{};        ///< Only jobs of that ordering group; empty: of any, or none.
};

/// Makes BURIED jobs READY, behind those that are: the one with that id, or those that were buried
/// first, `job_slice_bytes_max` of them at most. Their attempts begin anew, and they no longer
/// expire; their errors stay. With an id also one that is SCHEDULED for a later instant, as if it
/// fell due now; not one that waits for other jobs.
/// Replies how many: 0 once none is left. Repeating it with an id answers 0 unless the job was
/// buried or scheduled again; without, it kicks further ones.
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

/// Deletes a job that is SCHEDULED, READY or BURIED. Repeating it answers `unknown`.
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

/// Cancels a job, counted in `jobs.cancelled` when it goes. One that is SCHEDULED, READY or BURIED
/// is removed. The worker of one that is PENDING learns of it from its next `Heartbeat`; the job is
/// done when its attempt succeeds, and goes when it ends otherwise, be it nacked or released, or
/// because its worker died. Repeating it answers `unknown`, or `requested` again.
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

/// The steps about the jobs that a queue has.
using JobListSteps =
    StepList<CountJobs, FindJob, ExplainJob, ListJobs, KickJobs, DeleteJob, CancelJob>;

}  // namespace routemaster
