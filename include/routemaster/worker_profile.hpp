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

/// Maximum number of handler names, and of queues, that a profile lists.
inline constexpr std::size_t profile_names_max = 100;

/// Maximum length of a name in a profile, in bytes. A longer handler name is counted, not listed.
inline constexpr std::size_t profile_name_bytes_max = 255;

/// Data that a worker reports about itself with each heartbeat.
struct WorkerProfile {
    /// Whether the worker can run jobs whose names are not in `handlers`.
    enum class Others : std::uint8_t {
        refused,  ///< The worker has no handler for them, and releases them.
        handled,  ///< A handler accepts jobs of any name.
        unknown,  ///< Unknown, for example for a client over HTTP that lists no handlers.
    };

    std::string name{};         ///< A display name: host and process, such as `thumbs-1:4711`.
    std::string host{};         ///< The host name of the machine.
    std::uint64_t process = 0;  ///< The process id.
    TimePoint since{};          ///< When the worker started.
    std::vector<std::string> queues{};  ///< The queues from which the worker acquires jobs.
    /// Names of the jobs that the worker handles, sorted. For a dispatcher: the results of
    /// `delivery_handler`. A list of more than `profile_names_max` names is truncated.
    std::vector<std::string> handlers{};
    /// The number of all names, including the truncated ones.
    std::uint64_t handlers_total = 0;
    Others others = Others::refused;
    std::uint32_t capacity = 0;  ///< Maximum jobs at once, over all queues of the pool; 0: unknown.
    /// How long the worker counts as alive after a heartbeat: its `worker_silence`.
    Duration silence{3'500};

    /// Whether the worker has a handler for this name, or may have one because the list is
    /// truncated or unknown.
    [[nodiscard]] bool may_handle(std::string_view handler) const;

    /// Sets `handlers` to these names, sorted, up to `profile_names_max`, and counts all of them.
    void list_handlers(std::vector<std::string> names);

    /// `invalid` if a list or a name is too long, or if `silence` is not from 1 ms to two days.
    [[nodiscard]] Result<void> check() const;

    friend bool operator==(const WorkerProfile&, const WorkerProfile&) = default;
};

/// Returns the handler name that a dispatcher lists for a callback: `local:NAME` for a callback in
/// its process, `http` for any URL.
[[nodiscard]] std::string delivery_handler(std::string_view callback);

/// How long a worker without a profile counts as alive after its last heartbeat.
inline constexpr Duration unprofiled_silence{10'000};

/// Counts of the workers of a queue, computed from their heartbeats.
struct QueueWorkers {
    /// Why a job cannot begin.
    enum class Lack : std::uint8_t {
        nothing,   ///< A worker is free, or the store has too little data to decide.
        worker,    ///< No worker serves the queue.
        handler,   ///< Workers serve the queue, but have no handler with this name.
        capacity,  ///< All workers with this handler are busy.
    };

    std::uint64_t workers = 0;  ///< Live workers that serve the queue.
    /// Part of `workers`: workers that have, or may have, a handler for the job.
    std::uint64_t handling = 0;
    std::uint64_t full = 0;      ///< Part of `handling`: workers whose slots are all in use.
    std::uint64_t capacity = 0;  ///< The slots of the `full` workers.
    std::optional<TimePoint> busy_since{};  ///< When the oldest job of the `full` workers began.
    /// Live workers of the store without a profile: workers of an older version, or of Ruby
    /// Routemaster. Any of them may serve the queue.
    std::uint64_t unprofiled = 0;
    /// When the last heartbeat of a worker of the queue arrived. Absent if there was none: on Redis
    /// within the last week, in other stores since the store was opened.
    std::optional<TimePoint> last_at{};

    /// Returns why a job cannot begin, computed from the members above.
    [[nodiscard]] Lack lack() const noexcept;

    friend bool operator==(const QueueWorkers&, const QueueWorkers&) = default;
};

/// Formats the lack as a clause: "no worker serves its queue; the last one was heard of 3 min ago".
/// Empty for `Lack::nothing`. `queue` is a phrase such as "its queue"; `handler` is the name of the
/// job.
[[nodiscard]] std::string to_text(const QueueWorkers& workers, std::string_view queue,
                                  std::string_view handler, TimePoint now);

/// Formats a span of time in its largest unit, rounded down: "40 s", "3 min", "2 h", "5 d".
[[nodiscard]] std::string to_words(Duration span);

}  // namespace routemaster
