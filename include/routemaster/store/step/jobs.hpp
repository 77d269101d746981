/// @file
/// Steps for the life cycle of a job: push, acquire under a lease, settle.

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
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Adds a job to a queue: READY if `run_at` is not after `now`, else SCHEDULED.
///
/// **Duplicates.** Without a key, an equal job without a key, in any state, excludes the push,
/// which then changes nothing. With a key, the job that owns the key excludes the push, during its
/// key scope. If `on_duplicate` is not `keep`, and the owner is SCHEDULED or READY, the owner gets
/// the pushed job, options and time. The owner keeps its id, errors and `after`; its attempts count
/// from 0. If it stays READY with equal priority, group and concurrency, it keeps its positions.
///
/// **Group.** The job joins the end of its group (`PushOptions::group`) when it first becomes
/// READY, and stays until it is removed, BURIED or replaced. Only the first `concurrency` jobs of a
/// group (the value of its newest job) may be acquired; this does not affect PENDING jobs.
///
/// **After, batch.** See `PushOptions::after` and `PushOptions::batch`. The job is SCHEDULED,
/// whatever `run_at` is, until all jobs in `after` are done; then it is due at `run_at`, or at
/// once. A job that is replaced by a push with another batch counts as cancelled in its old batch.
///
/// A repetition with an idempotency key replies as the first push did. Without such a key, a
/// repetition replies `duplicate` or `replaced`, while the job excludes it.
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

    std::string queue;  ///< See `is_queue_name`, else `invalid`, as in all steps.
    /// Encoded. `invalid` if empty, or if the first byte is 0xc1, which MessagePack never uses.
    std::string job;
    TimePoint run_at;
    JobOptions options{};  ///< In a queue of Ruby Routemaster: defaults, else `invalid`.
    OnDuplicate on_duplicate = OnDuplicate::keep;  ///< Without a key only `keep`, else `invalid`.
    /// Ids of at most `job_after_max` jobs of this queue, from 1 to 2^53 - 1, only with
    /// `OnDuplicate::keep`, and not in a queue of Ruby Routemaster; else `invalid`. Unless the push
    /// is a duplicate, also `invalid` if an id was not assigned yet, or if the job with the id
    /// already has `job_dependents_max` dependent jobs.
    std::vector<JobId> after{};
    /// Empty in a queue of Ruby Routemaster, and in a step inside another step; else `invalid`.
    IdempotencyKey idempotency_key{};
};

/// The reply to `AcquireJobs`.
struct Acquired {
    std::vector<Lease> leases;
    /// Fences of the worker's leases above `AcquireJobs::known`, up to `AcquireJobs::newest`.
    std::vector<std::uint64_t> held{};
    /// When the next SCHEDULED job becomes due. `now` if a READY job was not leased because of
    /// `limit` or its size. `never` if no job waits, or if the queue is paused.
    TimePoint next_due = never;
    /// Explains why the job of the first new lease was not leased earlier, if `explain` is set;
    /// else empty. Describes the queue as it was before this step leased any of its jobs.
    std::vector<JobExplanation> explained{};
    friend bool operator==(const Acquired&, const Acquired&) = default;
};

/// Maximum number of jobs that one `AcquireJobs` drops or buries; see `job_slice_bytes_max`, too.
inline constexpr std::uint32_t ended_at_acquisition_max = 1'000;

/// Promotes due jobs, then leases READY jobs to a worker: they become PENDING. Jobs are leased in
/// the order in which they became READY. But a job with a priority is ordered by its due time minus
/// `priority_step` per level, and after a job without priority at the same time. The step also
/// counts as a heartbeat of the worker. No job of a paused queue (`PauseQueue`) is leased.
///
/// **Attempts.** Except in queues of Ruby Routemaster, each new lease counts as an attempt, durably
/// before the reply. Thus a job that always crashes its process is leased only `attempts_max`
/// times. Exception: an embedded store writes a job's first attempt only when it ends, so a crash
/// loses it, unless an earlier process may have begun an attempt, `attempts_max` is 1, the job
/// expires, or the attempt releases its key. A job without attempts left is BURIED; a job that
/// expired before its first attempt is dropped, and counted in `jobs.expired`. A job with
/// `isolated_deaths` attempts of `unreported_error` may crash its worker: a process gets one such
/// job at a time, and further such jobs are postponed.
///
/// **Size.** New leases have at most `job_slice_bytes_max` bytes together. Of delivery jobs, a
/// worker gets only jobs for its `destinations`, and jobs of removed subscribers. If more than
/// `limit` are READY, each destination gets an equal share, and the first the remainder.
///
/// **Lost replies.** If `known` is set, the next acquisition returns the leases again, before new
/// leases. Otherwise these leases stay until the worker retires or is scrubbed.
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
    /// The greatest fence that the worker has received, 0 before the first. Leases with greater
    /// fences are returned again, even beyond `limit`. For fences up to `newest`, only the fence is
    /// returned, in `held`. By default no lease is returned again.
    std::uint64_t known = UINT64_MAX;
    /// The greatest fence that the worker has ever received, less than 2^53, else `invalid`. New
    /// leases get greater fences. A restarted Redis server that lost data could else reuse a fence.
    std::uint64_t newest = 0;
    /// Destinations that the worker can reach, without duplicates: "" means all URLs, any other
    /// text the callback `local:` with this name. Absent: all URLs. Used only for `delivery_queue`.
    std::optional<std::vector<std::string>> destinations{};
    /// Whether to fill `Acquired::explained`. Ignored for queues of Ruby Routemaster.
    bool explain = false;
};

/// Removes a completed job and releases its dependents. If the job's key has a time, it excludes
/// further jobs until this time is over. A repetition replies `lease_lost`.
struct AckJob {
    using Reply = Settlement;
    static constexpr StepTraits traits{.name = "ack_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_queue(lease.queue); }

    Lease lease;
};

/// Ends an attempt without a result. The attempt counts. The job runs again at `run_at`, at its
/// position in its ordering group. After the last attempt, the job is BURIED with
/// `unreported_error`, and the reply is `buried`. A repetition replies `lease_lost`.
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

/// Ends an attempt without a result. The attempt does not count. For a worker that stops, and for a
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

/// Ends an attempt that failed. The error is added to the job, which stores its last
/// `job_errors_max` errors. The job runs again at `run_at`, or is BURIED, with the reply `buried`:
/// if `bury` is set, after the last of its `attempts_max`, or if it has been failing for
/// `time_max`. Beyond `buried_max` BURIED jobs of a queue, the job that was BURIED first is
/// dropped, and counted in `jobs.forgotten`. Its dependents are BURIED even beyond this limit; each
/// later burial drops two jobs until the limit is met. In a queue of Ruby Routemaster: `invalid`. A
/// repetition replies `lease_lost`.
struct FailJob {
    using Reply = Settlement;
    static constexpr StepTraits traits{.name = "fail_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    Lease lease;
    std::string error;  ///< Truncated to `job_error_max` bytes.
    TimePoint run_at;   ///< Used if the job is not BURIED.
    bool bury = false;  ///< No retry can succeed.
    /// Maximum time for retries, from the first failure with such a limit. A kick, or a
    /// replacement, resets the time. 0: unlimited. Negative: `invalid`.
    Duration time_max{0};
};

/// The list of the steps for the life cycle of a job.
using JobSteps = StepList<PushJob, AcquireJobs, AckJob, NackJob, ReleaseJob, FailJob>;

}  // namespace routemaster
