/// @file
/// `JobQueue`: durable jobs, by default each at most once in its queue.

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

/// One queue of a store. Several `JobQueue` objects, also in several processes, may share a queue.
/// A `WorkerPool` runs the jobs.
///
/// A job that was `pushed` is as durable as its store promises, and is done at least once. A push
/// is `invalid` if the job's name is empty, is not UTF-8, or has a NUL. A push is `invalid` if JSON
/// cannot carry the arguments (text that is not UTF-8, infinities and NaN, equal keys), or if the
/// arguments are nested deeper than `msgpack_depth_max` minus two. A push is `invalid` beyond
/// `PushOptions::bytes_max`.
///
/// Every call returns `invalid` for a name that does not satisfy `is_queue_name`, and for
/// `delivery_queue`, the queue of the bus.
///
/// Jobs of `aux`, a queue of Ruby Routemaster, have no ids and no settings but their due time, and
/// are never BURIED. Pushes with other settings and calls about single jobs are `invalid` there.
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
    /// the id of the job in the queue, in any state, BURIED included. `PushOptions::unique` defines
    /// duplicates and their treatment.
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

    /// Pushes jobs in order, in one trip, and returns each result. In an embedded store, pushes of
    /// up to `row_bytes_max` bytes share one commit: after a crash all of them exist, or none. On
    /// Redis, pushes beyond `RedisOptions::waiting_max` are `unavailable`. Jobs in doubt
    /// (`timed_out`) may be pushed again. With an idempotency key, a repetition adds nothing.
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

    /// Checks a job as `push` does, without a look into the queue.
    [[nodiscard]] Result<void> check(const Job& job, const PushOptions& options = {}) const;

    // --- Looking --------------------------------------------------------------------------------

    /// Counts the jobs in each state, and says whether the queue is paused.
    [[nodiscard]] Result<QueueStatus> status() const;
    void status(std::function<void(Result<QueueStatus>)> done) const;

    /// Returns a job with its last errors, or nothing when no job has this id: the job is done, or
    /// was dropped. `decode_job` of codec/msgpack.hpp decodes the name and the arguments.
    [[nodiscard]] Result<std::optional<JobStatus>> find(JobId id) const;
    void find(JobId id, std::function<void(Result<std::optional<JobStatus>>)> done) const;

    /// Returns why a job does not run, or the worker that has the job; `to_text` prints the reason.
    /// Returns nothing when no job has this id.
    [[nodiscard]] Result<std::optional<JobExplanation>> explain(JobId id) const;
    void explain(JobId id, std::function<void(Result<std::optional<JobExplanation>>)> done) const;

    /// A page of the jobs in a state, optionally of a name or a group, with ids greater than
    /// `after`, in the order of their pushes. `limit` is at most 1,000. A page may be short
    /// although more jobs follow: see `ListJobs`.
    [[nodiscard]] Result<JobPage> list(JobFilter filter, JobId after = 0,
                                       std::uint32_t limit = 100) const;
    void list(JobFilter filter, JobId after, std::uint32_t limit,
              std::function<void(Result<JobPage>)> done) const;

    // --- Acting ---------------------------------------------------------------------------------

    /// Makes a BURIED job READY: its attempts begin anew, and its errors stay. A SCHEDULED job
    /// falls due now, unless it waits for other jobs. Returns 1, or 0 when nothing was changed. In
    /// an embedded store, a job whose last attempt was cut off by the end of the process is READY
    /// until a worker looks for dead workers.
    Result<std::uint64_t> kick(JobId id);
    void kick(JobId id, std::function<void(Result<std::uint64_t>)> done);

    /// Kicks the jobs that were buried first: at most `limit` jobs (up to 1,000), and at most
    /// `job_slice_bytes_max` bytes of jobs. Returns the number of kicked jobs: 0 when no job is
    /// left.
    Result<std::uint64_t> kick_all(std::uint32_t limit = 1'000);
    void kick_all(std::uint32_t limit, std::function<void(Result<std::uint64_t>)> done);

    /// Cancels a job. A job that no worker has leased is removed. If a `WorkerPool` runs the job,
    /// the stop token of its handler stops within a second
    /// (`WorkerPoolOptions::heartbeat_interval`). If the handler then succeeds the job is done,
    /// else it is dropped. Removed and dropped jobs count in `jobs.cancelled`. Until then an equal
    /// push is a duplicate.
    Result<Cancellation> cancel(JobId id);
    void cancel(JobId id, std::function<void(Result<Cancellation>)> done);

    /// Deletes a job that no worker has leased, in any state.
    Result<Deletion> remove(JobId id);
    void remove(JobId id, std::function<void(Result<Deletion>)> done);

    /// Pauses the queue: until it is resumed no worker gets a job, even after restarts. Jobs that a
    /// worker already has go on. Pushes and all other calls work as always. Pausing a paused queue
    /// is no error. `invalid` for `aux`, because Ruby processes know no pauses.
    Result<void> pause();
    void pause(std::function<void(Result<void>)> done);

    /// Resumes the queue, and wakes idle workers. Resuming a queue that is not paused is no error.
    Result<void> resume();
    void resume(std::function<void(Result<void>)> done);

    /// Sets the rate limits of the queue, in place of earlier limits; the default removes all
    /// limits. See `RateLimit`, and `LimitQueue` for what takes a token. `JobQueues` lists the
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

    /// Performs a step about this queue: the blocking and the asynchronous form.
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
