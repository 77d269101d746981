/// @file
/// `JobBatches`: many jobs, their progress, and a job that is pushed when all of them are done.

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
#include "routemaster/step/job_batches.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/typed_job.hpp"

namespace routemaster {

/// Settings of a callback beside its queue and its job. As in `PushOptions`.
struct JobBatchCallbackOptions {
    std::uint32_t attempts_max = 25;
    std::int32_t priority = 0;
    Duration timeout{0};
    JobMetadata metadata{};
};

/// A callback of a batch.
[[nodiscard]] JobBatchCallback batch_callback(std::string queue, const Job& job,
                                              JobBatchCallbackOptions options = {});

/// The same with a struct of the program.
template <TypedJob T>
[[nodiscard]] JobBatchCallback batch_callback(std::string queue, const T& job,
                                              JobBatchCallbackOptions options = {}) {
    return batch_callback(std::move(queue), to_job(job), std::move(options));
}

/// The batches of jobs of a store. They are entities there, which all processes share.
///
///     routemaster::JobBatches batches{store};
///     const auto batch = batches.create(
///         {.name = "import 2030-05-01",
///          .on_success = batch_callback("mail", {"import done", {}}),
///          .on_end = batch_callback("imports", {"remove temporary files", {}})}).value();
///     jobs.push_many(rows, {.batch = batch.id});
///     batches.close(batch.id);
///
/// **When a batch ends.** It may end once it is closed, so that neither an empty batch nor one
/// whose first jobs are fast ends too early. Then it ends in the step with which its last job is
/// done, BURIED, or gone, whatever removes it: that step counts the job, and pushes the callbacks,
/// all of it or nothing. `on_success` is pushed if each job has succeeded; `on_end` in any case.
/// Each is pushed at most once. When BURIED jobs are kicked after the end, and then all jobs of the
/// batch have succeeded, `on_success` is pushed then; `on_end` is not pushed again.
///
/// **Which jobs.** Those of any queues but Ruby Routemaster's that are pushed with
/// `PushOptions::batch`; also by a handler of one of them, at once or as follow-ups, though the
/// batch is closed. A push that finds a duplicate adds none.
///
/// **Programs that die.** A program that creates a batch, pushes and dies can do all of it again
/// with the same name: the batch is the same, equal jobs are duplicates, and those that it had not
/// pushed are added; but jobs that are done by then are pushed once more. A batch that nobody
/// closes stays open until it is removed.
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread.
class JobBatches {
public:
    /// The store and the clock must outlive it.
    explicit JobBatches(Store& store, const Clock& clock = system_clock())
        : store_{store}, clock_{clock} {}

    /// Creates a batch, which is open. Without a name it is given a fresh one; with a name that
    /// another batch has, which is no error, the id of that is returned, and nothing is changed.
    /// `invalid`, naming the field, for what makes a push invalid, a job of more than
    /// `batch_callback_bytes_max`, and beyond `job_batches_open_max`.
    Result<JobBatchCreated> create(JobBatchSettings settings);
    void create(JobBatchSettings settings, std::function<void(Result<JobBatchCreated>)> done);

    /// Lets a batch end. Returns false when there is none of that id; to close one again is no
    /// error.
    Result<bool> close(JobBatchId id);
    void close(JobBatchId id, std::function<void(Result<bool>)> done);

    /// A batch; nothing when there is none of that id.
    [[nodiscard]] Result<std::optional<JobBatch>> find(JobBatchId id) const;
    void find(JobBatchId id, std::function<void(Result<std::optional<JobBatch>>)> done) const;

    /// A page of those that have ended, or of those that have not, in the order of their creation:
    /// at most `limit`, up to `job_batches_listed_max`, from the first after the batch `after` on.
    [[nodiscard]] Result<JobBatchPage> list(bool ended, JobBatchId after = 0,
                                            std::uint32_t limit = job_batches_listed_max) const;
    void list(bool ended, JobBatchId after, std::uint32_t limit,
              std::function<void(Result<JobBatchPage>)> done) const;

    /// Forgets a batch: its jobs go on as jobs of none, and no callback is pushed any more.
    Result<Removal> remove(JobBatchId id);
    void remove(JobBatchId id, std::function<void(Result<Removal>)> done);

private:
    Store& store_;
    const Clock& clock_;
};

}  // namespace routemaster
