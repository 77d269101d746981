/// @file
/// Steps in the life of a job: a job is pushed, acquired under a lease, and settled.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/idempotency_key.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_explanation.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Puts a job into a queue: READY if `run_at` is not after `now`, else SCHEDULED.
///
/// **Duplicates.** Without a key, an equal job without a key, in any state, excludes the push,
/// which then changes nothing. With a key, the owner of the key excludes the push, by the owner's
/// key scope. If `on_duplicate` is not `keep`, and the owner is SCHEDULED or READY, the owner takes
/// over job, options and time. It keeps its id, errors and `after`; its attempts begin again. If it
/// stays READY with unchanged priority, group and concurrency, it keeps its places.
///
/// **Group.** The job joins the end of its group (`PushOptions::group`) when it is first READY, and
/// keeps its place until it is gone, BURIED or replaced. Only the first `concurrency` jobs of a
/// group (the value of its newest job) may be acquired; PENDING jobs go on.
///
/// **After, batch.** See `PushOptions::after` and `PushOptions::batch`. The job is SCHEDULED,
/// whatever `run_at` is, until all jobs in `after` are done; then it runs at `run_at`, or at once.
/// A job that is replaced by a push with another batch counts as cancelled in its old batch.
///
/// A repetition with an idempotency key replies as the first push did. A repetition without such a
/// key replies `duplicate` or `replaced`, for as long as the job excludes it.
struct PushJob {
    using Reply = Pushed;
    static constexpr StepTraits traits{.name = "push_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::payload};
    [[nodiscard]] Result<void> check() const;
    [[nodiscard]] std::size_t payload_bytes() const noexcept {
        return job.size() + bytes_of(options.metadata) + options.group.size() +
               after.size() * sizeof(JobId) + idempotency_key.text.size();
    }

    std::string queue;  ///< See `is_queue_name`, else `invalid`; so in all steps.
    /// Encoded. `invalid` if empty, or if the first byte is 0xc1, which MessagePack never uses.
    std::string job;
    TimePoint run_at;
    JobOptions options{};  ///< In a queue of Ruby Routemaster: defaults, else `invalid`.
    OnDuplicate on_duplicate = OnDuplicate::keep;  ///< Without a key only `keep`, else `invalid`.
    /// Ids of at most `job_after_max` jobs of this queue, from 1 to 2^53 - 1, only with
    /// `OnDuplicate::keep`, and not in a queue of Ruby Routemaster; else `invalid`. Unless the push
    /// is a duplicate, also `invalid` if an id has not been given yet, or if `job_dependents_max`
    /// jobs wait for the job already.
    std::vector<JobId> after{};
    /// Empty in a queue of Ruby Routemaster, and in a step that is part of another; else `invalid`.
    IdempotencyKey idempotency_key{};
};

/// The reply to `AcquireJobs`.
struct Acquired {
    std::vector<Lease> leases;
    /// Fences of the worker's leases beyond `AcquireJobs::known`, up to `AcquireJobs::newest`.
    std::vector<std::uint64_t> held{};
    /// When the next SCHEDULED job falls due. `now` if a READY job was left because of `limit` or
    /// its size. `never` if no job waits, or if the queue is paused.
    TimePoint next_due = never;
    /// Why the job of the first new lease was not under way before, if `explain` is set; else
    /// empty. Counts the queue as it was before the step leased any job of the queue.
    std::vector<JobExplanation> explained{};
    friend bool operator==(const Acquired&, const Acquired&) = default;
};

/// How many jobs one `AcquireJobs` drops or buries, at most; see also `job_slice_bytes_max`.
inline constexpr std::uint32_t ended_at_acquisition_max = 1'000;

/// Promotes due jobs, then leases READY jobs to a worker: they become PENDING. The job that became
/// READY first goes first; but a job with a priority ranks by its due time minus `priority_step`
/// per level, behind a job without a priority of equal rank. Also counts as a heartbeat of the
/// worker. A paused queue (`PauseQueue`) gives no new leases.
///
/// **Attempts.** Except in queues of Ruby Routemaster, each new lease counts as an attempt, durably
/// before the reply: a job that always crashes its process is leased `attempts_max` times.
/// Exception: an embedded store writes a job's first attempt only at its end, and a crash then
/// loses it, unless an earlier process may have begun one, `attempts_max` is 1, the job expires, or
/// the attempt frees its key.
/// A job without attempts left is BURIED; a job that expired before its first attempt is dropped,
/// and counted in `jobs.expired`. A job with `isolated_deaths` attempts of `unreported_error` may
/// crash its worker: a process gets only one of these jobs at a time, the rest is put off.
///
/// **Size.** New leases have `job_slice_bytes_max` together at most. Of delivery jobs, a worker
/// gets those with one of its `destinations`, and those of removed subscribers; if more than
/// `limit` are READY, each destination gets an equal share, and the first gets the remainder.
///
/// **Lost replies.** The next acquisition returns the leases again, before new ones, if `known` is
/// set; else the leases stay until the worker retires or is scrubbed.
struct AcquireJobs {
    using Reply = Acquired;
    static constexpr StepTraits traits{.name = "acquire_jobs",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string queue;
    Uid worker;
    std::uint32_t limit = 1;  ///< At least 1, else `invalid`.
    /// The greatest fence that the worker knows, 0 before the first. Leases with greater fences are
    /// returned again, even more than `limit`; up to `newest`, only their fences, in `held`. By
    /// default no lease is returned again.
    std::uint64_t known = UINT64_MAX;
    /// The newest fence that the worker ever got, less than 2^53, else `invalid`: new leases get
    /// greater fences. Otherwise a restarted Redis server that lost data could repeat a fence.
    std::uint64_t newest = 0;
    /// Destinations that the worker can reach, each once: "" means all URLs, any other text the
    /// callback `local:` with this name. Absent: all URLs. Read for `delivery_queue` only.
    std::optional<std::vector<std::string>> destinations{};
    /// Whether to fill `Acquired::explained`. Not read for queues of Ruby Routemaster.
    bool explain = false;
};

/// Removes a completed job and releases its dependents. The job's key excludes further jobs until
/// its time is over, if it has a time. A repetition replies `lease_lost`.
struct AckJob {
    using Reply = Settlement;
    static constexpr StepTraits traits{.name = "ack_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_queue(lease.queue); }

    Lease lease;
};

/// Ends an attempt without a result. The attempt counts: the job runs again at `run_at`, at its
/// place in its ordering group. After the last attempt, the job is BURIED with `unreported_error`,
/// and the reply is `buried`. A repetition replies `lease_lost`.
struct NackJob {
    using Reply = Settlement;
    static constexpr StepTraits traits{.name = "nack_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_queue(lease.queue); }

    Lease lease;
    TimePoint run_at;
};

/// Ends an attempt without a result. The attempt does not count: for a worker that stops, and for a
/// handler that snoozes its job. A repetition replies `lease_lost`.
struct ReleaseJob {
    using Reply = Settlement;
    static constexpr StepTraits traits{.name = "release_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_queue(lease.queue); }

    Lease lease;
    TimePoint run_at;
};

/// Ends an attempt that failed. The job keeps the error, and the last `job_errors_max` in all. It
/// runs again at `run_at`, or is BURIED, with the reply `buried`: if `bury` is set, at the last of
/// its `attempts_max`, or if it has been failing for `time_max`. Of more than `buried_max` BURIED
/// jobs of a queue, the first is dropped, and counted in `jobs.forgotten`. Dependents of a dropped
/// job are BURIED beyond this bound; each burial then drops two jobs until the bound is met.
/// In a queue of Ruby Routemaster: `invalid`. A repetition replies `lease_lost`.
struct FailJob {
    using Reply = Settlement;
    static constexpr StepTraits traits{.name = "fail_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    Lease lease;
    std::string error;  ///< The first `job_error_max` bytes of it are kept.
    TimePoint run_at;   ///< Read when the job is not BURIED.
    bool bury = false;  ///< No further attempt will succeed.
    /// How long the job may go on failing, from its first failure with such a limit. A kick, or a
    /// replacement, starts the time again. 0: no limit. Negative: `invalid`.
    Duration time_max{0};
};

/// The steps of the life of a job.
using JobSteps = StepList<PushJob, AcquireJobs, AckJob, NackJob, ReleaseJob, FailJob>;

}  // namespace routemaster
