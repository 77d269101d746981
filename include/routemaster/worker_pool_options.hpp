/// @file
/// Settings of a `WorkerPool`, and what it reports of itself.

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

/// Which of several queues comes first.
enum class QueueOrder : std::uint8_t {
    weighted,  ///< While all have jobs, each gets slots in proportion to its weight.
    strict,    ///< A queue gets slots when those before it have no jobs. The last ones may starve.
};

/// Settings of a `WorkerPool`. What is out of range makes its constructor throw `Failure`.
struct WorkerPoolOptions {
    std::vector<PoolQueue> queues{};  ///< At least one, each once; none is the bus's own.
    QueueOrder order = QueueOrder::weighted;

    /// Threads that run handlers. 0: they run inside `poll`, one after another.
    std::size_t threads = 1;
    /// Jobs under way at once. 0: as many as threads, and at least one. More is for asynchronous
    /// handlers.
    std::size_t concurrency = 0;
    /// Jobs that wait here for a slot, at most, so that slots do not wait for the store. As long as
    /// jobs take longer than the store there are hardly any: no more than were done in the last
    /// 20 ms, and none while jobs come that had an attempt before. Those that wait for a second all
    /// the same go back to the queue. If the process dies, what waits has lost an attempt, though
    /// it never began: where a job has but one or two, 0 is right. None if `threads` is 0.
    std::size_t prefetch_max = 1'024;

    RetryPolicy retry{};     ///< Of handlers that have none of their own.
    Duration grace{10'000};  ///< How long `run` lets handlers go on once it was asked to stop.

    // The next three are from 1 ms to a day.
    Duration heartbeat_interval{1'000};  ///< How often the pool says that it is alive.
    /// Other workers silent for so long are taken for dead. With the time until the next look at
    /// them, their jobs run again within 5 s. Longer than the `heartbeat_interval` of all.
    Duration worker_silence{3'500};
    Duration poll_interval{1'000};  ///< A look at the queues even when nobody woke it.
    Duration wake_grace{20};  ///< After several wake-ups for nothing, how long it ignores others.

    /// Of the jitter and of its names as a worker; no two pools on a store may have the same. By
    /// default each pool draws its own, copies of these options and forked processes included.
    std::optional<std::uint64_t> seed{};
    /// Null: the clock of the machine. Must outlive the pool. `poll` does not read it.
    const Clock* clock = nullptr;
    /// Of events that handlers publish with `JobContext::publish`.
    PublicationOptions publications{};
    Log log{};
};

/// What a pool does now, and has done since it was made.
struct WorkerPoolStatus {
    std::size_t running = 0;  ///< Jobs under way: begun, and not ended.
    std::size_t waiting = 0;  ///< Jobs that wait here for a slot.

    std::uint64_t done = 0;
    std::uint64_t failed = 0;     ///< Attempts that failed, for whatever reason.
    std::uint64_t timed_out = 0;  ///< Of these, the ones that took too long.
    std::uint64_t buried = 0;     ///< Of these, the ones after which the job was given up.
    std::uint64_t released = 0;   ///< Begun, and given up without a result: snoozed, or at the end.
    std::uint64_t snoozed = 0;    ///< Of these, the ones whose handlers asked to wait.
    std::uint64_t lease_lost = 0;  ///< Attempts whose job had been handed on.
    std::uint64_t unhandled = 0;   ///< Jobs left to others, as no handler has their name.

    friend bool operator==(const WorkerPoolStatus&, const WorkerPoolStatus&) = default;
};

}  // namespace routemaster
