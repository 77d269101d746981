/// @file
/// Steps of the life of a job: it is pushed, acquired under a lease, and settled.

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

/// Puts a job into a queue. READY when `run_at` is not after `now`, else SCHEDULED.
/// Without a key, an equal job without one that is there already, be it BURIED, stays as it is.
/// With a key, the job that has it excludes others as its own scope says.
/// When `on_duplicate` says so and that job is SCHEDULED or READY, it takes over job, options and
/// time; it keeps its id, its errors, what it waits for, and its places, in the queue and in its
/// ordering group, when it is READY and stays so with the same priority, group and concurrency; its
/// attempts begin anew.
/// With a `group`, the job joins that group at its end when it is READY for the first time, be it
/// with its push or the first acquisition after it fell due. It keeps its place, however it is put
/// back, until it is gone, BURIED or replaced. Only the first `concurrency` of a group may be
/// acquired, as many as the last of them asks for; those that a worker has already go on.
/// A job that is to be done `after` others is SCHEDULED, whatever `run_at` says, until all of them
/// have succeeded; it then runs at `run_at`, or as if it fell due at that moment. Those that the
/// queue does not have count as done. When one of them goes in any other way, which a BURIED one
/// has not yet, the job is BURIED with an error that names it, and waits for none any more.
/// With a `batch` the job joins that, unless it is a duplicate. One that takes over another job
/// takes over its place in the batch as well, if that is the same; else the other leaves its batch,
/// and counts as cancelled there. `invalid` when there is no such batch, or none of its jobs waits
/// or runs and it is closed. A repetition by an idempotency key answers as the first did; without
/// one, `duplicate` or `replaced`, for as long as the job excludes others.
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
    /// Encoded. Not empty, and not beginning with the byte 0xc1, as no MessagePack does, else
    /// `invalid`.
    std::string job;
    TimePoint run_at;
    JobOptions options{};  ///< Only the defaults in a queue of Ruby Routemaster, else `invalid`.
    OnDuplicate on_duplicate = OnDuplicate::keep;  ///< Without a key only `keep`, else `invalid`.
    /// Jobs of the same queue, at most `job_after_max`, none of them 0 or from 2^53 on, with
    /// `OnDuplicate::keep` alone, and in no queue of Ruby Routemaster: else `invalid`. So it is,
    /// unless the push is a duplicate, when one of them is greater than the last id that was given,
    /// or when `job_dependents_max` jobs wait for one of them already.
    std::vector<JobId> after{};
    /// None in a queue of Ruby Routemaster, nor in a step that is part of another: else `invalid`.
    IdempotencyKey idempotency_key{};
};

/// What `AcquireJobs` got.
struct Acquired {
    std::vector<Lease> leases;
    std::vector<std::uint64_t> held{};  ///< Fences of leases that it asked for, and got before.
    /// When the next scheduled job of the queue falls due, `never` when none waits. A job that is
    /// READY now and was left because of `limit` or its size makes it `now`. Of a paused queue it
    /// is `never`.
    TimePoint next_due = never;
    /// Why the first of the new leases' jobs was not under way before, if `explain` asked for that;
    /// else empty. Its queue is counted as it was before any job of it was leased.
    std::vector<JobExplanation> explained{};
    friend bool operator==(const Acquired&, const Acquired&) = default;
};

/// Jobs that one `AcquireJobs` drops or buries at most: `job_slice_bytes_max` of them, or one.
inline constexpr std::uint32_t ended_at_acquisition_max = 1'000;

/// Promotes what is due, then leases READY jobs to a worker: they become PENDING. First come those
/// that have been READY longest; but a job with a priority has its place by when it fell due, less
/// `priority_step` for each level of it, and of equals one without a priority goes first.
/// Also counts as a heartbeat of the worker. A paused queue (`PauseQueue`) gives no new ones.
/// Except in queues of Ruby Routemaster, this counts an attempt of each job, durably before the
/// reply: so a job that kills its process each time is leased `attempts_max` times. But on an
/// embedded store the first attempt, where no process before can have begun one, is written when it
/// ends, unless it is the only one or the job expires: it is not counted if it kills that process.
/// A job whose attempts are used up is BURIED instead, and one that has expired before its first
/// attempt is dropped, counted in `jobs.expired`. A job two of whose attempts have
/// `unreported_error` perhaps ends its workers: the workers of a process have one of these at a
/// time, and the others are put off.
/// New leases are of `job_slice_bytes_max` together at most. Of delivery jobs a worker gets those
/// whose `destinations` it names, and those of subscribers that are gone. Where more of them are
/// READY than `limit`, each gets its share, and what is left over the first.
/// When the reply is lost, the worker gets the same leases with its next acquisition, before any
/// new ones, if it says which it knows; else they stay until it is scrubbed or retires.
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
    /// The greatest fence that the worker knows, 0 before the first. Leases beyond it are returned
    /// again, even more than `limit`; those up to `newest` as `held`. By default none is.
    std::uint64_t known = UINT64_MAX;
    /// The newest fence that the worker ever got, less than 2^53, else `invalid`: new leases have
    /// greater ones. A store that lost its newest data, as a restarted Redis server may, would
    /// otherwise give it a fence again that a client still takes for that of another job.
    std::uint64_t newest = 0;
    /// Where the worker can deliver to, each once: "" stands for all URLs, and any other text for
    /// the callback `local:` with this name. Absent: to URLs. Read for `delivery_queue` alone.
    std::optional<std::vector<std::string>> destinations{};
    /// Whether `Acquired::explained` is wanted. Not read for queues of Ruby Routemaster.
    bool explain = false;
};

/// Forgets a job that was done. Its key excludes others until its time is over, if it has one, and
/// jobs that wait for it wait for it no more. A repetition answers `lease_lost`.
struct AckJob {
    using Reply = Settlement;
    static constexpr StepTraits traits{.name = "ack_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_queue(lease.queue); }

    Lease lease;
};

/// Ends an attempt without a result, which counts: the job runs again at `run_at`, at its place in
/// the order of its ordering group. If it was the last attempt, the job is BURIED with
/// `unreported_error` instead, which answers `buried`. A repetition answers `lease_lost`.
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

/// The same, but the attempt does not count: for a worker that stops, and for a handler that wants
/// to wait. A repetition answers `lease_lost`.
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

/// Ends an attempt that failed. The job keeps the error, and the last `job_errors_max` in all.
/// It runs again at `run_at`; or it is BURIED, which answers `buried`, when `bury` says so, when
/// this was the last of its `attempts_max`, or when it has been failing for `time_max`. Of more
/// than `buried_max` BURIED jobs of a queue the one that was buried first is dropped, counted in
/// `jobs.forgotten`. Jobs that waited for one that went are BURIED beyond that bound, and each
/// burial drops two until it holds again.
/// Jobs of Ruby Routemaster's queues cannot fail: `invalid`. A repetition answers `lease_lost`.
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
    /// How long it may go on failing, since the first of its failures that had such a limit. A
    /// kick, or a push that takes its place, begins anew. 0: for ever. Negative: `invalid`.
    Duration time_max{0};
};

/// The steps of the life of a job.
using JobSteps = StepList<PushJob, AcquireJobs, AckJob, NackJob, ReleaseJob, FailJob>;

}  // namespace routemaster
