/// @file
/// `PushOptions`: the settings of a push besides name and arguments. `JobPush`: a job with its
/// settings.

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

/// Default limit for an encoded job (name and arguments as MessagePack), in bytes. Store larger
/// data elsewhere, and pass its location in the job.
inline constexpr std::size_t job_bytes_max = std::size_t{1} << 20U;

/// The greatest limit that a push may set, in bytes.
inline constexpr std::size_t job_bytes_limit = std::size_t{1} << 26U;

/// Settings of one push. The settings stay with the job until the job ends.
///
/// In a queue that Ruby processes share (`main`, `aux` on Redis), only `delay` and `run_at` are
/// possible; any other setting is `invalid`.
struct PushOptions {
    Duration delay{0};  ///< Time from now until the job falls due; see `due_after`.
    /// When the job falls due. `invalid` unless `is_due_time`, or together with a `delay`.
    std::optional<TimePoint> run_at{};

    /// After this many unsuccessful attempts the job is BURIED. 0: the number of attempts is
    /// unlimited.
    /// An attempt counts if its worker died. There is an exception: an embedded store does not
    /// count the first attempt of a job if the process dies during this attempt, unless
    /// `attempts_max` is 1, the job expires, or its key has the scope `until_started`.
    std::uint32_t attempts_max = 25;

    /// From -100 to 100; a greater priority runs earlier. Each level counts as one minute of
    /// waiting: a job goes before a job of lower priority that fell due up to this many minutes
    /// earlier, and no job waits for ever. Jobs of equal rank run in the order of their pushes.
    /// A job overtakes jobs that wait in the queue, but not jobs that a worker has already fetched
    /// (`WorkerPoolOptions::prefetch_max`).
    std::int32_t priority = 0;

    /// Time limit for one attempt; see `WorkerPool`. 0: no limit.
    Duration timeout{0};

    /// How long after its due time the job may begin. If the first attempt has not begun by then,
    /// the job is dropped, and counted in `jobs.expired`. This includes jobs that still wait for
    /// their group or for the jobs in `after`. 0: the job never expires.
    Duration expires{0};

    /// The jobs that this job excludes. By default, jobs with equal name and arguments.
    Unique unique{};

    /// Data for middleware and tools, for example a trace context. At most `job_metadata_max`
    /// entries, of `job_metadata_bytes_max` bytes together.
    JobMetadata metadata{};

    /// The ordering group of the job, for example "account:42". Jobs of a queue with an equal group
    /// run in the order in which they became READY, at most `concurrency` of them at once. A job
    /// becomes READY with its push or, if it is due later, with the first acquisition after its due
    /// time.
    /// A job that fails or is snoozed keeps its place, and the jobs behind it wait. A job that is
    /// BURIED, done, deleted or cancelled lets the next job in. A job that is not due yet blocks no
    /// job. The groups of a queue take turns, and a long group does not delay the rest.
    /// At most `job_group_max` bytes of UTF-8 without NUL. Empty: no group.
    std::string group{};

    /// How many jobs of its group may be under way at once, from 1 to `group_concurrency_max`. With
    /// 1, the jobs run strictly one after another. The job that joined last sets the value for the
    /// whole group.
    std::uint32_t concurrency = 1;

    /// The batch of the job, from `JobBatches::create`. The batch counts the job, and how the job
    /// ends. A push that is a duplicate joins no batch. A closed batch takes jobs only while a job
    /// of the batch waits or runs, for example the job whose handler pushes. Otherwise, and for an
    /// unknown batch, the push is `invalid`. 0: no batch.
    JobBatchId batch = 0;

    /// Ids of jobs of the same queue that must be done before this job, at most `job_after_max`.
    /// Until then the job is SCHEDULED, whatever its due time is. If the queue has no job with an
    /// id, the id counts as done, even if a job of another queue has it. An id that no job was
    /// given yet is `invalid`, and so is a job that `job_dependents_max` jobs wait for already.
    ///
    /// A BURIED job is still waited for, because a kick may make it succeed. If a job is deleted,
    /// cancelled, expires, or is dropped from the BURIED jobs, then each job that waits for it is
    /// BURIED, with an error that states the cause. After a kick, a job BURIED in this way waits
    /// for no job.
    ///
    /// With `after`, a push must keep a duplicate (`OnDuplicate::keep`), and must not be a
    /// follow-up of a job (`FollowUps`); else it is `invalid`.
    std::vector<JobId> after{};

    /// Identifies this push, in order to repeat it safely, later or from another process. While the
    /// key is kept, a push with this key into this queue changes nothing and returns what the first
    /// push returned, even if the job is gone. `invalid` if the repeated push differs from the
    /// first. A push that was refused keeps no key. At most `idempotency_key_max` bytes. Empty: no
    /// key. Follow-ups of a job (`FollowUps`) and jobs of `aux` cannot have a key.
    ///
    /// In `JobQueue::push_many`, the key of each job is this text and the index of the job in
    /// brackets, for example `order:42[0]`; so is the key of a job in an array over HTTP. A
    /// repetition of the call, or of its first jobs, therefore adds nothing. In
    /// `JobQueue::push_each`, a job with the key of an earlier job of the call is `invalid`.
    std::string idempotency_key{};

    /// How long the key is kept after the push: positive, at most `idempotency_time_max`. Without a
    /// key, any time but the default is `invalid`.
    Duration idempotency_time = idempotency_time_default;

    /// Limit for the encoded job, in bytes; a larger job is `invalid`. Must be at most
    /// `job_bytes_limit`, else every push is `invalid`.
    /// The follow-ups of a job (`FollowUps`) have a limit for all pushes and events together as
    /// well.
    std::size_t bytes_max = job_bytes_max;
};

/// A job with its own settings.
struct JobPush {
    Job job;
    PushOptions options{};
};

}  // namespace routemaster
