/// @file
/// `PushOptions`: the settings of a push besides name and arguments. `JobPush`: a job together with
/// its settings.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/idempotency_key.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_metadata.hpp"
#include "routemaster/time.hpp"
#include "routemaster/unique.hpp"

namespace routemaster {

/// Default maximum size of an encoded job (name and arguments as MessagePack), in bytes. Store
/// larger data elsewhere, and pass its location in the job.
inline constexpr std::size_t job_bytes_max = std::size_t{1} << 20U;

/// The greatest value of `PushOptions::bytes_max`.
inline constexpr std::size_t job_bytes_limit = std::size_t{1} << 26U;

/// Settings of one push. They are stored with the job.
///
/// In a queue that is shared with Ruby Routemaster (`main`, `aux`), only `delay` and `run_at` are
/// possible. Any other setting is `invalid`.
struct PushOptions {
    Duration delay{0};  ///< Time from now until the job is due; see `due_after`.
    /// When the job is due. `invalid` unless `is_due_time`, or together with a `delay`.
    std::optional<TimePoint> run_at{};

    /// Number of unsuccessful attempts after which the job is BURIED. 0: unlimited. An attempt
    /// whose worker crashed counts, too. Exception: an embedded store does not count the first
    /// attempt of a job if the process that has opened the store crashes during this attempt. The
    /// attempt counts nevertheless if `attempts_max` is 1, the job expires, or its key has the
    /// scope `until_started`.
    std::uint32_t attempts_max = 25;

    /// From -100 to 100; a greater priority runs earlier. Each level counts as one minute of
    /// waiting: a job runs before a job of lower priority that fell due up to this many minutes
    /// earlier, and no job starves. Jobs of equal rank run in the order of their pushes. A job
    /// overtakes jobs in the queue, but not jobs that a worker has already prefetched
    /// (`WorkerPoolOptions::prefetch_max`).
    std::int32_t priority = 0;

    /// Timeout of an attempt; see `WorkerPool`. 0: no timeout.
    Duration timeout{0};

    /// Time from the due time to the job's expiry. If the first attempt has not begun by then, the
    /// job is dropped, and counted in `jobs.expired`. Jobs that wait for their group or for the
    /// jobs in `after` expire as well. 0: the job never expires.
    Duration expires{0};

    /// Which existing jobs make this push a duplicate. By default, an equal job does.
    Unique unique{};

    /// Data for middleware and tools, for example a trace context. At most `job_metadata_max`
    /// entries, of `job_metadata_bytes_max` bytes together.
    JobMetadata metadata{};

    /// The ordering group of the job, for example "account:42". Jobs of a queue with an equal group
    /// run in the order in which they became READY, at most `concurrency` of them at once. A job
    /// becomes READY when it is pushed or, if it is due later, at the first acquisition after its
    /// due time. A job that fails or is snoozed keeps its position, and later jobs of the group
    /// wait for it. A job that is BURIED, done, deleted or cancelled leaves the group. A job that
    /// is not due yet blocks no job. Workers acquire jobs from the groups in rotation, so a long
    /// group does not delay others. At most `job_group_max` bytes of UTF-8 without NUL. Empty: no
    /// group.
    std::string group{};

    /// How many jobs of the group may run at once, from 1 to `group_concurrency_max`. With 1, the
    /// jobs run strictly one after another. The last job that joined the group sets the value for
    /// the whole group.
    std::uint32_t concurrency = 1;

    /// The batch that the job joins, from `JobBatches::create`. The batch counts the job, and how
    /// the job ends. A duplicate does not join. Jobs may join a closed batch only while a job of
    /// the batch waits or runs, for example the job whose handler pushes. Otherwise, and for an
    /// unknown batch, the push is `invalid`. 0: no batch.
    JobBatchId batch = 0;

    /// Dependencies: ids of jobs of the same queue that must be done before this job, at most
    /// `job_after_max`. Until then the job is SCHEDULED, whatever its due time is. An id that was
    /// assigned, but is not of a job in the queue, counts as done. An id that was not assigned yet
    /// is `invalid`, and so is a job that already has `job_dependents_max` dependent jobs.
    ///
    /// A BURIED dependency is not done, because it may succeed after a kick. If a dependency is
    /// deleted, cancelled, expires, or is evicted from the BURIED jobs, then each job that depends
    /// on it is BURIED, with an error that states the cause. If such a job is kicked, it no longer
    /// waits for any dependency.
    ///
    /// With `after`, a duplicate must be kept (`OnDuplicate::keep`), and the push must not be a
    /// follow-up of a job (`FollowUps`); else it is `invalid`.
    std::vector<JobId> after{};

    /// Idempotency key, which makes it safe to repeat this push, later or from another process.
    /// Until the key expires, a push with this key into this queue changes nothing and returns the
    /// reply to the first push, even if the job no longer exists. `invalid` if the repeated push
    /// differs from the first. A rejected push stores no key. At most `idempotency_key_max` bytes.
    /// Empty: no key. Follow-ups of a job (`FollowUps`) and jobs of `aux` cannot have a key.
    ///
    /// In `JobQueue::push_many`, and for a job in an array over HTTP, the key of each job is this
    /// text and the index of the job in brackets, for example `order:42[0]`. A repetition of the
    /// call, or of its first jobs, therefore pushes nothing. In `JobQueue::push_each`, a job with
    /// the key of an earlier job of the call is `invalid`.
    std::string idempotency_key{};

    /// Time from the push to the key's expiry: positive, at most `idempotency_time_max`. Without a
    /// key, any time but the default is `invalid`.
    Duration idempotency_time = idempotency_time_default;

    /// Maximum size of the encoded job, in bytes; a larger job is `invalid`. Must be at most
    /// `job_bytes_limit`, else every push is `invalid`.
    /// The follow-ups of a job (`FollowUps`) have a further limit, for all pushes and events
    /// together.
    std::size_t bytes_max = job_bytes_max;
};

/// A job with its settings.
struct JobPush {
    Job job;
    PushOptions options{};
};

}  // namespace routemaster
