/// @file
/// A job: a name, its arguments, and by default at most one of its kind in a queue.
///
///     push ──► SCHEDULED ──promote (due)──► READY ──acquire──► PENDING ──ack──► gone
///                 ▲  ▲                        ▲                  │ │ │
///                 │  └───── nack, release, fail (run at) ────────┘ │ └─ fail for good ──► BURIED
///                 └─────────── scrub (its worker died) ────────────┘                        │
///                                             └───────────────────────── kick ──────────────┘

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

/// Work to be done. Two jobs of equal name and arguments are the same job.
struct Job {
    std::string name;
    Value::Array arguments{};

    friend bool operator==(const Job&, const Job&) = default;
};

/// The number of a job. It is given at push, grows with each push into a store, and is never used
/// again. 0: not known, as in the queues of Ruby Routemaster (`is_ruby_queue`).
using JobId = std::uint64_t;

/// The number of a batch of jobs (`JobBatch`). It is given when the batch is created, and never
/// used again. 0: none.
using JobBatchId = std::uint64_t;

/// Whether a queue is one of Ruby Routemaster's, `main` or `aux`. On every store its jobs are as
/// there: without an id, without options, and without a count of attempts, so that they cannot be
/// BURIED, listed or deleted one by one.
[[nodiscard]] constexpr bool is_ruby_queue(std::string_view queue) noexcept {
    return queue == "main" || queue == "aux";
}

/// Priorities are from `-priority_max` to `priority_max`.
inline constexpr std::int32_t priority_max = 100;

/// What a level of priority is worth. READY jobs of a queue are acquired by when they fell due,
/// less this for each level of their priority. So a job goes before those of a lower priority that
/// fell due up to so much before it, and after those that have waited longer: each runs in the end,
/// whatever is pushed. A queue that keeps up has jobs that wait for seconds, and one level puts a
/// job before all of them; 100 levels are as much as 100 minutes of backlog.
inline constexpr Duration priority_step{60'000};

/// Longest name of an ordering group of jobs, in bytes.
inline constexpr std::size_t job_group_max = 128;

/// Jobs of one ordering group that may be under way at once, at most.
inline constexpr std::uint32_t group_concurrency_max = 1'000;

/// Jobs that one job waits for, at most.
inline constexpr std::size_t job_after_max = 100;

/// Jobs that wait for one job, at most: its end releases all of them in one step.
inline constexpr std::size_t job_dependents_max = 1'000;

/// Bytes of jobs, as they are encoded, that one step leases, lists, kicks or releases at most; a
/// job that has more goes alone. The errors that jobs keep count as well, but not in leases.
inline constexpr std::size_t job_slice_bytes_max = 4'194'304;

/// How a job is done, as its push says.
struct JobOptions {
    /// After so many attempts that ended without success the job is BURIED. 0: it never is.
    std::uint32_t attempts_max = 25;
    std::int32_t priority = 0;  ///< Greater runs earlier; see `priority_step`.
    Duration timeout{0};        ///< For one attempt; its worker sees to it. 0: none. Not negative.
    /// A job whose first attempt has not begun by then is dropped, and counted in `jobs.expired`.
    TimePoint expires_at = never;
    JobKey key{};  ///< By default none: an equal job excludes it for as long as it exists.
    /// At most `job_metadata_max` entries of `job_metadata_bytes_max` bytes together, names not
    /// empty.
    JobMetadata metadata{};
    /// Its ordering group, if it has one; see `PushOptions::group`. At most `job_group_max` bytes
    /// of UTF-8 without NUL.
    std::string group{};
    /// From 1 to `group_concurrency_max`, and 1 without a group.
    std::uint32_t concurrency = 1;
    /// The batch that it joins with its push, less than 2^53; 0: none.
    JobBatchId batch = 0;

    friend bool operator==(const JobOptions&, const JobOptions&) = default;
};

/// What became of a push.
enum class PushOutcome {
    pushed,
    duplicate,  ///< Another job of the queue excludes it; nothing was changed.
    replaced,   ///< The other job took over what was pushed.
};

/// What became of a push, and of which job.
struct Pushed {
    PushOutcome outcome = PushOutcome::pushed;
    /// Of the job that is there now; 0 when its key is kept though it is done, and in a queue of
    /// Ruby Routemaster.
    JobId id = 0;

    friend bool operator==(const Pushed&, const Pushed&) = default;
    /// Compares the outcome alone.
    friend bool operator==(const Pushed& pushed, PushOutcome expected) {
        return pushed.outcome == expected;
    }
};

/// What a push said of its job that concerns who runs it.
struct AttemptOptions {
    Duration timeout{0};     ///< For one attempt; 0: none.
    JobMetadata metadata{};  ///< See `JobOptions::metadata`.
    JobBatchId batch = 0;    ///< See `JobOptions::batch`.

    friend bool operator==(const AttemptOptions&, const AttemptOptions&) = default;
};

/// The right of one worker to do one job, until it settles the job or is taken for dead.
struct Lease {
    std::string queue;  ///< See `is_queue_name`; steps refuse any other as `invalid`.
    std::string job;    ///< The encoded job.
    Uid worker;         ///< The worker that has the lease.
    /// Greater with each time that a job of the store is acquired.
    std::uint64_t fence = 0;

    // What the store says with an acquisition. Steps that settle the lease compare the id, unless
    // it is 0, and read nothing else of it.
    JobId id = 0;                            ///< Of the job; 0 in a queue of Ruby Routemaster.
    std::uint32_t attempt = 0;               ///< 1 for the first; 0 in a queue of Ruby Routemaster.
    detail::Rare<AttemptOptions> options{};  ///< Read as `lease.options->timeout`.

    friend bool operator==(const Lease&, const Lease&) = default;
};

/// The number of jobs of a queue in each state, and whether it is paused. A scheduled job that is
/// due counts as READY. One that has expired (`PushOptions::expires`) counts as before until an
/// acquisition comes upon it and drops it, so of a queue without workers, or one that is paused, it
/// goes on to count: an index of what expires would cost memory with each job.
struct QueueStatus {
    std::uint64_t scheduled = 0;
    std::uint64_t ready = 0;
    std::uint64_t pending = 0;
    std::uint64_t buried = 0;
    bool paused = false;  ///< No job of it is acquired until it is resumed.

    friend bool operator==(const QueueStatus&, const QueueStatus&) = default;
};

/// A queue in a list.
struct ListedQueue {
    std::string name;
    QueueStatus status{};
    /// Since when the oldest READY job has been due: now minus that is how long jobs wait. It is
    /// that of the job that is acquired next, or of a SCHEDULED one that fell due before it, or of
    /// one that waits for a token of its group; of a job that waited for others of its group, since
    /// its turn. None when no job is READY, or all that are wait for others of their groups, nor of
    /// Ruby Routemaster's queues, where no job says it.
    std::optional<TimePoint> due_since{};
    RateLimits limits{};                   ///< By default it has none.
    std::uint64_t workers = 0;             ///< Live workers that say that they serve the queue.
    std::uint64_t unprofiled = 0;          ///< As in `QueueWorkers`, as is the next.
    std::optional<TimePoint> worker_at{};  ///< When a worker of the queue was last heard of.

    friend bool operator==(const ListedQueue&, const ListedQueue&) = default;
};

}  // namespace routemaster
