/// @file
/// Steps about recurring jobs and recurring timers. A store knows when each is due next, but does
/// not read schedules: the callers do, such as `RecurringScheduler`.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/recurring_job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/jobs.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/timers.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// The name to pass to `Store::watch` for recurring jobs that are put or resumed. No queue has this
/// name.
inline constexpr const char* recurring_watch = ":recurring";

/// How many recurring jobs one `DueRecurringJobs` replies, at most.
inline constexpr std::uint32_t due_recurring_max = 1'000;

/// Adds a recurring job, or changes the settings of a recurring job.
/// If the recurring job is new, or has a new schedule or time zone, it is due now, its ticks up to
/// now are settled, and the schedulers are woken. Else its next tick is unchanged: a program may
/// put its recurring jobs at each start, and catches up with missed ticks. The pause and the
/// numbers of a recurring job are unchanged. A repetition changes nothing more.
struct PutRecurringJob {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "put_recurring_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::fixed};
    [[nodiscard]] Result<void> check() const;

    std::string name;  ///< Must satisfy `is_queue_name`, else `invalid`.
    /// If the schedule is wrong, or if a tick with these settings could not run, the error is
    /// `invalid` and names the field.
    std::shared_ptr<const RecurringSettings> settings;
    Uid revision;  ///< A new id.
};

/// Replies with a recurring job; nothing if no recurring job has this name.
struct FindRecurringJob {
    using Reply = std::optional<RecurringJob>;
    static constexpr StepTraits traits{.name = "find_recurring_job",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string name;
};

/// Lists the recurring jobs, in order of their names.
struct ListRecurringJobs {
    using Reply = std::vector<RecurringJob>;
    static constexpr StepTraits traits{.name = "list_recurring_jobs",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(page.limit); }

    Page page{.after = {}, .limit = 100};
};

/// Forgets a recurring job. Jobs already pushed and timers already posted stay. A repetition
/// replies `unknown`.
struct RemoveRecurringJob {
    using Reply = Removal;
    static constexpr StepTraits traits{.name = "remove_recurring_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string name;
};

/// Pauses or resumes a recurring job. A paused recurring job is never due. Resuming settles its
/// ticks up to now, and wakes the schedulers. Replies 1, or 0 if no recurring job has this name. A
/// repetition changes nothing.
struct PauseRecurringJob {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "pause_recurring_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string name;
    bool paused = true;  ///< True: pause the recurring job. False: resume it.
};

/// The reply to `DueRecurringJobs`.
struct DueRecurring {
    std::vector<RecurringJob> jobs{};  ///< The longest overdue first.
    TimePoint next_at = never;         ///< When the next recurring job outside the list is due.
    TimePoint now{};                   ///< The current time of the store's clock.
    friend bool operator==(const DueRecurring&, const DueRecurring&) = default;
};

/// Replies with the recurring jobs that are due and not paused, and when the next is due.
struct DueRecurringJobs {
    using Reply = DueRecurring;
    static constexpr StepTraits traits{.name = "due_recurring_jobs",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::uint32_t limit = due_recurring_max;  ///< From 1 to `due_recurring_max`, else `invalid`.
};

/// The reply to `RunRecurringJob`.
struct RecurringRun {
    enum class Outcome : std::uint8_t {
        pushed,  ///< A job was pushed, or a timer was posted.
        kept,    ///< The push was a duplicate, or the old timer was kept.
        moved,   ///< No tick was to run, or the tick had been settled before.
        /// The recurring job was settled, changed, paused or removed since it was read. Nothing was
        /// changed.
        stale,
    };

    Outcome outcome = Outcome::stale;
    JobId id = 0;  ///< The job that was pushed or kept; 0 for a timer.
    friend bool operator==(const RecurringRun&, const RecurringRun&) = default;
};

/// Settles the ticks of a recurring job up to an instant, and runs the last of these ticks if
/// `push` or `post` is set: pushes the job or posts the timer, and sets the next due time, in one
/// transaction. Does so only if the recurring job is unchanged since it was read; therefore each
/// tick is run by exactly one of any number of schedulers. The tick that ran last never runs again,
/// even if ticks are settled `anew`.
/// A repetition replies `stale`.
struct RunRecurringJob {
    using Reply = RecurringRun;
    static constexpr StepTraits traits{.name = "run_recurring_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::fixed};
    [[nodiscard]] Result<void> check() const;

    std::string name;
    Uid revision;     ///< The `RecurringJob::revision` that was read.
    TimePoint at;     ///< The `RecurringJob::next_at` that was read.
    TimePoint until;  ///< Settles ticks up to this instant: the tick to run, if any.
    TimePoint next;   ///< The new `next_at`. After `until`, else `invalid`.
    /// The push of the tick; null for no push.
    std::shared_ptr<const PushJob> push{};
    /// The timer of the tick; null for no timer. Due at `until`, else `invalid`; on Redis the due
    /// time is by the clock of the server, as all ticks are.
    std::shared_ptr<const PostTimer> post{};
    /// The clock had run ahead: ticks after `until` count as not settled again, even if the
    /// recurring job is paused. Pushes and posts nothing, else `invalid`.
    bool anew = false;
};

/// The push for a tick of a recurring job.
[[nodiscard]] PushJob push_of(const std::string& name, const RecurringSettings& settings,
                              TimePoint tick, TimePoint now);

/// The post for a tick of a recurring timer. A PENDING or FIRED timer with this id is kept. The id
/// is `recurring:` and the name; with `overlap`, followed by a colon and the tick in milliseconds.
/// Asserts that the settings have a timer.
[[nodiscard]] PostTimer post_of(const std::string& name, const RecurringSettings& settings,
                                TimePoint tick);

/// The steps about recurring jobs.
using RecurringSteps =
    StepList<PutRecurringJob, FindRecurringJob, ListRecurringJobs, RemoveRecurringJob,
             PauseRecurringJob, DueRecurringJobs, RunRecurringJob>;

}  // namespace routemaster
