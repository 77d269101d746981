/// @file
/// A job: a name and arguments. By default a queue has at most one job with equal name and
/// arguments.
///
///     push ──► SCHEDULED ──promote (due)──► READY ──acquire──► PENDING ──ack──► removed
///                 ▲  ▲                        ▲                  │ │ │
///                 │  └───── nack, release, fail (run at) ────────┘ │ └─ last failure ──► BURIED
///                 └─────────── scrub (dead worker) ────────────────┘                        │
///                                             └───────────────────────── kick ──────────────┘
///
/// A BURIED job failed permanently, or on all its attempts. The queue retains BURIED jobs until
/// they are kicked, which makes them READY again, or deleted.

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

/// A job: a name, which selects the handler, and arguments. Jobs with both equal are equal.
struct Job {
    std::string name;
    Value::Array arguments{};

    friend bool operator==(const Job&, const Job&) = default;
};

/// Id of a job, assigned by its push. Ids increase with each push into a store, and are never
/// reused. 0: unknown, as in the queues of Ruby Routemaster (`is_ruby_queue`).
using JobId = std::uint64_t;

/// Id of a batch of jobs (`JobBatch`), assigned by its creation and never reused. 0: no
/// batch.
using JobBatchId = std::uint64_t;

/// Whether a queue is shared with Ruby Routemaster: `main` or `aux`. On every store the jobs of
/// these queues have no id, no options and no count of attempts. These jobs can therefore not be
/// BURIED, and cannot be listed or deleted individually.
[[nodiscard]] constexpr bool is_ruby_queue(std::string_view queue) noexcept {
    return queue == "main" || queue == "aux";
}

/// Priorities are from `-priority_max` to `priority_max`.
inline constexpr std::int32_t priority_max = 100;

/// How much earlier one level of priority makes a job run. READY jobs are acquired in the order of
/// their due times, minus this duration for each level of priority. A job thus runs before a job of
/// the next lower priority, unless the latter fell due more than this duration earlier. No job
/// starves. In a queue whose jobs wait only seconds, one level of priority suffices to overtake all
/// jobs. 100 levels equal 100 minutes of backlog.
inline constexpr Duration priority_step{60'000};

/// Maximum length of the name of an ordering group, in bytes.
inline constexpr std::size_t job_group_max = 128;

/// Maximum number of jobs of an ordering group that run at once.
inline constexpr std::uint32_t group_concurrency_max = 1'000;

/// The maximum number of jobs that a job may depend on (`PushOptions::after`).
inline constexpr std::size_t job_after_max = 100;

/// Maximum number of dependents of a job. When the job ends, one step releases all of them.
inline constexpr std::size_t job_dependents_max = 1'000;

/// Maximum bytes of encoded jobs that a step leases, lists, kicks or releases. A larger job is
/// processed alone. The stored errors of the jobs count as well, except in leases.
inline constexpr std::size_t job_slice_bytes_max = 4'194'304;

/// The settings of a job, from its push; see `PushOptions`.
struct JobOptions {
    /// Number of unsuccessful attempts after which the job is BURIED. 0: unlimited.
    std::uint32_t attempts_max = 25;
    std::int32_t priority = 0;  ///< A greater priority runs earlier; see `priority_step`.
    /// Timeout of an attempt, enforced by the worker. 0: no timeout. Not negative.
    Duration timeout{0};
    /// If the first attempt has not begun by this time, the job expires: it is dropped, and counted
    /// in `jobs.expired`.
    TimePoint expires_at = never;
    JobKey key{};  ///< Default: no key. The job excludes equal jobs while it exists.
    /// At most `job_metadata_max` entries with names that are not empty, and
    /// `job_metadata_bytes_max` bytes together.
    JobMetadata metadata{};
    /// The ordering group of the job; see `PushOptions::group`. At most `job_group_max` bytes of
    /// UTF-8 without NUL. Empty: no group.
    std::string group{};
    /// Number of jobs of the group that may run at once: 1 to `group_concurrency_max`, and 1
    /// without a group.
    std::uint32_t concurrency = 1;
    /// The batch that the job joins, less than 2^53; 0: no batch.
    JobBatchId batch = 0;

    friend bool operator==(const JobOptions&, const JobOptions&) = default;
};

/// The effect of a push.
enum class PushOutcome {
    pushed,
    duplicate,  ///< An existing job of the queue excludes the pushed job; nothing was changed.
    replaced,   ///< The existing job got the pushed arguments, options and time.
};

/// The reply to a push: its effect, and the id of the job.
struct Pushed {
    PushOutcome outcome = PushOutcome::pushed;
    /// The id of the pushed, replaced or existing job. 0 in a queue of Ruby Routemaster, and if the
    /// existing job has finished, and only its key excludes the pushed job.
    JobId id = 0;

    friend bool operator==(const Pushed&, const Pushed&) = default;
    /// Compares only `outcome`.
    friend bool operator==(const Pushed& pushed, PushOutcome expected) {
        return pushed.outcome == expected;
    }
};

/// The settings that a worker needs to run an attempt.
struct AttemptOptions {
    Duration timeout{0};     ///< Timeout of an attempt; 0: no timeout.
    JobMetadata metadata{};  ///< See `JobOptions::metadata`.
    JobBatchId batch = 0;    ///< See `JobOptions::batch`.

    friend bool operator==(const AttemptOptions&, const AttemptOptions&) = default;
};

/// A worker's exclusive right to run a job, until it settles the job or counts as dead.
struct Lease {
    std::string queue;  ///< Must satisfy `is_queue_name`, else steps return `invalid`.
    std::string job;    ///< The encoded job.
    Uid worker;         ///< The worker that owns the lease.
    /// Fencing token: increases with each acquisition of any job of the store. Distinguishes this
    /// lease from earlier leases of the job.
    std::uint64_t fence = 0;

    // Set by the store at the acquisition. Steps that settle the lease compare `id`, unless it is
    // 0, and ignore `attempt` and `options`.
    JobId id = 0;               ///< The id of the job; 0 in a queue of Ruby Routemaster.
    std::uint32_t attempt = 0;  ///< 1 for the first attempt; 0 in a queue of Ruby Routemaster.
    detail::Rare<AttemptOptions> options{};  ///< Read as `lease.options->timeout`.

    friend bool operator==(const Lease&, const Lease&) = default;
};

/// Number of jobs of a queue by state, and whether the queue is paused. A SCHEDULED job that is due
/// counts as READY. An expired job (`PushOptions::expires`) is counted until an acquisition finds
/// and drops it. If the queue is paused or has no workers, expired jobs therefore remain in the
/// counts. An index of expiry times, which would avoid this, costs memory for each job.
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
    /// Since when the oldest READY job has been due. Now minus this instant is the queue's latency.
    /// The oldest READY job is the next job to be acquired, or a SCHEDULED job with an earlier due
    /// time, or a job that waits for a token of its group (`RateLimits::each_group`). For a job
    /// that waited for earlier jobs of its group, the time counts from the end of this wait. Absent
    /// when no job is READY, and when all READY jobs wait for other jobs of their groups. Always
    /// absent for Ruby Routemaster's queues, whose jobs do not store the time.
    std::optional<TimePoint> due_since{};
    RateLimits limits{};        ///< By default there are no limits.
    std::uint64_t workers = 0;  ///< Live workers whose profile lists the queue.
    /// Live workers of the store without a profile; see `QueueWorkers`.
    std::uint64_t unprofiled = 0;
    /// When the last heartbeat of a worker of the queue arrived; see `QueueWorkers::last_at`.
    std::optional<TimePoint> worker_at{};

    friend bool operator==(const ListedQueue&, const ListedQueue&) = default;
};

}  // namespace routemaster
