/// @file
/// Steps about workers: that they live, and what becomes of their jobs when they do not.

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

/// What a worker is to know.
struct HeartbeatReply {
    /// The fences of its leases whose jobs were cancelled, in their order.
    std::vector<std::uint64_t> cancelled{};

    friend bool operator==(const HeartbeatReply&, const HeartbeatReply&) = default;
};

/// Says that a worker is alive, and what it serves. Repeating it is harmless.
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
    /// Null: as the worker said before. Kept until the worker retires or is scrubbed; on no disk.
    std::shared_ptr<const WorkerProfile> profile{};
    std::uint32_t busy = 0;        ///< Of its capacity. Read with a profile, as is the next.
    TimePoint busy_since = never;  ///< When the oldest job under way began; `never` for none.
};

/// Jobs that one `RetireWorker` or `ScrubWorkers` releases at most; and it releases no more than
/// `job_slice_bytes_max` of jobs and the errors that they keep, but always one job.
inline constexpr std::uint64_t released_max = 1'000;

/// A job that was BURIED.
struct BuriedJob {
    std::string queue;
    JobId id = 0;

    friend bool operator==(const BuriedJob&, const BuriedJob&) = default;
};

/// What became of the jobs of workers that ended.
struct ReleasedJobs {
    std::uint64_t jobs = 0;  ///< How many were released.
    bool more = false;       ///< There is more to do: do it again.
    /// Jobs that were BURIED, as their last attempt ended with its worker.
    std::vector<BuriedJob> buried{};

    friend bool operator==(const ReleasedJobs&, const ReleasedJobs&) = default;
};

/// Releases at once the jobs that a worker has leased, oldest first, and forgets the worker: its
/// clean end. As with `ReleaseJob`, their attempts do not count.
/// When it replies that there is more to do, the worker is still known: repeat it until there is
/// not. Repeating it then answers 0 jobs.
struct RetireWorker {
    using Reply = ReleasedJobs;
    static constexpr StepTraits traits{.name = "retire_worker",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    Uid worker;
};

/// Takes every worker for dead that has not been heard of for `silence` or longer, releases what
/// it had leased in any queue, as READY, and forgets it. The attempts that died with it count, and
/// leave `unreported_error`; a job whose last one it was is BURIED. From the second such end in a
/// row on (`isolated_deaths`) a job waits before it is READY again: a second, then twice as long
/// each time, at most a minute. The same becomes of jobs of a file whose attempts died with the
/// process that had the file.
/// When nobody did this for half of `silence` or longer, the store was perhaps away for all: who
/// was silent then counts as heard of now, once.
/// Each job that was released is counted in `jobs.scrubbed`, and each worker that was forgotten,
/// which is once its last job was released, in `workers.scrubbed`. Repeat it for as long as it
/// replies that there is more to do; repeating it is harmless.
struct ScrubWorkers {
    using Reply = ReleasedJobs;
    static constexpr StepTraits traits{.name = "scrub_workers",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    Duration silence;
};

/// Workers that one `ListWorkers` lists at most.
inline constexpr std::uint32_t workers_listed_max = 100;

/// Lists the workers that were heard of, with the jobs that they have, by the texts of their ids. A
/// page costs what it lists, however many workers and leases there are.
struct ListWorkers {
    using Reply = std::vector<ListedWorker>;
    static constexpr StepTraits traits{.name = "list_workers",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    Page page{.after = {}, .limit = workers_listed_max};  ///< No more than that, else `invalid`.
};

/// Tells which live workers serve a queue, and have a handler of a name. Workers beyond
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

/// Workers of one queue whose profiles one step reads at most.
inline constexpr std::uint32_t profiles_read_max = 100;

/// The steps about workers.
using WorkerSteps = StepList<Heartbeat, RetireWorker, ScrubWorkers, ListWorkers, FindQueueWorkers>;

}  // namespace routemaster
