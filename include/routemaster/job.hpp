/// @file
/// A job: a name and arguments. By default a queue has at most one job with equal name and
/// arguments.
///
///     push ──► SCHEDULED ──promote (due)──► READY ──acquire──► PENDING ──ack──► gone
///                 ▲  ▲                        ▲                  │ │ │
///                 │  └───── nack, release, fail (run at) ────────┘ │ └─ fail for good ──► BURIED
///                 └─────────── scrub (its worker died) ────────────┘                        │
///                                             └───────────────────────── kick ──────────────┘
///
/// A BURIED job failed too often, or for good. The queue keeps BURIED jobs until they are kicked,
/// which makes them READY again, or deleted.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/detail/rare.hpp"
#include "routemaster/job_key.hpp"
#include "routemaster/job_metadata.hpp"
#include "routemaster/rate_limit.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// Work to be done. Two jobs with equal names and arguments are equal.
struct Job {
    std::string name;
    Value::Array arguments{};

    friend bool operator==(const Job&, const Job&) = default;
};

/// The number of a job, given at its push. Numbers grow with each push into a store, and are never
/// used again. 0: not known, as in the queues of Ruby Routemaster (`is_ruby_queue`).
using JobId = std::uint64_t;

/// The number of a batch of jobs (`JobBatch`), given at its creation and never used again. 0: no
/// batch.
using JobBatchId = std::uint64_t;

/// Whether a queue is Ruby Routemaster's: `main` or `aux`. On every store the jobs of these queues
/// have no id, no options and no count of attempts. These jobs therefore cannot be BURIED, and
/// cannot be listed or deleted individually.
[[nodiscard]] constexpr bool is_ruby_queue(std::string_view queue) noexcept {
    return queue == "main" || queue == "aux";
}

/// Priorities are from `-priority_max` to `priority_max`.
inline constexpr std::int32_t priority_max = 100;

/// The worth of a level of priority. READY jobs are acquired in the order of their due times, minus
/// this duration for each level of priority. A job thus goes before jobs of the next lower priority
/// that fell due up to this duration earlier, and after jobs with a longer wait. Every job runs in
/// the end, whatever is pushed. If the workers of a queue keep up, jobs wait for seconds, and a
/// single level puts a job before all of them; 100 levels equal 100 minutes of backlog.
inline constexpr Duration priority_step{60'000};

/// Longest name of an ordering group of jobs, in bytes.
inline constexpr std::size_t job_group_max = 128;

/// The most jobs of an ordering group that may be under way at once.
inline constexpr std::uint32_t group_concurrency_max = 1'000;

/// The most jobs for which a job may wait.
inline constexpr std::size_t job_after_max = 100;

/// The most jobs that may wait for a single job: its end releases all of them in one step.
inline constexpr std::size_t job_dependents_max = 1'000;

/// The most bytes of encoded jobs that a step leases, lists, kicks or releases. A larger job is
/// handled alone. The errors kept on the jobs count as well, except in leases.
inline constexpr std::size_t job_slice_bytes_max = 4'194'304;

/// The settings of a job, from its push; see `PushOptions`.
struct JobOptions {
    /// The job is BURIED after this many attempts without success. 0: never.
    std::uint32_t attempts_max = 25;
    std::int32_t priority = 0;  ///< Greater runs earlier; see `priority_step`.
    /// The time limit of an attempt, enforced by the worker. 0: no limit. Not negative.
    Duration timeout{0};
    /// If the first attempt has not begun by this time, the job is dropped, and counted in
    /// `jobs.expired`.
    TimePoint expires_at = never;
    JobKey key{};  ///< By default no key: the job excludes equal jobs while it exists.
    /// At most `job_metadata_max` entries with names that are not empty, and
    /// `job_metadata_bytes_max` bytes together.
    JobMetadata metadata{};
    /// The ordering group of the job; see `PushOptions::group`. At most `job_group_max` bytes of
    /// UTF-8 without NUL. Empty: no group.
    std::string group{};
    /// Jobs of the group that may be under way at once: 1 to `group_concurrency_max`, and 1 without
    /// a group.
    std::uint32_t concurrency = 1;
    /// The batch that the job joins, less than 2^53; 0: no batch.
    JobBatchId batch = 0;

    friend bool operator==(const JobOptions&, const JobOptions&) = default;
};

/// How a push ended.
enum class PushOutcome {
    pushed,
    duplicate,  ///< Another job of the queue excludes this job; nothing was changed.
    replaced,   ///< The excluding job took over the pushed arguments, options and time.
};

/// The reply to a push: what happened to the job, and the id of the job.
struct Pushed {
    PushOutcome outcome = PushOutcome::pushed;
    /// The id of the job in the queue. 0 when only the key of a finished job is kept, and in a
    /// queue of Ruby Routemaster.
    JobId id = 0;

    friend bool operator==(const Pushed&, const Pushed&) = default;
    /// Compares only `outcome`.
    friend bool operator==(const Pushed& pushed, PushOutcome expected) {
        return pushed.outcome == expected;
    }
};

/// The settings of a job that its worker needs.
struct AttemptOptions {
    Duration timeout{0};     ///< The time limit of an attempt; 0: no limit.
    JobMetadata metadata{};  ///< See `JobOptions::metadata`.
    JobBatchId batch = 0;    ///< See `JobOptions::batch`.

    friend bool operator==(const AttemptOptions&, const AttemptOptions&) = default;
};

/// The right of a worker to run a job, until the worker settles the job or counts as dead.
struct Lease {
    std::string queue;  ///< Must satisfy `is_queue_name`, else steps return `invalid`.
    std::string job;    ///< The encoded job.
    Uid worker;         ///< The worker that has the lease.
    /// Grows with each acquisition of a job of the store. Distinguishes this lease from earlier
    /// leases of the job.
    std::uint64_t fence = 0;

    // Set by the store at the acquisition. Steps that settle the lease compare `id`, unless it is
    // 0, and ignore `attempt` and `options`.
    JobId id = 0;               ///< The id of the job; 0 in a queue of Ruby Routemaster.
    std::uint32_t attempt = 0;  ///< 1 for the first; 0 in a queue of Ruby Routemaster.
    detail::Rare<AttemptOptions> options{};  ///< Read as `lease.options->timeout`.

    friend bool operator==(const Lease&, const Lease&) = default;
};

/// The number of jobs of a queue in each state, and whether the queue is paused. A SCHEDULED job
/// that is due counts as READY. An expired job (`PushOptions::expires`) counts as before until an
/// acquisition finds and drops it. In a queue that is paused or has no workers, expired jobs
/// therefore stay in the counts, because an index of expiry times would cost memory for each job.
struct QueueStatus {
    std::uint64_t scheduled = 0;
    std::uint64_t ready = 0;
    std::uint64_t pending = 0;
    std::uint64_t buried = 0;
    bool paused = false;  ///< No job is acquired until the queue is resumed.

    friend bool operator==(const QueueStatus&, const QueueStatus&) = default;
};

/// A queue in the list of `JobQueues`.
struct ListedQueue {
    std::string name;
    QueueStatus status{};
    /// Since when the oldest READY job has been due: now minus this instant is how long jobs wait.
    /// The oldest READY job is the next job to be acquired, or a SCHEDULED job with an earlier due
    /// time, or a job that waits for a token of its group (`RateLimits::each_group`). If the job
    /// waited for its group, the time counts since its turn in the group came. Nothing when no job
    /// is READY, or all READY jobs wait for other jobs of their groups. Nothing also for Ruby
    /// Routemaster's queues, whose jobs do not store the time.
    std::optional<TimePoint> due_since{};
    RateLimits limits{};        ///< By default there are no limits.
    std::uint64_t workers = 0;  ///< Live workers whose profile names the queue.
    /// Live workers of the store without a profile; see `QueueWorkers`.
    std::uint64_t unprofiled = 0;
    /// When a worker of the queue was last heard of; see `QueueWorkers::last_at`.
    std::optional<TimePoint> worker_at{};

    friend bool operator==(const ListedQueue&, const ListedQueue&) = default;
};

}  // namespace routemaster
