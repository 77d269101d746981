/// @file
/// `ListedWorker`: a worker in a list of workers, with the jobs that the worker has leased.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster {

/// Maximum number of leased jobs in a list entry.
inline constexpr std::size_t worker_jobs_max = 20;

/// A job that a worker has leased. The job runs, or waits in the worker's process for a free slot.
struct LeasedByWorker {
    std::string queue;
    JobId id = 0;               ///< 0 in a queue of Ruby Routemaster.
    std::string job;            ///< Encoded, see `Lease::job`.
    std::uint32_t attempt = 0;  ///< The number of the attempt, see `Lease::attempt`.
    /// When the worker leased the job. Absent in a queue of Ruby Routemaster, and for a cancelled
    /// job.
    std::optional<TimePoint> since{};
    bool cancelled = false;  ///< The job was cancelled, and its worker should stop the attempt.

    friend bool operator==(const LeasedByWorker&, const LeasedByWorker&) = default;
};

/// A worker in a list of workers. A `Dispatcher` is one worker. A `WorkerPool` is one worker for
/// each of its queues. The `JobLeases` object of a process is one worker, also on behalf of remote
/// workers.
struct ListedWorker {
    Uid id{};
    TimePoint seen{};          ///< When the worker's last heartbeat arrived.
    std::uint64_t leased = 0;  ///< The number of jobs that the worker has leased.
    /// The oldest leases of the worker, at most `worker_jobs_max`. If the worker serves several
    /// queues and has many jobs, the listed jobs may all belong to one queue.
    std::vector<LeasedByWorker> jobs{};
    /// What the worker reported about itself. Absent for a worker of an older version, and for a
    /// worker of Ruby Routemaster.
    std::optional<WorkerProfile> profile{};
    std::uint32_t busy = 0;  ///< Slots of `profile->capacity` in use at the last heartbeat.

    friend bool operator==(const ListedWorker&, const ListedWorker&) = default;
};

}  // namespace routemaster
