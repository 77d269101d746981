/// @file
/// Steps about batches of jobs. A job joins a batch with its push: `JobOptions::batch`.

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

/// How many batches one `ListJobBatches` lists, at most.
inline constexpr std::uint32_t job_batches_listed_max = 100;

/// Creates a batch. The batch is open: until it is closed, it does not end, however its jobs end.
/// If a batch with this name is kept, nothing is changed, and the reply is its id; therefore a
/// repetition replies with the id of the first batch. `invalid` if `job_batches_open_max` batches
/// have not ended.
struct CreateJobBatch {
    using Reply = JobBatchCreated;
    static constexpr StepTraits traits{.name = "create_job_batch",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::fixed};
    /// If a setting is wrong, or a callback could not be pushed, the error is `invalid` and names
    /// the field.
    [[nodiscard]] Result<void> check() const;

    std::shared_ptr<const JobBatchSettings> settings;
};

/// Closes a batch, which lets the batch end: at once if none of its jobs waits or runs, else in the
/// step in which the last of these jobs succeeds, is BURIED or is removed. The step that ends the
/// batch also pushes `on_success`, if all jobs have succeeded, and then `on_end`, both due at this
/// moment.
/// A batch ends only once. But if BURIED jobs of an ended batch are kicked, and finally all of its
/// jobs have succeeded, the last success pushes `on_success`. Replies `unknown` if no batch has
/// this id. A repetition changes nothing.
struct CloseJobBatch {
    using Reply = JobBatchClosure;
    static constexpr StepTraits traits{.name = "close_job_batch",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    JobBatchId id = 0;
};

/// Replies with a batch; nothing if no batch has this id.
struct FindJobBatch {
    using Reply = std::optional<JobBatch>;
    static constexpr StepTraits traits{.name = "find_job_batch",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    JobBatchId id = 0;
};

/// Lists the batches that have ended, or the batches that have not, in the order of their ids,
/// which is the order of their creation.
struct ListJobBatches {
    using Reply = JobBatchPage;
    static constexpr StepTraits traits{.name = "list_job_batches",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    bool ended = false;
    JobBatchId after = 0;
    /// From 1 to `job_batches_listed_max`, else `invalid`.
    std::uint32_t limit = job_batches_listed_max;
};

/// Forgets a batch. Its jobs go on without a batch, and its callbacks are never pushed. A
/// repetition replies `unknown`.
struct RemoveJobBatch {
    using Reply = Removal;
    static constexpr StepTraits traits{.name = "remove_job_batch",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    JobBatchId id = 0;
};

/// The push of a callback at the end of a batch. `event` is "success" or "end".
[[nodiscard]] PushJob push_of(const JobBatchCallback& callback, JobBatchId batch, const char* event,
                              TimePoint now);

/// The steps about batches of jobs.
using JobBatchSteps =
    StepList<CreateJobBatch, CloseJobBatch, FindJobBatch, ListJobBatches, RemoveJobBatch>;

}  // namespace routemaster
