/// @file
/// Steps for recurring jobs and timers. The store records when each recurring job is due next;
/// callers such as `RecurringScheduler` parse the schedules. A *settled* tick has run, or was
/// skipped for good.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/recurring_job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/jobs.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/timers.hpp"
#include "routemaster/store/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// The name to pass to `Store::watch` for wake-ups when a recurring job is put or resumed. No queue
/// has this name.
inline constexpr const char* recurring_watch = ":recurring";

/// Maximum number of recurring jobs in a reply of `DueRecurringJobs`.
inline constexpr std::uint32_t due_recurring_max = 1'000;

/// Adds a recurring job, or changes its settings. If the recurring job is new, or has a new
/// schedule or time zone, it is due now, its ticks up to now are settled, and the schedulers are
/// woken. Otherwise its next tick is unchanged, so a program may put its recurring jobs at each
/// start and still catches up with missed ticks. The pause and the counts of a recurring job are
/// unchanged. A repetition changes nothing more.
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

/// Finds a recurring job by its name. Replies nothing if none has this name.
struct FindRecurringJob {
    using Reply = std::optional<RecurringJob>;
    static constexpr StepTraits traits{.name = "find_recurring_job",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string name;
};

/// Lists the recurring jobs, in the order of their names.
struct ListRecurringJobs {
    using Reply = std::vector<RecurringJob>;
    static constexpr StepTraits traits{.name = "list_recurring_jobs",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(page.limit); }

    Page page{.after = {}, .limit = 100};
};

/// Removes a recurring job. Its pushed jobs and posted timers are unchanged. A repetition replies
/// `unknown`.
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
    std::vector<RecurringJob> jobs{};  ///< The earliest due time first.
    TimePoint next_at = never;  ///< When the next recurring job that is not in `jobs` is due.
    TimePoint now{};            ///< The current time by the store's clock.
    friend bool operator==(const DueRecurring&, const DueRecurring&) = default;
};

/// Lists the recurring jobs that are due and not paused, and replies when the next is due.
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
        kept,    ///< The push was a duplicate, or an existing timer was kept.
        moved,  ///< Only the next due time changed: no tick was to be run, or the tick was settled.
        /// The recurring job was settled, changed, paused or removed since it was read. Nothing was
        /// changed.
        stale,
    };

    Outcome outcome = Outcome::stale;
    JobId id = 0;  ///< The job that was pushed or kept; 0 for a timer.
    friend bool operator==(const RecurringRun&, const RecurringRun&) = default;
};

/// Settles the ticks of a recurring job up to an instant, and sets the next due time. If
/// `push` or `post` is set, also runs the last of these ticks: pushes the job or posts the
/// timer, in the same transaction. Changes nothing if the recurring job has changed since
/// it was read, so each tick is run by exactly one of several schedulers. The tick that
/// ran last never runs again, even if ticks are settled `anew`. A repetition replies
/// `stale`.
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
    TimePoint until;  ///< Settles ticks up to this instant, which is the tick to run, if any.
    TimePoint next;   ///< The new `next_at`. After `until`, else `invalid`.
    /// The push for the tick; null: none.
    std::shared_ptr<const PushJob> push{};
    /// The timer for the tick; null: none. Due at `until`, else `invalid`. On Redis the due time
    /// refers to the clock of the server, like all ticks.
    std::shared_ptr<const PostTimer> post{};
    /// The clock had been ahead: ticks after `until` become unsettled again, even if the recurring
    /// job is paused. Nothing may be pushed or posted, else `invalid`.
    bool anew = false;
};

/// Returns the push for a tick of a recurring job.
[[nodiscard]] PushJob push_of(const std::string& name, const RecurringSettings& settings,
                              TimePoint tick, TimePoint now);

/// Returns the post for a tick of a recurring timer. A PENDING or FIRED timer with this id is kept.
/// The id is `recurring:` and the name; with `overlap`, followed by a colon and the tick in
/// milliseconds. Asserts that the settings have a timer.
[[nodiscard]] PostTimer post_of(const std::string& name, const RecurringSettings& settings,
                                TimePoint tick);

/// The list of the steps for recurring jobs.
using RecurringSteps =
    StepList<PutRecurringJob, FindRecurringJob, ListRecurringJobs, RemoveRecurringJob,
             PauseRecurringJob, DueRecurringJobs, RunRecurringJob>;

}  // namespace routemaster
