/// @file
/// Steps about recurring jobs, of which some post timers. A store knows when each is due next, and
/// nothing of schedules: those are read by whoever runs them.

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

/// What to `Store::watch` for recurring jobs that were put or resumed. No queue has such a name.
inline constexpr const char* recurring_watch = ":recurring";

/// Recurring jobs that one `DueRecurringJobs` replies at most.
inline constexpr std::uint32_t due_recurring_max = 1'000;

/// Adds a recurring job, or gives one other settings; wakes the schedulers.
/// One that is new, or has another schedule or zone than before, is due now, and its ticks up to
/// now are settled. Otherwise it stays due when it was, so that a program may put its jobs at each
/// start, and catches up with what it missed. Whether it is paused, and its numbers, stay.
/// Repeating it changes nothing more.
struct PutRecurringJob {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "put_recurring_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::fixed};
    [[nodiscard]] Result<void> check() const;

    std::string name;  ///< As of a queue, else `invalid`.
    /// `invalid`, naming the field, when a tick could not be run, or the schedule is none.
    std::shared_ptr<const RecurringSettings> settings;
    Uid revision;  ///< Fresh.
};

/// Finds a recurring job; nothing when there is none of that name.
struct FindRecurringJob {
    using Reply = std::optional<RecurringJob>;
    static constexpr StepTraits traits{.name = "find_recurring_job",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string name;
};

/// Lists the recurring jobs, by name.
struct ListRecurringJobs {
    using Reply = std::vector<RecurringJob>;
    static constexpr StepTraits traits{.name = "list_recurring_jobs",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(page.limit); }

    Page page{.after = {}, .limit = 100};
};

/// Forgets a recurring job; what it pushed or posted stays. Repeating it answers `unknown`.
struct RemoveRecurringJob {
    using Reply = Removal;
    static constexpr StepTraits traits{.name = "remove_recurring_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string name;
};

/// Pauses a recurring job, which then is never due, or resumes it, which settles its ticks up to
/// now and wakes the schedulers. Replies 1, or 0 when there is none of that name. Repeating it
/// changes nothing.
struct PauseRecurringJob {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "pause_recurring_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string name;
    bool paused = true;  ///< Whether it is to be paused; else it is resumed.
};

/// What `DueRecurringJobs` found.
struct DueRecurring {
    std::vector<RecurringJob> jobs{};  ///< The longest due first.
    TimePoint next_at = never;         ///< When the next of the others is due.
    TimePoint now{};                   ///< What the clock of the store shows.
    friend bool operator==(const DueRecurring&, const DueRecurring&) = default;
};

/// Replies the recurring jobs that are due, and not paused, and when the next one is.
struct DueRecurringJobs {
    using Reply = DueRecurring;
    static constexpr StepTraits traits{.name = "due_recurring_jobs",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::uint32_t limit = due_recurring_max;  ///< From 1 to that, else `invalid`.
};

/// What became of a tick.
struct RecurringRun {
    enum class Outcome : std::uint8_t {
        pushed,  ///< A job; or a timer was posted.
        kept,    ///< Another job excludes it: the push was a duplicate. Or the timer was kept.
        moved,   ///< Nothing was to be run, or the tick was settled before.
        stale,   ///< It is not due then, or was put, paused or removed. Nothing was changed.
    };

    Outcome outcome = Outcome::stale;
    JobId id = 0;  ///< Of the job that was pushed or kept; 0 of a timer.
    friend bool operator==(const RecurringRun&, const RecurringRun&) = default;
};

/// Settles the ticks of a recurring job up to an instant, of which the last one may be run: pushes
/// its job or posts its timer, and says when the recurring job is due next, both or neither. Only
/// if it is as it was read: so of any number of schedulers one runs a tick, once. The tick that was
/// run last is not run again, though ticks are settled `anew`.
/// Repeating it answers `stale`.
struct RunRecurringJob {
    using Reply = RecurringRun;
    static constexpr StepTraits traits{.name = "run_recurring_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::fixed};
    [[nodiscard]] Result<void> check() const;

    std::string name;
    Uid revision;     ///< As it was read.
    TimePoint at;     ///< Its `next_at`, as it was read.
    TimePoint until;  ///< Ticks up to then are settled; the one that is run, if any.
    TimePoint next;   ///< Becomes its `next_at`. After `until`, else `invalid`.
    /// What the tick pushes; null to push nothing.
    std::shared_ptr<const PushJob> push{};
    /// What it posts instead; null to post nothing. Due at `until`, else `invalid`; on Redis that
    /// is by the clock of the server, as all ticks.
    std::shared_ptr<const PostTimer> post{};
    /// The clock had run ahead: what is settled behind `until` counts as not settled. Also of one
    /// that is paused. Pushes and posts nothing, else `invalid`.
    bool anew = false;
};

/// What a tick of a recurring job pushes.
[[nodiscard]] PushJob push_of(const std::string& name, const RecurringSettings& settings,
                              TimePoint tick, TimePoint now);

/// What a tick of a recurring timer posts: one that keeps the PENDING or FIRED one of its id, which
/// is `recurring:` and the name, and with `overlap` also a colon and the tick in milliseconds.
/// Asserts that the settings have a timer.
[[nodiscard]] PostTimer post_of(const std::string& name, const RecurringSettings& settings,
                                TimePoint tick);

/// The steps about recurring jobs.
using RecurringSteps =
    StepList<PutRecurringJob, FindRecurringJob, ListRecurringJobs, RemoveRecurringJob,
             PauseRecurringJob, DueRecurringJobs, RunRecurringJob>;

}  // namespace routemaster
