/// @file
/// A recurring job: what is pushed, or posted as a timer, at each tick of a schedule, and how far
/// that has come.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "routemaster/job_metadata.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Bytes of the encoded job of a recurring job, at most.
inline constexpr std::size_t recurring_job_bytes_max = 65'536;

/// Bytes of a schedule, at most. A cron expression that lists every value of each field has fewer.
inline constexpr std::size_t schedule_bytes_max = 1'024;

/// How far behind `RecurringJob::settled_until` a clock may be after a small step back. A clock
/// that is further behind had run ahead before.
inline constexpr Duration recurring_step_back_max{600'000};

/// Bytes of the name of a time zone, at most.
inline constexpr std::size_t time_zone_bytes_max = 64;

/// What becomes of the ticks at which no scheduler ran: because all were down, because the store
/// was away, or because the clock was set forward.
enum class CatchUp : std::uint8_t {
    skip,  ///< They do not run. But the last one does if it is less than a minute late.
    once,  ///< The last one runs, however late it is.
    all,   ///< Each runs, the oldest first, at most the last 1,000. Needs `overlap`.
};

/// The timer that each tick posts, due at the tick.
struct RecurringTimer {
    std::string space;    ///< The namespace of a `Delayer`.
    std::string payload;  ///< A value as `encode` encodes it; at most `timer_bytes_max`.

    // As in `TimerOptions`.

    std::uint32_t retries_max = 0;
    Duration confirm_within{0};

    friend bool operator==(const RecurringTimer&, const RecurringTimer&) = default;
};

/// What a recurring job does, and when.
struct RecurringSettings {
    std::string schedule;           ///< See `JobSchedule`; at most `schedule_bytes_max`.
    std::string time_zone = "UTC";  ///< At most `time_zone_bytes_max`.
    std::string queue{};            ///< None of Ruby Routemaster's.
    std::string job{};              ///< As `encode_job` encodes it.
    CatchUp catch_up = CatchUp::once;
    /// Whether a tick pushes its job although that of a former tick still exists. If not, an equal
    /// job that waits or runs is kept, and nothing is pushed; a BURIED one is kicked. So with
    /// timers: one that is PENDING or FIRED is kept, and a DEAD one is replaced.
    bool overlap = false;

    // As in `PushOptions`.

    std::uint32_t attempts_max = 25;
    std::int32_t priority = 0;
    Duration timeout{0};
    Duration expires{0};  ///< Counted from the push.
    /// Each push adds the name of the recurring job, as `recurring`, and its tick in milliseconds
    /// since the Unix epoch, as `tick`; so there are at most `job_metadata_max` - 2 others.
    JobMetadata metadata{};

    /// Makes it a recurring timer: a tick posts this instead. `queue` and `job` are empty then, and
    /// the options of a push as they are by default.
    std::optional<RecurringTimer> timer{};

    friend bool operator==(const RecurringSettings&, const RecurringSettings&) = default;
};

/// A recurring job as it is in the store. Its instants are by the clock of the store: on Redis the
/// server's, else that of the process.
struct RecurringJob {
    std::string name;
    RecurringSettings settings{};
    bool paused = false;
    /// When the scheduler looks at it: the next tick; or earlier, when it was put or resumed and no
    /// scheduler has looked since. `never` when no tick comes any more.
    TimePoint next_at = never;
    /// No tick up to then is run any more: it was run, is past by policy, or was before the job was
    /// put or resumed. It decreases only when a `RecurringScheduler` finds that the clock had run
    /// ahead.
    TimePoint settled_until{};
    std::optional<TimePoint> last_at{};  ///< The last tick that was run.
    std::uint64_t runs = 0;              ///< Ticks that pushed a job, or posted a timer.
    std::uint64_t kept = 0;              ///< Ticks at which that of a former one was kept.
    Uid revision{};                      ///< Differs after each change of the settings.

    friend bool operator==(const RecurringJob&, const RecurringJob&) = default;
};

}  // namespace routemaster
