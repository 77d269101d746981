/// @file
/// Steps for batches of jobs. A push adds its job to a batch: `JobOptions::batch`.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "routemaster/job.hpp"
#include "routemaster/job_batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/jobs.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Maximum number of batches in a reply of `ListJobBatches`.
inline constexpr std::uint32_t job_batches_listed_max = 100;

/// Creates an open batch, which cannot end before it is closed. If a batch with this
/// name exists, changes nothing, and replies with its id. A repetition therefore replies
/// with the id of the first batch. `invalid` if `job_batches_open_max` batches have not
/// ended.
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

/// Closes a batch, so that the batch can end. If no job of the batch waits or runs, the batch
/// ends at once. Otherwise the batch ends in the step in which its last such job succeeds, is
/// BURIED or is removed. The step that ends the batch also pushes `on_success`, if all jobs
/// have succeeded, and then `on_end`, both due now. A batch ends only once. But if BURIED jobs
/// of an ended batch are kicked, and all of its jobs have then succeeded, the last success
/// pushes `on_success`. Replies `unknown` if no batch has this id. A repetition changes
/// nothing.
struct CloseJobBatch {
    using Reply = JobBatchClosure;
    static constexpr StepTraits traits{.name = "close_job_batch",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    JobBatchId id = 0;
};

/// Finds a batch by its id. Replies nothing if no batch has this id.
struct FindJobBatch {
    using Reply = std::optional<JobBatch>;
    static constexpr StepTraits traits{.name = "find_job_batch",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    JobBatchId id = 0;
};

/// Lists the batches that have ended, or the batches that have not ended, in the order of their
/// ids, which is the order of their creation.
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

/// Removes a batch. Its jobs continue without a batch, and its callbacks are never pushed. A
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

/// Returns the push of a callback at the end of a batch. `event` is "success" or "end".
[[nodiscard]] PushJob push_of(const JobBatchCallback& callback, JobBatchId batch, const char* event,
                              TimePoint now);

/// The list of the steps for batches of jobs.
using JobBatchSteps =
    StepList<CreateJobBatch, CloseJobBatch, FindJobBatch, ListJobBatches, RemoveJobBatch>;

}  // namespace routemaster
