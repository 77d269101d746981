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

/// One queue of a store. Any number of objects, in any processes, may share one; a `WorkerPool`
/// does its jobs.
///
/// A job that was `pushed` survives a crash as the store promises, and is done at least once. A
/// push is `invalid` when the name of its job is empty, not UTF-8, or has a NUL; when its arguments
/// contain what JSON cannot carry (other text, numbers that are not finite, equal keys), or are
/// nested deeper than `msgpack_depth_max`, less two; and beyond `PushOptions::bytes_max`.
///
/// A name that is none by `is_queue_name`, and `delivery_queue`, which is the bus's own, make every
/// call answer `invalid`.
///
/// Jobs of `aux`, which is a queue of Ruby Routemaster, have neither ids nor settings, and are
/// never BURIED: pushes with settings and calls about single jobs are `invalid` there.
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread.
class JobQueue {
public:
    /// The store and the clock must outlive the queue.
    JobQueue(Store& store, std::string name, const Clock& clock = system_clock());

    // --- Pushing --------------------------------------------------------------------------------

    /// Puts a job into the queue. Returns its id, and `pushed`; or `duplicate`, which is not an
    /// error, and the id of the job that is there already, in any state, BURIED included. What
    /// counts as a duplicate, and what becomes of it, is up to `PushOptions::unique`.
    Result<Pushed> push(const Job& job, PushOptions options = {});
    void push(const Job& job, PushOptions options, std::function<void(Result<Pushed>)> done);

    /// The same with a struct of the program. What is no job does not compile.
    template <TypedJob T>
    Result<Pushed> push(const T& job, PushOptions options = {}) {
        return push(to_job(job), options);
    }
    template <TypedJob T>
    void push(const T& job, PushOptions options, std::function<void(Result<Pushed>)> done) {
        push(to_job(job), options, std::move(done));
    }

    /// Puts many jobs into the queue, in order, in one trip, and returns the result of each. In a
    /// file those up to `row_bytes_max` share one commit: after a crash all are there, or none. On
    /// Redis those beyond `RedisOptions::waiting_max` are `unavailable`. Jobs in doubt
    /// (`timed_out`) may be pushed again.
    std::vector<Result<Pushed>> push_many(std::span<const Job> jobs, PushOptions options = {});
    void push_many(std::span<const Job> jobs, PushOptions options,
                   std::function<void(std::vector<Result<Pushed>>)> done);

    /// The same with structs of the program.
    template <TypedJob T>
    std::vector<Result<Pushed>> push_many(const std::vector<T>& jobs, PushOptions options = {}) {
        return push_many(std::span<const Job>{to_jobs(jobs)}, options);
    }
    template <TypedJob T>
    void push_many(const std::vector<T>& jobs, PushOptions options,
                   std::function<void(std::vector<Result<Pushed>>)> done) {
        push_many(std::span<const Job>{to_jobs(jobs)}, options, std::move(done));
    }

    /// `push_many` with settings for each job.
    std::vector<Result<Pushed>> push_each(std::span<const JobPush> pushes);
    void push_each(std::span<const JobPush> pushes,
                   std::function<void(std::vector<Result<Pushed>>)> done);

    /// Why `push` would refuse a job as `invalid`, whatever is in the queue.
    [[nodiscard]] Result<void> check(const Job& job, const PushOptions& options = {}) const;

    // --- Looking --------------------------------------------------------------------------------

    /// Counts the jobs in each state, and says whether the queue is paused.
    [[nodiscard]] Result<QueueStatus> status() const;
    void status(std::function<void(Result<QueueStatus>)> done) const;

    /// A job, with its last errors; nothing when the queue has none of that id: it is done, or was
    /// dropped. `decode_job` of codec/msgpack.hpp reads its name and arguments.
    [[nodiscard]] Result<std::optional<JobStatus>> find(JobId id) const;
    void find(JobId id, std::function<void(Result<std::optional<JobStatus>>)> done) const;

    /// Why a job is not under way, or who has it, which `to_text` says in words; nothing when the
    /// queue has none of that id.
    [[nodiscard]] Result<std::optional<JobExplanation>> explain(JobId id) const;
    void explain(JobId id, std::function<void(Result<std::optional<JobExplanation>>)> done) const;

    /// The jobs in a state, maybe of one name or group, whose id is greater than `after`, in the
    /// order of their pushes, at most `limit`, which is at most 1,000. See `ListJobs`: a page may
    /// be short though more follow.
    [[nodiscard]] Result<JobPage> list(JobFilter filter, JobId after = 0,
                                       std::uint32_t limit = 100) const;
    void list(JobFilter filter, JobId after, std::uint32_t limit,
              std::function<void(Result<JobPage>)> done) const;

    // --- Acting ---------------------------------------------------------------------------------

    /// Makes a BURIED job READY; its attempts begin anew, its errors stay. One that is SCHEDULED
    /// for a later instant falls due now, unless it waits for other jobs. Returns 1, or 0 when it
    /// was neither. One whose last attempt ended with the process that had the file is READY until
    /// a worker looks.
    Result<std::uint64_t> kick(JobId id);
    void kick(JobId id, std::function<void(Result<std::uint64_t>)> done);

    /// The same for those that were buried first, at most `limit`, which is at most 1,000, and
    /// fewer when they are large: `job_slice_bytes_max`. Returns how many: 0 once none is left.
    Result<std::uint64_t> kick_all(std::uint32_t limit = 1'000);
    void kick_all(std::uint32_t limit, std::function<void(Result<std::uint64_t>)> done);

    /// Cancels a job: one that no worker has leased is removed. Of one that a `WorkerPool` runs the
    /// stop token stops within a second (`WorkerPoolOptions::heartbeat_interval`); the job is done
    /// if its handler then succeeds, and else dropped. Both count in `jobs.cancelled`. Until then
    /// an equal push is a duplicate of it.
    Result<Cancellation> cancel(JobId id);
    void cancel(JobId id, std::function<void(Result<Cancellation>)> done);

    /// Deletes a job that no worker has leased, in any state.
    Result<Deletion> remove(JobId id);
    void remove(JobId id, std::function<void(Result<Deletion>)> done);

    /// Pauses the queue: until it is resumed no worker gets a job of it, whichever processes end or
    /// begin. Jobs that a worker has already go on; pushes and all other calls do what they always
    /// do. Pausing a queue that is paused is no error. `invalid` for `aux`, as Ruby processes do
    /// not know of pauses.
    Result<void> pause();
    void pause(std::function<void(Result<void>)> done);

    /// Lets workers have jobs again, and wakes those that are idle. Resuming a queue that is not
    /// paused is no error.
    Result<void> resume();
    void resume(std::function<void(Result<void>)> done);

    /// Gives the queue rate limits, in place of those that it has; the default takes them away. See
    /// `RateLimit`, and `LimitQueue` for what takes a token. `JobQueues` lists them.
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

    /// Both forms of a step about this queue.
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
