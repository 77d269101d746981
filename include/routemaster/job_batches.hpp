/// @file
/// `JobBatches`: creates batches of many jobs, counts their progress, and pushes callbacks at their
/// end.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "routemaster/clock.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_batch.hpp"
#include "routemaster/job_metadata.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step/job_batches.hpp"
#include "routemaster/time.hpp"
#include "routemaster/typed_job.hpp"

namespace routemaster {

/// The settings of a callback besides its queue and its job, as in `PushOptions`.
struct JobBatchCallbackOptions {
    std::uint32_t attempts_max = 25;
    std::int32_t priority = 0;
    Duration timeout{0};
    JobMetadata metadata{};
};

/// Creates a callback for a batch.
[[nodiscard]] JobBatchCallback batch_callback(std::string queue, const Job& job,
                                              JobBatchCallbackOptions options = {});

/// Creates a callback for a batch, from a struct of the program.
template <TypedJob T>
[[nodiscard]] JobBatchCallback batch_callback(std::string queue, const T& job,
                                              JobBatchCallbackOptions options = {}) {
    return batch_callback(std::move(queue), to_job(job), std::move(options));
}

/// Façade for a store's batches of jobs. A batch is stored, and all processes may use it.
///
///     routemaster::JobBatches batches{store};
///     const auto batch = batches.create(
///         {.name = "import 2030-05-01",
///          .on_success = batch_callback("mail", {"import done", {}}),
///          .on_end = batch_callback("imports", {"remove temporary files", {}})}).value();
///     jobs.push_many(rows, {.batch = batch.id});
///     batches.close(batch.id);
///
/// **When a batch ends.** Only a closed batch can end, so a batch does not end before all its jobs
/// were pushed. A closed batch ends when its last job is done, BURIED, or removed. The step that
/// ends this job also counts the job and pushes the callbacks, all or nothing. `on_end` is pushed
/// in any case, and `on_success` if every job has succeeded. Each is pushed at most once. If BURIED
/// jobs are kicked after the end and all jobs have then succeeded, `on_success` is pushed at that
/// time.
///
/// **Which jobs.** A push adds its job to a batch by `PushOptions::batch`, in any queue except Ruby
/// Routemaster's. A handler of a job of the batch may push further jobs into the batch, at once or
/// in the step that completes its own job (`FollowUps`), even after the batch was closed. A push of
/// a duplicate adds no job.
///
/// **Programs that crash.** A program that crashed while it filled a batch can repeat all calls
/// with an equal batch name. The existing batch is used, pushes of existing jobs are duplicates,
/// and missing jobs are added. But jobs that are done by then are pushed, and run, once more. A
/// batch that is never closed stays open until it is removed.
///
/// Each call has a blocking form and an asynchronous form with `done`; see `Bus`.
///
/// Thread safety: all members may be called from any thread.
class JobBatches {
public:
    /// The store and the clock must outlive this object.
    explicit JobBatches(Store& store, const Clock& clock = system_clock())
        : store_{store}, clock_{clock} {}

    /// Creates an open batch. Without a name, the batch gets a random name. If a batch with this
    /// name exists, returns its id and changes nothing, which is no error. `invalid`, naming the
    /// field, for a callback that a push would reject, for a job of more than
    /// `batch_callback_bytes_max` bytes, and beyond `job_batches_open_max`.
    Result<JobBatchCreated> create(JobBatchSettings settings);
    void create(JobBatchSettings settings, std::function<void(Result<JobBatchCreated>)> done);

    /// Closes a batch, so that the batch can end. Returns false when no batch has this id. Closing
    /// a closed batch is no error.
    Result<bool> close(JobBatchId id);
    void close(JobBatchId id, std::function<void(Result<bool>)> done);

    /// Returns a batch, or nothing when no batch has this id.
    [[nodiscard]] Result<std::optional<JobBatch>> find(JobBatchId id) const;
    void find(JobBatchId id, std::function<void(Result<std::optional<JobBatch>>)> done) const;

    /// A page of the ended batches, or of the batches that have not ended, in order of creation: at
    /// most `limit` batches, up to `job_batches_listed_max`, with ids greater than `after`.
    [[nodiscard]] Result<JobBatchPage> list(bool ended, JobBatchId after = 0,
                                            std::uint32_t limit = job_batches_listed_max) const;
    void list(bool ended, JobBatchId after, std::uint32_t limit,
              std::function<void(Result<JobBatchPage>)> done) const;

    /// Removes a batch. Its jobs continue without a batch, and no callback is pushed.
    Result<Removal> remove(JobBatchId id);
    void remove(JobBatchId id, std::function<void(Result<Removal>)> done);

private:
    Store& store_;
    const Clock& clock_;
};

}  // namespace routemaster
