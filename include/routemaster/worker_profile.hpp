/// @file
/// What a worker says about itself, and what a store knows about the workers of a queue.

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

/// Handler names that a profile lists at most, and queues likewise.
inline constexpr std::size_t profile_names_max = 100;

/// Bytes of a name in a profile. A longer handler name is counted, and not listed.
inline constexpr std::size_t profile_name_bytes_max = 255;

/// What a worker says about itself with each heartbeat.
struct WorkerProfile {
    /// What the worker does with jobs of names that `handlers` does not list.
    enum class Others : std::uint8_t {
        refused,  ///< The worker has no handler for them.
        handled,  ///< One handler takes jobs of any name.
        unknown,  ///< The worker does not say: a client over HTTP that names no handlers.
    };

    std::string name{};                 ///< For people: host and process, `thumbs-1:4711`.
    std::string host{};                 ///< The machine.
    std::uint64_t process = 0;          ///< The process id.
    TimePoint since{};                  ///< When the worker began.
    std::vector<std::string> queues{};  ///< The queues that the worker serves.
    /// Names of jobs, in order; of a worker that delivers as `delivery_handler` says. A prefix of
    /// all when there are more than `profile_names_max`.
    std::vector<std::string> handlers{};
    std::uint64_t handlers_total = 0;  ///< All names, those that are not listed included.
    Others others = Others::refused;
    std::uint32_t capacity = 0;  ///< Jobs at once, of all queues of its pool; 0: not known.
    /// How long after a heartbeat the worker counts as alive: its `worker_silence`.
    Duration silence{3'500};

    /// Whether a job of that name finds a handler, or may find one: the list is cut, or incomplete.
    [[nodiscard]] bool may_handle(std::string_view handler) const;

    /// Lists these names in order, as many as a profile may have, and counts all.
    void list_handlers(std::vector<std::string> names);

    /// `invalid` when a list or a name is too long, or the silence not from 1 ms to two days.
    [[nodiscard]] Result<void> check() const;

    friend bool operator==(const WorkerProfile&, const WorkerProfile&) = default;
};

/// What a worker that delivers lists for a callback: `local:NAME` for one in its process, `http`
/// for any URL.
[[nodiscard]] std::string delivery_handler(std::string_view callback);

/// How long a worker without a profile counts as alive after its last sign of life.
inline constexpr Duration unprofiled_silence{10'000};

/// The workers of a queue, as they say with their heartbeats.
struct QueueWorkers {
    /// What is missing so that a job begins.
    enum class Lack : std::uint8_t {
        nothing,   ///< A worker is free, or the store cannot tell.
        worker,    ///< No worker serves the queue.
        handler,   ///< Workers serve the queue, and none has a handler of that name.
        capacity,  ///< All workers that have a handler of that name are busy.
    };

    std::uint64_t workers = 0;   ///< Workers that serve the queue and are alive.
    std::uint64_t handling = 0;  ///< Of these, workers that have, or may have, the handler.
    std::uint64_t full = 0;      ///< Of these, workers whose capacity is used up.
    std::uint64_t capacity = 0;  ///< Of all that are `full`.
    std::optional<TimePoint> busy_since{};  ///< When the oldest job of those that are `full` began.
    /// Live workers of the store without a profile: of an older version, or of Ruby Routemaster.
    /// Any of them may serve the queue.
    std::uint64_t unprofiled = 0;
    /// When a worker of the queue was last heard of. None when the store knows of none: nobody
    /// served the queue, on Redis for a week, else since the store was opened.
    std::optional<TimePoint> last_at{};

    /// Follows from the rest.
    [[nodiscard]] Lack lack() const noexcept;

    friend bool operator==(const QueueWorkers&, const QueueWorkers&) = default;
};

/// What is missing, as a clause: "no worker serves its queue; the last one was heard of 3 min ago".
/// Empty for `Lack::nothing`. `queue` is a phrase, as "its queue"; `handler` the name of the job.
[[nodiscard]] std::string to_text(const QueueWorkers& workers, std::string_view queue,
                                  std::string_view handler, TimePoint now);

/// A span of time in its largest unit, rounded down: "40 s", "3 min", "2 h", "5 d".
[[nodiscard]] std::string to_words(Duration span);

}  // namespace routemaster
