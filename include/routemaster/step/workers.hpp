/// @file
/// Steps about workers: heartbeats, the end of workers, and lists of workers.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/listed_worker.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster {

/// The reply to `Heartbeat`.
struct HeartbeatReply {
    /// The fences of the worker's leases whose jobs were cancelled, in order.
    std::vector<std::uint64_t> cancelled{};

    friend bool operator==(const HeartbeatReply&, const HeartbeatReply&) = default;
};

/// Reports that a worker is alive, and which queues and handlers it serves. Repeating the step is
/// harmless.
struct Heartbeat {
    using Reply = HeartbeatReply;
    static constexpr StepTraits traits{.name = "heartbeat",
                                       .repeatable = true,
                                       .changes = Changes::liveness,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const {
        return profile == nullptr ? Result<void>{} : profile->check();
    }

    Uid worker;
    /// Null: unchanged. The profile is kept until the worker retires or is scrubbed, in memory
    /// only.
    std::shared_ptr<const WorkerProfile> profile{};
    std::uint32_t busy = 0;        ///< Slots in use. Read only with a profile, like the next.
    TimePoint busy_since = never;  ///< When the oldest job under way began; `never` if none.
};

/// How many jobs one `RetireWorker` or `ScrubWorkers` releases, at most. Also bounded by
/// `job_slice_bytes_max` for the jobs with their errors, but at least one job is released.
inline constexpr std::uint64_t released_max = 1'000;

/// A job that was BURIED.
struct BuriedJob {
    std::string queue;
    JobId id = 0;

    friend bool operator==(const BuriedJob&, const BuriedJob&) = default;
};

/// The reply to `RetireWorker` and `ScrubWorkers`.
struct ReleasedJobs {
    std::uint64_t jobs = 0;  ///< How many jobs were released.
    bool more = false;       ///< Whether jobs are left: repeat the step.
    /// Jobs that were BURIED, because their last attempt died with its worker.
    std::vector<BuriedJob> buried{};

    friend bool operator==(const ReleasedJobs&, const ReleasedJobs&) = default;
};

/// Releases at once the jobs that a worker has leased, the oldest first, and forgets the worker:
/// its clean end. As with `ReleaseJob`, the attempts do not count.
/// While the reply has `more`, the worker is still known: repeat the step. A repetition after the
/// end replies 0 jobs.
struct RetireWorker {
    using Reply = ReleasedJobs;
    static constexpr StepTraits traits{.name = "retire_worker",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    Uid worker;
};

/// Declares each worker dead whose last heartbeat is `silence` or longer ago. Releases its leases
/// in all queues as READY, and forgets the worker. The attempts count, and leave
/// `unreported_error`; after its last attempt a job is BURIED. After `isolated_deaths` deaths of
/// attempts, a job waits before it is READY again: a second, then twice as long each time, at most
/// a minute. Jobs of an embedded store whose attempts died with the process that had the file open
/// are treated alike.
/// **Gaps.** If the last scrub is half of `silence` or longer ago, the store may have been
/// unavailable to all workers. Then silent workers count as heard of now, but only once.
/// Each released job is counted in `jobs.scrubbed`. Each forgotten worker is counted in
/// `workers.scrubbed`, after its last job was released. Repeat the step while the reply has `more`;
/// repeating is harmless.
struct ScrubWorkers {
    using Reply = ReleasedJobs;
    static constexpr StepTraits traits{.name = "scrub_workers",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    Duration silence;
};

/// How many workers one `ListWorkers` lists, at most.
inline constexpr std::uint32_t workers_listed_max = 100;

/// Lists the known workers with their leased jobs, in order of the text of their ids. A page costs
/// as much as the entries it lists, however many workers and leases exist.
struct ListWorkers {
    using Reply = std::vector<ListedWorker>;
    static constexpr StepTraits traits{.name = "list_workers",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    Page page{.after = {}, .limit = workers_listed_max};  ///< A greater limit is `invalid`.
};

/// Replies how many live workers serve a queue and have a handler with this name. Workers beyond
/// `profiles_read_max` count as workers with the handler and with free slots.
struct FindQueueWorkers {
    using Reply = QueueWorkers;
    static constexpr StepTraits traits{.name = "find_queue_workers",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string queue;      ///< Any queue, or `recurring_watch` for schedulers; else `invalid`.
    std::string handler{};  ///< As in `WorkerProfile::handlers`; empty: any.
};

/// How many profiles of workers of a queue one step reads, at most.
inline constexpr std::uint32_t profiles_read_max = 100;

/// The steps about workers.
using WorkerSteps = StepList<Heartbeat, RetireWorker, ScrubWorkers, ListWorkers, FindQueueWorkers>;

}  // namespace routemaster
