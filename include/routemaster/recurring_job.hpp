/// @file
/// `RecurringJob`: a job that is pushed, or a timer that is posted, at each tick of a schedule. A
/// tick is an instant at which the schedule is due.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "routemaster/job_metadata.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Maximum size of a recurring job's encoded job, in bytes.
inline constexpr std::size_t recurring_job_bytes_max = 65'536;

/// Maximum length of a schedule, in bytes. Enough for a cron expression that lists every value of
/// each field.
inline constexpr std::size_t schedule_bytes_max = 1'024;

/// If the clock is set back by at most this time, `RecurringJob::settled_until` stays valid. If the
/// clock is further behind `settled_until`, the clock must have been wrong (ahead) before.
inline constexpr Duration recurring_step_back_max{600'000};

/// Maximum length of the name of a time zone, in bytes.
inline constexpr std::size_t time_zone_bytes_max = 64;

/// How to handle missed ticks. A tick is missed if no scheduler ran, the store was unavailable, or
/// the clock was set forward.
enum class CatchUp : std::uint8_t {
    /// Missed ticks do not run, except the last one if it is less than a minute late.
    skip,
    once,  ///< Only the last missed tick runs, however late.
    all,   ///< All missed ticks run, the oldest first, at most the last 1,000. Needs `overlap`.
};

/// The timer that each tick of a recurring timer posts, due at the tick.
struct RecurringTimer {
    std::string space;    ///< The namespace of a `Delayer`.
    std::string payload;  ///< A value encoded by `encode`; at most `timer_bytes_max` bytes.

    // As in `TimerOptions`.

    std::uint32_t retries_max = 0;
    Duration confirm_within{0};

    friend bool operator==(const RecurringTimer&, const RecurringTimer&) = default;
};

/// The settings of a recurring job: its schedule and its job.
struct RecurringSettings {
    std::string schedule;           ///< See `JobSchedule`; at most `schedule_bytes_max` bytes.
    std::string time_zone = "UTC";  ///< At most `time_zone_bytes_max` bytes.
    std::string queue{};            ///< Not a queue of Ruby Routemaster.
    std::string job{};              ///< A job encoded by `encode_job`.
    CatchUp catch_up = CatchUp::once;
    /// Whether a tick pushes its job even if the job of an earlier tick still exists. If false, an
    /// equal job that waits or runs is kept, and an equal BURIED job is kicked. In both cases
    /// nothing is pushed. For timers, if false: a PENDING or FIRED timer of an earlier tick is
    /// kept, and a DEAD timer is replaced.
    bool overlap = false;

    // As in `PushOptions`.

    std::uint32_t attempts_max = 25;
    std::int32_t priority = 0;
    Duration timeout{0};
    Duration expires{0};  ///< Expiry of each job, counted from its push.
    /// Metadata of each job. The push adds two entries: `recurring`, the name of the recurring job,
    /// and `tick`, the tick in milliseconds since the Unix epoch. At most `job_metadata_max` - 2
    /// entries may therefore be set here.
    JobMetadata metadata{};

    /// If present, this is a recurring timer: each tick posts this timer and pushes no job. `queue`
    /// and `job` must then be empty, and the push options must have their defaults.
    std::optional<RecurringTimer> timer{};

    friend bool operator==(const RecurringSettings&, const RecurringSettings&) = default;
};

/// A recurring job, as stored. All instants are read from the clock of the store: on Redis the
/// server's clock, else the clock of the process.
struct RecurringJob {
    std::string name;
    RecurringSettings settings{};
    bool paused = false;
    /// When a scheduler must process the recurring job: at the next tick, or at once if the
    /// recurring job was put or resumed since a scheduler last processed it. `never` if there are
    /// no more ticks.
    TimePoint next_at = never;
    /// Ticks up to this instant do not run (again). They have run, were skipped by `CatchUp`, or
    /// were due before the recurring job was put or resumed. The value decreases only when a
    /// `RecurringScheduler` detects that the clock was ahead before.
    TimePoint settled_until{};
    std::optional<TimePoint> last_at{};  ///< The last tick that ran.
    std::uint64_t runs = 0;              ///< Number of ticks that pushed a job or posted a timer.
    std::uint64_t kept = 0;  ///< Number of ticks that kept the job or timer of an earlier tick.
    Uid revision{};          ///< Changes with each change of the settings.

    friend bool operator==(const RecurringJob&, const RecurringJob&) = default;
};

}  // namespace routemaster
