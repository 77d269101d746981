/// @file
/// What a store says of those who have leased jobs.

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

/// Jobs that are listed of one worker, at most.
inline constexpr std::size_t worker_jobs_max = 20;

/// A job that a worker has leased: it runs, or waits there to be run.
struct LeasedByWorker {
    std::string queue;
    JobId id = 0;               ///< 0 in a queue of Ruby Routemaster.
    std::string job;            ///< Encoded.
    std::uint32_t attempt = 0;  ///< As in `Lease`.
    /// When it was leased. None in a queue of Ruby Routemaster, nor of a job that was cancelled.
    std::optional<TimePoint> since{};
    bool cancelled = false;  ///< Its worker is to stop.

    friend bool operator==(const LeasedByWorker&, const LeasedByWorker&) = default;
};

/// A worker in a list. A `WorkerPool` is one worker for each of its queues; so are a `Dispatcher`,
/// and the `JobLeases` of a process, whichever workers elsewhere they speak for.
struct ListedWorker {
    Uid id{};
    TimePoint seen{};          ///< When it was last heard of.
    std::uint64_t leased = 0;  ///< Jobs that it has.
    /// Of these the ones that it has had for longest, at most `worker_jobs_max`. Of a worker with
    /// many jobs of several queues, they may be of one of these queues alone.
    std::vector<LeasedByWorker> jobs{};
    /// What the worker said about itself. None for workers of an older version, and of Ruby
    /// Routemaster.
    std::optional<WorkerProfile> profile{};
    std::uint32_t busy = 0;  ///< Of `profile->capacity`, with its last heartbeat.

    friend bool operator==(const ListedWorker&, const ListedWorker&) = default;
};

}  // namespace routemaster
