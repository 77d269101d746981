/// @file
/// Settings and status of a `WorkerPool`.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/log.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/retry_policy.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// A queue that a pool polls: a name, or `{name, weight}`.
struct PoolQueue {
    PoolQueue(const char* queue) : name{queue} {}
    PoolQueue(std::string queue, std::uint32_t share = 1) : name{std::move(queue)}, weight{share} {}

    std::string name;
    std::uint32_t weight = 1;  ///< At least 1. See `QueueOrder`.
};

/// The order in which a pool's queues get free slots.
enum class QueueOrder : std::uint8_t {
    weighted,  ///< While all queues have jobs, slots are proportional to the weights.
    /// A queue gets slots only if the queues before it have no jobs, so the last queues may starve.
    strict,
};

/// Settings of a `WorkerPool`. If a setting is out of range, the constructor of the pool throws
/// `Failure`.
struct WorkerPoolOptions {
    /// At least one queue, without duplicates, and not `delivery_queue`.
    std::vector<PoolQueue> queues{};
    QueueOrder order = QueueOrder::weighted;

    /// Number of threads that run handlers. 0: handlers run inside `poll`, one after another.
    std::size_t threads = 1;
    /// Maximum number of jobs that run at once. 0: equal to `threads`, and at least 1. A greater
    /// number is useful for asynchronous handlers.
    std::size_t concurrency = 0;
    /// Maximum number of jobs that are prefetched: leased before a slot is free, so that slots need
    /// not wait for the store. The pool prefetches at most the number of jobs that it completed in
    /// the last 20 ms, so it prefetches almost nothing if jobs last longer than a request to the
    /// store. While jobs arrive that had an attempt before, nothing is prefetched. A prefetched job
    /// that waits for a second is released. If the process crashes, prefetched jobs lose an
    /// attempt, although it never began. Use 0 for jobs with only one or two attempts. If `threads`
    /// is 0, nothing is prefetched.
    std::size_t prefetch_max = 1'024;

    RetryPolicy retry{};     ///< Used for handlers without their own retry policy.
    Duration grace{10'000};  ///< How long `run` waits for running handlers after the stop request.

    // The next three durations must be from 1 ms to a day.
    Duration heartbeat_interval{1'000};  ///< Time between two heartbeats of the pool.
    /// A worker without a heartbeat for this long counts as dead. Together with the time until the
    /// next check, its jobs run again within 5 s. Must be longer than the `heartbeat_interval` of
    /// all workers.
    Duration worker_silence{3'500};
    /// Maximum time between two polls of the queues, if no wake-up arrives.
    Duration poll_interval{1'000};
    /// For this long wake-ups are ignored, after several wake-ups that found no job.
    Duration wake_grace{20};

    /// Seed for the jitter and the worker ids. Two pools on one store must have different seeds. By
    /// default each pool draws a random seed, even if two pools have copies of these options, or
    /// are in forked processes.
    std::optional<std::uint64_t> seed{};
    /// Null: the clock of the machine. Must outlive the pool. `poll` does not read this clock.
    const Clock* clock = nullptr;
    /// Settings for events that handlers publish with `JobContext::publish`.
    PublicationOptions publications{};
    Log log{};
};

/// Counters of a pool since its construction, and its current load.
struct WorkerPoolStatus {
    std::size_t running = 0;  ///< Jobs whose handlers run.
    std::size_t waiting = 0;  ///< Prefetched jobs that wait for a slot.

    std::uint64_t done = 0;
    std::uint64_t failed = 0;     ///< Attempts that failed, for any reason.
    std::uint64_t timed_out = 0;  ///< Part of `failed`: attempts that exceeded their timeout.
    std::uint64_t buried = 0;     ///< Part of `failed`: attempts after which the job was BURIED.
    /// Jobs that began and were released without a result: snoozed, or when the pool stopped.
    std::uint64_t released = 0;
    std::uint64_t snoozed = 0;     ///< Part of `released`: jobs whose handlers threw `Snooze`.
    std::uint64_t lease_lost = 0;  ///< Attempts whose lease was lost.
    /// Jobs released to other processes, because the pool has no handler for their name.
    std::uint64_t unhandled = 0;

    friend bool operator==(const WorkerPoolStatus&, const WorkerPoolStatus&) = default;
};

}  // namespace routemaster
