/// @file
/// Steps about jobs, their leases, and the workers that hold them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// What became of a push.
enum class PushOutcome {
    pushed,
    duplicate,  ///< An equal job is in the queue, in whatever state; nothing was changed.
};

/// Puts a job into a queue. READY when `run_at` is not after `now`, else SCHEDULED.
/// Repeating it answers `duplicate` for as long as the job exists.
struct PushJob {
    using Reply = PushOutcome;
    static constexpr StepTraits traits{.name = "push_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::payload};
    [[nodiscard]] Result<void> check() const {
        if (auto checked = check_queue(queue); !checked) return checked;
        return check_not_empty("job", job);
    }
    [[nodiscard]] std::size_t payload_bytes() const noexcept { return job.size(); }

    std::string queue;  ///< See `is_queue_name`, else `invalid`; so in all steps.
    std::string job;    ///< Encoded; its bytes are its identity. Not empty, else `invalid`.
    TimePoint run_at;
};

/// What `AcquireJobs` got.
struct Acquired {
    std::vector<Lease> leases;
    /// When the next scheduled job of the queue falls due, `never` when none waits. A job that is
    /// READY now and was left because of `limit` makes it `now`.
    TimePoint next_due = never;
    friend bool operator==(const Acquired&, const Acquired&) = default;
};

/// Promotes what is due, then gives the longest READY jobs to a worker: they become PENDING.
/// Also counts as a heartbeat of the worker. A worker may hold many jobs.
/// Of delivery jobs a worker gets those whose `destinations` it names, and those of subscribers
/// that are gone. Where more of them are READY than `limit`, each gets its share, and what is left
/// over the first.
/// When the reply is lost, the worker gets the same leases with its next acquisition, before any
/// new ones, if it says which it knows; else they stay until it is scrubbed or retires.
struct AcquireJobs {
    using Reply = Acquired;
    static constexpr StepTraits traits{.name = "acquire_jobs",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const {
        if (auto checked = check_queue(queue); !checked) return checked;
        return check_limit(limit);
    }

    std::string queue;
    Uid worker;
    std::uint32_t limit = 1;  ///< At least 1, else `invalid`.
    /// The greatest fence the worker was told of, 0 before the first. Leases beyond it are told
    /// again, even more than `limit`. By default none is.
    std::uint64_t known = UINT64_MAX;
    /// Where the worker can deliver to, each once: "" stands for all URLs, and any other text for
    /// the callback `local:` with this name. Absent: to URLs. Read for `delivery_queue` alone.
    std::optional<std::vector<std::string>> destinations{};
};

/// Forgets a job that was done.
/// Repeating an ack that succeeded answers `lease_lost`.
struct AckJob {
    using Reply = Settlement;
    static constexpr StepTraits traits{.name = "ack_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_queue(lease.queue); }

    Lease lease;
};

/// Gives a job back, to run again at `run_at`. It keeps its place in the order of its ordering
/// group. Repeating a nack that succeeded answers `lease_lost`.
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

/// Says that a worker is alive. Repeating it is harmless.
struct Heartbeat {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "heartbeat",
                                       .repeatable = true,
                                       .changes = Changes::liveness,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    Uid worker;
};

/// Jobs that one `RetireWorker` or `ScrubWorkers` gives back at most.
inline constexpr std::uint64_t released_max = 1'000;

/// Gives back at once what a worker holds, oldest first, and forgets the worker: its clean end.
/// Replies the number of jobs given back. When that is `released_max`, there may be more, and the
/// worker is still known: do it again. Repeating it answers 0 once nothing was left.
struct RetireWorker {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "retire_worker",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    Uid worker;
};

/// Takes every worker for dead that has not been heard of for `silence` or longer, gives back what
/// it held in any queue, as READY, and forgets it. Replies the number of jobs given back, each
/// counted in `jobs.scrubbed`, and each worker that was forgotten in `workers.scrubbed`. When that
/// is `released_max`, there may be more to do. Repeating it is harmless.
struct ScrubWorkers {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "scrub_workers",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    Duration silence;
};

/// Tells how many jobs a queue holds in which state.
struct CountJobs {
    using Reply = QueueStatus;
    static constexpr StepTraits traits{.name = "count_jobs",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_queue(queue); }

    std::string queue;
};

/// The steps about jobs and workers.
using JobSteps = StepList<PushJob, AcquireJobs, AckJob, NackJob, Heartbeat, RetireWorker,
                          ScrubWorkers, CountJobs>;

}  // namespace routemaster
