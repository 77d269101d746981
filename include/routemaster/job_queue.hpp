/// @file
/// `JobQueue`: pushes, lists and changes the durable jobs of a queue.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_explanation.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/push_options.hpp"
#include "routemaster/rate_limit.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/typed_job.hpp"

namespace routemaster {

struct PushJob;

/// Façade for one queue of a store. Several `JobQueue` objects, also in several processes, may
/// share a queue. A `WorkerPool` runs the jobs.
///
/// A pushed job is as durable as its store promises, and runs at least once. A push is `invalid` if
/// the job's name is empty, is not UTF-8, or contains a NUL. A push is `invalid` if JSON cannot
/// represent the arguments (text that is not UTF-8, infinities and NaN, duplicate keys), or if the
/// arguments are nested deeper than `msgpack_depth_max` minus two. A push is `invalid` beyond
/// `PushOptions::bytes_max`.
///
/// Every call returns `invalid` for a name that does not satisfy `is_queue_name`, and for
/// `delivery_queue`, the queue of the bus.
///
/// Jobs of `aux`, a queue of Ruby Routemaster, have no ids and no settings but their due time, and
/// are never BURIED. Pushes with other settings and calls for single jobs are `invalid` there.
///
/// Each call has a blocking form and an asynchronous form with `done`; see `Bus`.
///
/// Thread safety: all members may be called from any thread.
class JobQueue {
public:
    /// The store and the clock must outlive the queue.
    JobQueue(Store& store, std::string name, const Clock& clock = system_clock());

    // --- Pushing --------------------------------------------------------------------------------

    /// Pushes a job. Returns `pushed` and the id of the job; or `duplicate`, which is no error, and
    /// the id of the existing job, in any state, BURIED included. `PushOptions::unique` defines
    /// duplicates and their effect.
    Result<Pushed> push(const Job& job, PushOptions options = {});
    void push(const Job& job, PushOptions options, std::function<void(Result<Pushed>)> done);

    /// Like `push`, with a struct of the program. Compiles only for a `TypedJob`.
    template <TypedJob T>
    Result<Pushed> push(const T& job, PushOptions options = {}) {
        return push(to_job(job), options);
    }
    template <TypedJob T>
    void push(const T& job, PushOptions options, std::function<void(Result<Pushed>)> done) {
        push(to_job(job), options, std::move(done));
    }

    /// Pushes jobs in order, in one round trip. Returns one result per job. An embedded store
    /// commits pushes of up to `row_bytes_max` bytes in one transaction, all or none. On Redis,
    /// pushes beyond `RedisOptions::waiting_max` are `unavailable`. Jobs with `timed_out` may or
    /// may not have been pushed. Retrying is safe with an idempotency key.
    std::vector<Result<Pushed>> push_many(std::span<const Job> jobs, PushOptions options = {});
    void push_many(std::span<const Job> jobs, PushOptions options,
                   std::function<void(std::vector<Result<Pushed>>)> done);

    /// Like `push_many`, with structs of the program.
    template <TypedJob T>
    std::vector<Result<Pushed>> push_many(const std::vector<T>& jobs, PushOptions options = {}) {
        return push_many(std::span<const Job>{to_jobs(jobs)}, options);
    }
    template <TypedJob T>
    void push_many(const std::vector<T>& jobs, PushOptions options,
                   std::function<void(std::vector<Result<Pushed>>)> done) {
        push_many(std::span<const Job>{to_jobs(jobs)}, options, std::move(done));
    }

    /// Like `push_many`, with settings for each job. Equal idempotency keys are `invalid`.
    std::vector<Result<Pushed>> push_each(std::span<const JobPush> pushes);
    void push_each(std::span<const JobPush> pushes,
                   std::function<void(std::vector<Result<Pushed>>)> done);

    /// Validates a job as `push` does, without reading the store.
    [[nodiscard]] Result<void> check(const Job& job, const PushOptions& options = {}) const;

    // --- Reading --------------------------------------------------------------------------------

    /// Counts the jobs by state, and reports whether the queue is paused.
    [[nodiscard]] Result<QueueStatus> status() const;
    void status(std::function<void(Result<QueueStatus>)> done) const;

    /// Returns a job with its last errors, or nothing if no job has this id, because the job is
    /// done or was dropped. `decode_job` of codec/msgpack.hpp decodes the name and the arguments.
    [[nodiscard]] Result<std::optional<JobStatus>> find(JobId id) const;
    void find(JobId id, std::function<void(Result<std::optional<JobStatus>>)> done) const;

    /// Returns why a job does not run, or which worker runs it; `to_text` formats the explanation.
    /// Returns nothing if no job has this id.
    [[nodiscard]] Result<std::optional<JobExplanation>> explain(JobId id) const;
    void explain(JobId id, std::function<void(Result<std::optional<JobExplanation>>)> done) const;

    /// A page of the jobs in one state, optionally with a name or a group, in the order of their
    /// ids, beginning after the id `after`. `limit` is at most 1,000. A page may have fewer jobs
    /// although more pages follow; see `ListJobs`.
    [[nodiscard]] Result<JobPage> list(JobFilter filter, JobId after = 0,
                                       std::uint32_t limit = 100) const;
    void list(JobFilter filter, JobId after, std::uint32_t limit,
              std::function<void(Result<JobPage>)> done) const;

    // --- Changing -------------------------------------------------------------------------------

    /// Makes a BURIED job READY. Its attempts count from 0 again, and its errors stay. A SCHEDULED
    /// job becomes due now, unless it waits for other jobs. Returns 1, or 0 if nothing was changed.
    /// In an embedded store, a job whose last attempt was interrupted by a crash stays READY until
    /// a worker looks for dead workers.
    Result<std::uint64_t> kick(JobId id);
    void kick(JobId id, std::function<void(Result<std::uint64_t>)> done);

    /// Kicks the jobs that were buried first, at most `limit` jobs (up to 1,000) with at most
    /// `job_slice_bytes_max` bytes. Returns the number of kicked jobs: 0 when no BURIED job is
    /// left.
    Result<std::uint64_t> kick_all(std::uint32_t limit = 1'000);
    void kick_all(std::uint32_t limit, std::function<void(Result<std::uint64_t>)> done);

    /// Cancels a job. A job without a lease is removed. If a `WorkerPool` runs the job, the stop
    /// token of its handler is triggered within a second
    /// (`WorkerPoolOptions::heartbeat_interval`). If the handler then succeeds, the job is done;
    /// otherwise it is dropped. Until then, an equal push is a duplicate. Removed and dropped jobs
    /// count in `jobs.cancelled`.
    Result<Cancellation> cancel(JobId id);
    void cancel(JobId id, std::function<void(Result<Cancellation>)> done);

    /// Deletes a job in any state, unless a worker has leased it.
    Result<Deletion> remove(JobId id);
    void remove(JobId id, std::function<void(Result<Deletion>)> done);

    /// Pauses the queue: no worker acquires its jobs until the queue is resumed, even after a
    /// restart. Running jobs continue. Pushes and all other calls work as always. Pausing a paused
    /// queue is no error. `invalid` for `aux`, because Ruby workers do not support pauses.
    Result<void> pause();
    void pause(std::function<void(Result<void>)> done);

    /// Resumes the queue, and wakes idle workers. Resuming a queue that is not paused is no error.
    Result<void> resume();
    void resume(std::function<void(Result<void>)> done);

    /// Sets the rate limits of the queue, in place of earlier limits; the default removes all
    /// limits. See `RateLimit`, and `LimitQueue` for what consumes a token. `JobQueues` lists the
    /// limits.
    Result<void> limit_rate(const RateLimits& limits);
    void limit_rate(const RateLimits& limits, std::function<void(Result<void>)> done);

private:
    friend class FollowUps;

    struct Many;

    template <TypedJob T>
    [[nodiscard]] static std::vector<Job> to_jobs(const std::vector<T>& jobs) {
        std::vector<Job> all;
        all.reserve(jobs.size());
        for (const auto& job : jobs) all.push_back(to_job(job));
        return all;
    }

    /// Performs a step for this queue, in the blocking and in the asynchronous form.
    template <class S>
    [[nodiscard]] Result<typename S::Reply> ask(S step) const;
    template <class S, class Done>
    void ask(S step, Done done) const;

    [[nodiscard]] Result<void> check_name() const;
    [[nodiscard]] Result<PushJob> step(const Job& job, const PushOptions& options,
                                       TimePoint now) const;
    [[nodiscard]] static Result<PushJob> step_into(const std::string& queue, const Job& job,
                                                   const PushOptions& options, TimePoint now);
    [[nodiscard]] Many many(std::span<const Job> jobs, const PushOptions& options,
                            TimePoint now) const;
    [[nodiscard]] Many many(std::span<const JobPush> pushes, TimePoint now) const;
    [[nodiscard]] std::vector<Result<Pushed>> push_all(Many all, TimePoint now) const;

    Store& store_;
    std::string name_;
    const Clock& clock_;
};

}  // namespace routemaster
