/// @file
/// `WorkerProfile`: what a worker reports about itself. `QueueWorkers`: the workers of a queue.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// How many handler names, and how many queues, a profile lists, at most.
inline constexpr std::size_t profile_names_max = 100;

/// Limit for a name in a profile, in bytes. A longer handler name is counted, but not listed.
inline constexpr std::size_t profile_name_bytes_max = 255;

/// What a worker reports about itself with each heartbeat.
struct WorkerProfile {
    /// How the worker handles jobs whose name `handlers` does not list.
    enum class Others : std::uint8_t {
        refused,  ///< The worker has no handler for them.
        handled,  ///< A handler takes jobs of any name.
        unknown,  ///< Unknown: for example, a client over HTTP that names no handlers.
    };

    std::string name{};         ///< A name for people: host and process, such as `thumbs-1:4711`.
    std::string host{};         ///< The host name of the machine.
    std::uint64_t process = 0;  ///< The process id.
    TimePoint since{};          ///< When the worker began.
    std::vector<std::string> queues{};  ///< The queues that the worker serves.
    /// Names of the jobs that the worker handles, in order. For a dispatcher: the results of
    /// `delivery_handler`. If there are more than `profile_names_max` names, the list is cut off.
    std::vector<std::string> handlers{};
    /// The number of all names, including names that are not listed.
    std::uint64_t handlers_total = 0;
    Others others = Others::refused;
    std::uint32_t capacity = 0;  ///< Jobs at once, for all queues of the pool together; 0: unknown.
    /// How long the worker counts as alive after a heartbeat: its `worker_silence`.
    Duration silence{3'500};

    /// Whether a job with this name finds a handler, or may find one because the list is cut off or
    /// incomplete.
    [[nodiscard]] bool may_handle(std::string_view handler) const;

    /// Lists these names in order, up to `profile_names_max`, and counts all.
    void list_handlers(std::vector<std::string> names);

    /// `invalid` if a list or a name is too long, or if `silence` is not from 1 ms to two days.
    [[nodiscard]] Result<void> check() const;

    friend bool operator==(const WorkerProfile&, const WorkerProfile&) = default;
};

/// The handler name that a dispatcher lists for a callback: `local:NAME` for a callback in its
/// process, `http` for any URL.
[[nodiscard]] std::string delivery_handler(std::string_view callback);

/// How long a worker without a profile counts as alive after its last heartbeat.
inline constexpr Duration unprofiled_silence{10'000};

/// The workers of a queue, as reported by their heartbeats.
struct QueueWorkers {
    /// What is missing for a job to begin.
    enum class Lack : std::uint8_t {
        nothing,   ///< A worker is free, or the store cannot tell.
        worker,    ///< No worker serves the queue.
        handler,   ///< Workers serve the queue, but have no handler with this name.
        capacity,  ///< All workers with this handler are busy.
    };

    std::uint64_t workers = 0;  ///< Workers that serve the queue and are alive.
    /// Part of `workers`: workers that have, or may have, the handler.
    std::uint64_t handling = 0;
    std::uint64_t full = 0;      ///< Part of `handling`: workers whose slots are all in use.
    std::uint64_t capacity = 0;  ///< The slots of the `full` workers.
    std::optional<TimePoint> busy_since{};  ///< When the oldest job of the `full` workers began.
    /// Live workers of the store without a profile: workers of an older version, or of Ruby
    /// Routemaster. Any of them may serve the queue.
    std::uint64_t unprofiled = 0;
    /// When the last heartbeat of a worker of the queue arrived. Absent if no worker has served the
    /// queue: on Redis within a week, in other stores since the store was opened.
    std::optional<TimePoint> last_at{};

    /// What is missing, derived from the members above.
    [[nodiscard]] Lack lack() const noexcept;

    friend bool operator==(const QueueWorkers&, const QueueWorkers&) = default;
};

/// What is missing, as a clause: "no worker serves its queue; the last one was heard of 3 min ago".
/// Empty for `Lack::nothing`. `queue` is a phrase such as "its queue"; `handler` is the name of the
/// job.
[[nodiscard]] std::string to_text(const QueueWorkers& workers, std::string_view queue,
                                  std::string_view handler, TimePoint now);

/// A span of time in its largest unit, rounded down: "40 s", "3 min", "2 h", "5 d".
[[nodiscard]] std::string to_words(Duration span);

}  // namespace routemaster
