/// @file
/// `RecurringJob`: a job that is pushed, or a timer that is posted, at each tick of a schedule. A
/// tick is an instant at which the schedule says that the job is due.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "routemaster/job_metadata.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Limit for the encoded job of a recurring job, in bytes.
inline constexpr std::size_t recurring_job_bytes_max = 65'536;

/// Limit for a schedule, in bytes. Enough for a cron expression that lists every value of each
/// field.
inline constexpr std::size_t schedule_bytes_max = 1'024;

/// After a step back, how far the clock may be behind `RecurringJob::settled_until`, at most. If
/// the clock is further behind, it must have run ahead before.
inline constexpr Duration recurring_step_back_max{600'000};

/// Limit for the name of a time zone, in bytes.
inline constexpr std::size_t time_zone_bytes_max = 64;

/// How to handle missed ticks: ticks at which no scheduler ran, because all schedulers were down,
/// because the store was unavailable, or because the clock was set forward.
enum class CatchUp : std::uint8_t {
    /// Missed ticks do not run, but the last of them runs if it is less than a minute late.
    skip,
    once,  ///< The last missed tick runs, however late.
    all,   ///< All missed ticks run, the oldest first, at most the last 1,000. Needs `overlap`.
};

/// The timer that each tick posts. The timer is due at the tick.
struct RecurringTimer {
    std::string space;    ///< The namespace of a `Delayer`.
    std::string payload;  ///< A value encoded by `encode`; at most `timer_bytes_max` bytes.

    // As in `TimerOptions`.

    std::uint32_t retries_max = 0;
    Duration confirm_within{0};

    friend bool operator==(const RecurringTimer&, const RecurringTimer&) = default;
};

/// The job and the schedule of a recurring job.
struct RecurringSettings {
    std::string schedule;           ///< See `JobSchedule`; at most `schedule_bytes_max` bytes.
    std::string time_zone = "UTC";  ///< At most `time_zone_bytes_max` bytes.
    std::string queue{};            ///< Not a queue of Ruby Routemaster.
    std::string job{};              ///< A job encoded by `encode_job`.
    CatchUp catch_up = CatchUp::once;
    /// Whether a tick pushes its job even though the job of an earlier tick still exists. If false,
    /// and an equal job waits or runs, nothing is pushed; an equal BURIED job is kicked. For
    /// timers, if false: a PENDING or FIRED timer of an earlier tick is kept, and a DEAD timer is
    /// replaced.
    bool overlap = false;

    // As in `PushOptions`.

    std::uint32_t attempts_max = 25;
    std::int32_t priority = 0;
    Duration timeout{0};
    Duration expires{0};  ///< Counted from the push.
    /// Each push adds two entries: `recurring`, the name of the recurring job, and `tick`, the tick
    /// in milliseconds since the Unix epoch. These settings may therefore contain at most
    /// `job_metadata_max` - 2 entries.
    JobMetadata metadata{};

    /// If present, this is a recurring timer: each tick posts the timer and pushes no job. `queue`
    /// and `job` must then be empty, and the push options must have their defaults.
    std::optional<RecurringTimer> timer{};

    friend bool operator==(const RecurringSettings&, const RecurringSettings&) = default;
};

/// A recurring job as stored. Its instants are read from the clock of the store: on Redis the
/// server's clock, else the clock of the process.
struct RecurringJob {
    std::string name;
    RecurringSettings settings{};
    bool paused = false;
    /// When the scheduler reads the recurring job next: at the next tick, or earlier if the
    /// recurring job was put or resumed since the scheduler last read it. `never` if no tick will
    /// come.
    TimePoint next_at = never;
    /// No tick up to this instant runs any more. Such ticks have run, were skipped by `CatchUp`, or
    /// came before the recurring job was put or resumed. The value decreases only when a
    /// `RecurringScheduler` finds that the clock had run ahead.
    TimePoint settled_until{};
    std::optional<TimePoint> last_at{};  ///< The last tick that ran.
    std::uint64_t runs = 0;              ///< Ticks that pushed a job, or posted a timer.
    std::uint64_t kept = 0;  ///< Ticks at which the job or timer of an earlier tick was kept.
    Uid revision{};          ///< Changes with each change of the settings.

    friend bool operator==(const RecurringJob&, const RecurringJob&) = default;
};

}  // namespace routemaster
