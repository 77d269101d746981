/// @file
/// `PushOptions`: what a push says of its job besides name and arguments; `JobPush`: both.

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

/// Bytes that a job takes at most unless its push says otherwise, its name and arguments encoded as
/// MessagePack. What is larger belongs elsewhere, and its place into the job.
inline constexpr std::size_t job_bytes_max = std::size_t{1} << 20U;

/// What a push may allow a job to take at most, in bytes.
inline constexpr std::size_t job_bytes_limit = std::size_t{1} << 26U;

/// Settings of one push. They stay with the job until it ends.
///
/// A queue that Ruby processes share (`main`, `aux` on Redis) has place for `delay` and `run_at`
/// alone; there any other setting is `invalid`.
struct PushOptions {
    Duration delay{0};                  ///< How long from now the job falls due; see `due_after`.
    std::optional<TimePoint> run_at{};  ///< Instead of `delay`; `is_due_time`, else `invalid`.

    /// After so many attempts that ended without success the job is BURIED; one during which its
    /// worker died is such an attempt; in a file not the first one of all, unless it is the only
    /// one or the job expires: that dies with the process, uncounted. 0: it never is.
    std::uint32_t attempts_max = 25;

    /// The greater, the earlier the job runs, from -100 to 100. Each level counts as one minute of
    /// waiting: a job goes before those of a lower priority that fell due up to so many minutes
    /// before it, and no job waits for ever. Equals run in the order of their pushes.
    /// It overtakes jobs that wait in the queue, but none that a worker has fetched already
    /// (`WorkerPoolOptions::prefetch_max`).
    std::int32_t priority = 0;

    /// How long one attempt may take; see `WorkerPool`. 0: as long as it likes.
    Duration timeout{0};

    /// How long after it fell due the job is worth beginning. One that nobody began by then is
    /// dropped, and counted in `jobs.expired`; so is one that still waited for others (`after`) or
    /// its group. 0: for ever.
    Duration expires{0};

    /// Which other jobs it excludes. By default those of equal name and arguments.
    Unique unique{};

    /// What travels with it for middleware and tools, a trace context for example. At most
    /// `job_metadata_max` entries, of `job_metadata_bytes_max` bytes together.
    JobMetadata metadata{};

    /// Its ordering group, "account:42" for example: jobs of a queue that name the same one run in
    /// the order in which they became READY (with their push, or, when they are due later, with
    /// the first acquisition after that), at most `concurrency` of them at once. One that fails,
    /// or is snoozed, keeps its place, and the others wait; one that is BURIED, done, deleted or
    /// cancelled lets the next one in. A job that is not due yet keeps none waiting. The groups of
    /// a queue take turns, so that a long one does not delay the others. At most `job_group_max`
    /// bytes of UTF-8 without NUL. Empty: none.
    std::string group{};

    /// How many jobs of its group may be under way at once, from 1 to `group_concurrency_max`: with
    /// 1 one follows the other. The one that joined last decides for all.
    std::uint32_t concurrency = 1;

    /// The batch that it joins, of `JobBatches::create`: it is counted there, and so is what
    /// becomes of it. A push that is a duplicate joins none. A batch that is closed takes jobs only
    /// while another of it waits or runs, as that does whose handler pushes; beyond that, and of an
    /// id that no batch has, the push is `invalid`. 0: none.
    JobBatchId batch = 0;

    /// Jobs of the same queue that must be done before it, by their ids: at most `job_after_max`.
    /// Until then it is SCHEDULED, whenever it falls due. An id that the queue does not have counts
    /// as that of a job that is done, though another queue has it; one that no job was given yet is
    /// `invalid`, and so is a job that `job_dependents_max` others wait for.
    ///
    /// A job that is BURIED is waited for, as a kick may yet make it succeed. When one is deleted
    /// or cancelled, expires, or is dropped from the BURIED ones, the job that waits for it is
    /// BURIED, with an error that says so; kicked, it waits for nothing any more.
    ///
    /// The push of a key must keep the old job (`OnDuplicate::keep`), and what follows from a job
    /// (`FollowUps`) waits for none: else `invalid`.
    std::vector<JobId> after{};

    /// Names this push, so that a caller may repeat it, later or from another process: while the
    /// key is kept, a push of the same key into the queue changes nothing and returns what the
    /// first returned, whatever became of the job. `invalid` when it asks for anything else than
    /// the first. A push that was refused keeps no key. At most `idempotency_key_max` bytes; empty:
    /// none. What follows from a job (`FollowUps`) has none, nor have jobs of `aux`.
    std::string idempotency_key{};

    /// How long the key is kept from the push on: positive, at most `idempotency_time_max`.
    Duration idempotency_time = idempotency_time_default;

    /// Bytes that the encoded job may take; a larger one is `invalid`. At most `job_bytes_limit`,
    /// else every push is.
    /// Of what follows from a job (`FollowUps`) all pushes and events together have a limit as
    /// well.
    std::size_t bytes_max = job_bytes_max;
};

/// A job with settings of its own.
struct JobPush {
    Job job;
    PushOptions options{};
};

}  // namespace routemaster
