/// @file
/// The account of the recurring jobs and timers of a world: which ticks must run, and which have.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/job_schedule.hpp"
#include "routemaster/recurring_job.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "simulation_context.hpp"
#include "submitted.hpp"

namespace routemaster::simulation {

/// Where the ticks of a world push their jobs, and post their timers; and the name of the jobs.
inline constexpr const char* tick_queue = "ticks";
inline constexpr const char* tick_space = "ticks";
inline constexpr const char* tick_name = "tick";

/// Whether a step is about the timers of ticks.
[[nodiscard]] bool is_about_tick_timers(const Step& step);

/// Follows which ticks are run, by any number of schedulers, and ends the world when one runs
/// twice, too early, late, or while its recurring job is paused; when one is dropped that the
/// `CatchUp` of its recurring job does not drop; and when a job or timer of one is lost. What is
/// triggered by hand is so at no whole second, as no tick is: so it is known of each job and timer
/// whether a tick brought it. What changes a recurring job is answered in the order in which it was
/// performed. None is removed. Not thread safe.
class RecurringAccounts {
public:
    /// `context` must outlive it.
    explicit RecurringAccounts(SimulationContext& context) : context_{context} {}

    /// A step is about to be performed.
    void asked(const Step& step, const Submitted& when);
    /// It was answered, or refused.
    void replied(const Step& step, const Outcome& outcome, const Submitted& when);
    /// Power was lost before it was answered: it may have been done or not.
    void doubt(const Step& step);

    /// A job of `tick_queue` was leased anew.
    void acquired(const Lease& lease);
    /// It was done.
    void done(const Lease& lease);
    /// It was done, or not.
    void may_be_done(const Lease& lease) { owed_.erase(lease.id); }

    /// One of the schedulers has been there since that moment.
    void scheduled_since(TimePoint moment) noexcept { scheduled_since_ = moment; }

    /// Ends the world unless these are the recurring jobs that there must be. Nothing may be under
    /// way.
    void compare(const std::vector<RecurringJob>& listed);

    /// What was never done of what the ticks have brought; empty when nothing is left.
    [[nodiscard]] std::string debt() const;

private:
    /// A recurring job, and the instant of a tick.
    using Tick = std::pair<std::string, TimePoint>;

    /// Something that may have happened more often than is known.
    struct Times {
        std::uint64_t least = 0;
        std::uint64_t most = 0;
        [[nodiscard]] bool may_be(std::uint64_t times) const noexcept {
            return times >= least && times <= most;
        }
    };

    /// What was put.
    struct Settings {
        JobSchedule schedule;
        CatchUp catch_up;
        bool overlap;
    };

    /// A recurring job.
    struct Account {
        bool certain = false;                       // It is there.
        std::optional<bool> paused{};               // Nothing: it is not known.
        std::set<std::string> schedules{};          // It has one of these.
        TimePoint settled = TimePoint::min();       // Its ticks are, up to then at least;
        TimePoint settled_most = TimePoint::min();  // and at most up to then.
        std::set<TimePoint> looks{};                // When it was found due, since its last run.
        Times runs{};
        Times kept{};
    };

    void ran(const RunRecurringJob& step, const RecurringRun& run, const Submitted& when);
    /// The tick of a run that pushed or posted, or kept what was there.
    void check_tick(const RunRecurringJob& step, const Account& account, const Settings& settings,
                    const Submitted& when) const;
    /// What a run passes over that ran nothing.
    void check_passed(const RunRecurringJob& step, const Account& account,
                      const Settings& settings) const;
    void pushed(const RunRecurringJob& step, const RecurringRun& run);
    void took(const TakeTimers& step, const TakenTimers& taken, const Submitted& when);
    /// The job of a tick is this one, and no other.
    void must_be(const Tick& tick, JobId id);
    void must_be_in_time(const std::string& what, TimePoint due, TimePoint now,
                         TimePoint moment) const;
    [[nodiscard]] const Settings& settings_of(const std::string& name, const Uid& revision) const;

    SimulationContext& context_;
    std::map<std::string, Account> accounts_;
    std::map<Uid, Settings> settings_;  // By revision.
    std::map<Tick, JobId> jobs_;        // Which were pushed, as far as is known.
    std::set<JobId> done_;              // Of these, and of those that were triggered.
    std::set<JobId> owed_;              // That are to be done.
    std::set<Tick> posted_;             // Whose timers were, or may have been.
    std::set<Tick> fired_;              // Of these.
    std::set<Tick> unfired_;            // Of those that certainly were posted.
    TimePoint scheduled_since_{};
};

}  // namespace routemaster::simulation
