/// @file
/// Steps for workers: heartbeats, retirement, removal of dead workers, and lists of workers.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/listed_worker.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster {

/// The reply to `Heartbeat`.
struct HeartbeatReply {
    /// Fences of the worker's leases whose jobs were cancelled, in ascending order.
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
    /// Null: unchanged. The profile is retained until the worker retires or is scrubbed, in memory
    /// only.
    std::shared_ptr<const WorkerProfile> profile{};
    std::uint32_t busy = 0;  ///< Slots in use. This and the next are used only with a profile.
    TimePoint busy_since = never;  ///< When the oldest running job began; `never` if none runs.
};

/// Maximum number of jobs that one `RetireWorker` or `ScrubWorkers` releases. The jobs and their
/// errors also have at most `job_slice_bytes_max` bytes, but at least one job is released.
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
    bool more = false;       ///< Whether jobs remain: the caller must repeat the step.
    /// Jobs that were BURIED, because the worker crashed during their last attempt.
    std::vector<BuriedJob> buried{};

    friend bool operator==(const ReleasedJobs&, const ReleasedJobs&) = default;
};

/// Removes a worker that stops in an orderly way: releases the jobs that it has leased, the
/// oldest first. As with `ReleaseJob`, the attempts do not count. While the reply has `more`,
/// the worker still exists, and the step must be repeated. A repetition after the end replies 0
/// jobs.
struct RetireWorker {
    using Reply = ReleasedJobs;
    static constexpr StepTraits traits{.name = "retire_worker",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    Uid worker;
};

/// Declares each worker dead whose last heartbeat is `silence` or longer ago. Makes its jobs in all
/// queues READY, and removes the worker. The attempts count, with the error `unreported_error`;
/// after its last attempt a job is BURIED. After `isolated_deaths` such attempts, a job is delayed
/// before it is READY again: a second, then twice as long each time, at most a minute. When an
/// embedded store is opened, jobs of the crashed process are treated in the same way.
///
/// **Gaps.** If the last scrub is half of `silence` or longer ago, the store may have been
/// unavailable to all workers. Then workers get one grace period: each counts as if its heartbeat
/// had just arrived, but only once. Each released job is counted in `jobs.scrubbed`. Each removed
/// worker is counted in `workers.scrubbed`, after its last job was released. Repeat the step while
/// the reply has `more`; repeating it is harmless.
struct ScrubWorkers {
    using Reply = ReleasedJobs;
    static constexpr StepTraits traits{.name = "scrub_workers",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    Duration silence;
};

/// Maximum number of workers in a reply of `ListWorkers`.
inline constexpr std::uint32_t workers_listed_max = 100;

/// Lists the live workers with their leased jobs, sorted by the text of their ids. The cost is
/// proportional to the length of the page, not to the number of workers or leases.
struct ListWorkers {
    using Reply = std::vector<ListedWorker>;
    static constexpr StepTraits traits{.name = "list_workers",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    Page page{.after = {}, .limit = workers_listed_max};  ///< A greater limit is `invalid`.
};

/// Counts the live workers that serve a queue and have a handler with this name. Workers beyond the
/// first `profiles_read_max` are assumed to have the handler and free slots.
struct FindQueueWorkers {
    using Reply = QueueWorkers;
    static constexpr StepTraits traits{.name = "find_queue_workers",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string queue;      ///< Any queue, or `recurring_watch` for schedulers; else `invalid`.
    std::string handler{};  ///< As in `WorkerProfile::handlers`; empty: any handler.
};

/// Maximum number of worker profiles of a queue that one step reads.
inline constexpr std::uint32_t profiles_read_max = 100;

/// The list of the steps for workers.
using WorkerSteps = StepList<Heartbeat, RetireWorker, ScrubWorkers, ListWorkers, FindQueueWorkers>;

}  // namespace routemaster
