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

/// A queue that a pool serves: a name, or `{name, weight}`.
struct PoolQueue {
    PoolQueue(const char* queue) : name{queue} {}
    PoolQueue(std::string queue, std::uint32_t share = 1) : name{std::move(queue)}, weight{share} {}

    std::string name;
    std::uint32_t weight = 1;  ///< At least 1. See `QueueOrder`.
};

/// The order of the queues of a pool.
enum class QueueOrder : std::uint8_t {
    weighted,  ///< While all queues have jobs, each gets slots in proportion to its weight.
    /// A queue gets slots only if the queues before it have no jobs. The last queues may starve.
    strict,
};

/// Settings of a `WorkerPool`. If a setting is out of range, the constructor of the pool throws
/// `Failure`.
struct WorkerPoolOptions {
    /// At least one queue, each at most once, and not `delivery_queue`.
    std::vector<PoolQueue> queues{};
    QueueOrder order = QueueOrder::weighted;

    /// Threads that run handlers. 0: handlers run inside `poll`, one after another.
    std::size_t threads = 1;
    /// Jobs under way at once. 0: equal to `threads`, and at least 1. A greater number is useful
    /// for asynchronous handlers.
    std::size_t concurrency = 0;
    /// How many jobs may wait in the process for a slot, at most. Slots then need not wait for the
    /// store.
    /// The actual limit is the number of jobs done in the last 20 ms, and hardly any job waits if
    /// jobs take longer than a request to the store. While jobs arrive that had an attempt before,
    /// no job waits. A job that waits for a second goes back to the queue. If the process dies, the
    /// waiting jobs lose an attempt, although it never began; use 0 for jobs with only one or two
    /// attempts. If `threads` is 0, no job waits in the process.
    std::size_t prefetch_max = 1'024;

    RetryPolicy retry{};     ///< For handlers without their own retry policy.
    Duration grace{10'000};  ///< How long `run` lets handlers go on after the request to stop.

    // The next three are from 1 ms to a day.
    Duration heartbeat_interval{1'000};  ///< Time between two heartbeats of the pool.
    /// If another worker sends no heartbeat for this long, it counts as dead. Together with the
    /// time until the next check, its jobs run again within 5 s. Must be longer than the
    /// `heartbeat_interval` of all workers.
    Duration worker_silence{3'500};
    /// Longest time between two polls of the queues, if no wake-up comes.
    Duration poll_interval{1'000};
    /// After several wake-ups without a job: how long to ignore wake-ups.
    Duration wake_grace{20};

    /// Seed of the jitter and of the pool's worker ids. Two pools on one store must have different
    /// seeds. By default each pool draws a random seed, even if two pools have copies of these
    /// options, or are in forked processes.
    std::optional<std::uint64_t> seed{};
    /// Null: the clock of the machine. Must outlive the pool. `poll` does not read this clock.
    const Clock* clock = nullptr;
    /// Settings of events that handlers publish with `JobContext::publish`.
    PublicationOptions publications{};
    Log log{};
};

/// What a pool does now, and has done since its construction.
struct WorkerPoolStatus {
    std::size_t running = 0;  ///< Jobs under way: begun, and not ended.
    std::size_t waiting = 0;  ///< Jobs that wait in the process for a slot.

    std::uint64_t done = 0;
    std::uint64_t failed = 0;     ///< Attempts that failed, for any reason.
    std::uint64_t timed_out = 0;  ///< Part of `failed`: attempts that took too long.
    std::uint64_t buried = 0;     ///< Part of `failed`: attempts after which the job was BURIED.
    /// Jobs that began and were released without a result: snoozed, or at the end of the pool.
    std::uint64_t released = 0;
    std::uint64_t snoozed = 0;  ///< Part of `released`: jobs that were snoozed by their handlers.
    std::uint64_t lease_lost = 0;  ///< Attempts whose lease was lost.
    /// Jobs released to other processes, as no handler has their name.
    std::uint64_t unhandled = 0;

    friend bool operator==(const WorkerPoolStatus&, const WorkerPoolStatus&) = default;
};

}  // namespace routemaster
