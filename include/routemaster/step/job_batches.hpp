/// @file
/// Steps about batches of jobs. Jobs join one with their push: `JobOptions::batch`.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "routemaster/job.hpp"
#include "routemaster/job_batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/jobs.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Batches that one `ListJobBatches` replies at most.
inline constexpr std::uint32_t job_batches_listed_max = 100;

/// Creates a batch, which is open: it does not end, however its jobs do, until it is closed.
/// Where one of that name is kept, nothing is changed, and its id is replied; so is that of the
/// batch which the step created before, when it is repeated. With `job_batches_open_max` that have
/// not ended it is `invalid`.
struct CreateJobBatch {
    using Reply = JobBatchCreated;
    static constexpr StepTraits traits{.name = "create_job_batch",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::fixed};
    /// `invalid`, naming the field, also when a callback could not be pushed.
    [[nodiscard]] Result<void> check() const;

    std::shared_ptr<const JobBatchSettings> settings;
};

/// Lets a batch end: at once, when none of its jobs waits or runs, or else in the step with which
/// the last of them succeeds, is BURIED or goes. That step also pushes `on_success`, if all have
/// succeeded, and then `on_end`, as jobs that fall due at this moment. A batch ends once. But when
/// jobs that were BURIED by then are kicked, and so all of its jobs succeed, `on_success` is pushed
/// in that step. Replies `unknown` when there is no batch of that id. Repeating it changes nothing.
struct CloseJobBatch {
    using Reply = JobBatchClosure;
    static constexpr StepTraits traits{.name = "close_job_batch",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    JobBatchId id = 0;
};

/// Finds a batch; nothing when there is none of that id.
struct FindJobBatch {
    using Reply = std::optional<JobBatch>;
    static constexpr StepTraits traits{.name = "find_job_batch",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    JobBatchId id = 0;
};

/// Lists the batches that have ended, or that have not, by their ids: in the order in which they
/// were created.
struct ListJobBatches {
    using Reply = JobBatchPage;
    static constexpr StepTraits traits{.name = "list_job_batches",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    bool ended = false;
    JobBatchId after = 0;
    std::uint32_t limit = job_batches_listed_max;  ///< From 1 to that, else `invalid`.
};

/// Forgets a batch. Its jobs go on as jobs of no batch, and none of its callbacks is pushed any
/// more. Repeating it answers `unknown`.
struct RemoveJobBatch {
    using Reply = Removal;
    static constexpr StepTraits traits{.name = "remove_job_batch",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    JobBatchId id = 0;
};

/// What the end of a batch pushes. `event` is "success" or "end".
[[nodiscard]] PushJob push_of(const JobBatchCallback& callback, JobBatchId batch, const char* event,
                              TimePoint now);

/// The steps about batches of jobs.
using JobBatchSteps =
    StepList<CreateJobBatch, CloseJobBatch, FindJobBatch, ListJobBatches, RemoveJobBatch>;

}  // namespace routemaster
