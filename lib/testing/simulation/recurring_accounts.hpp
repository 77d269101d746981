/// @file
/// `RecurringAccounts`: checks the recurring jobs and timers of a world, and their ticks.

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
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "simulation_context.hpp"
#include "submitted.hpp"

namespace routemaster::simulation {

/// The queue and the timer namespace of ticks, and the name of their jobs.
inline constexpr const char* tick_queue = "ticks";
inline constexpr const char* tick_space = "ticks";
inline constexpr const char* tick_name = "tick";

[[nodiscard]] bool is_about_tick_timers(const Step& step);

/// Checker of the ticks of recurring jobs. Several schedulers may run them. Fails the simulation
/// when a tick runs twice, too early, too late, or while its recurring job is paused; when a tick
/// is skipped that the job's `CatchUp` does not allow to skip; and when the job or timer of a tick
/// is lost. Ticks are on whole seconds, and clients never trigger a recurring job on a whole
/// second, so the origin of each job and timer is known. Replies to changes of a recurring job
/// arrive in the order of the changes. No recurring job is removed. Not thread safe.
class RecurringAccounts {
public:
    explicit RecurringAccounts(SimulationContext& context) : context_{context} {}

    void asked(const Step& step, const Submitted& when);
    void replied(const Step& step, const Outcome& outcome, const Submitted& when);
    void doubt(const Step& step);

    void acquired(const Lease& lease);
    void done(const Lease& lease);
    /// Called when the job may have been completed.
    void may_be_done(const Lease& lease) { owed_.erase(lease.id); }

    void scheduled_since(TimePoint moment) noexcept { scheduled_since_ = moment; }

    /// Fails the simulation unless the recurring jobs are as expected. No step may be in progress.
    void compare(const std::vector<RecurringJob>& listed);

    /// Describes a job or timer of a tick that did not run. Empty if absent.
    [[nodiscard]] std::string debt() const;

private:
    using Tick = std::pair<std::string, TimePoint>;

    /// Lower and upper bound of a count. Effects without a reply may or may not be counted.
    struct Times {
        std::uint64_t least = 0;
        std::uint64_t most = 0;
        [[nodiscard]] bool may_be(std::uint64_t times) const noexcept {
            return times >= least && times <= most;
        }
    };

    struct Settings {
        JobSchedule schedule;
        CatchUp catch_up;
        bool overlap;
    };

    struct Account {
        bool certain = false;
        std::optional<bool> paused{};               // Nothing when unknown.
        std::set<std::string> schedules{};          // Schedules that may apply.
        TimePoint settled = TimePoint::min();       // Ticks up to this time are certainly settled.
        TimePoint settled_most = TimePoint::min();  // Later ticks are certainly unsettled.
        std::set<TimePoint> looks{};                // When polls found it due since its last run.
        Times runs{};
        Times kept{};
    };

    void ran(const RunRecurringJob& step, const RecurringRun& run, const Submitted& when);
    /// Checks the tick of a run that pushed a job, posted a timer, or retained the earlier job.
    void check_tick(const RunRecurringJob& step, const Account& account, const Settings& settings,
                    const Submitted& when) const;
    /// Checks the ticks that a run settled without running any.
    void check_passed(const RunRecurringJob& step, const Account& account,
                      const Settings& settings) const;
    void pushed(const RunRecurringJob& step, const RecurringRun& run);
    void took(const TakeTimers& step, const TakenTimers& taken, const Submitted& when);
    void must_be(const Tick& tick, JobId id);
    void must_be_in_time(const std::string& what, TimePoint due, TimePoint now,
                         TimePoint moment) const;
    [[nodiscard]] const Settings& settings_of(const std::string& name, const Uid& revision) const;

    SimulationContext& context_;
    std::map<std::string, Account> accounts_;
    std::map<Uid, Settings> settings_;  // By revision.
    std::map<Tick, JobId> jobs_;
    std::set<JobId> done_;   // Completed jobs of ticks and of triggers.
    std::set<JobId> owed_;   // Jobs that must still run.
    std::set<Tick> posted_;  // Ticks whose timers were, or may have been, posted.
    std::set<Tick> fired_;
    std::set<Tick> unfired_;  // Ticks whose timers were certainly posted, and have not fired.
    TimePoint scheduled_since_{};
};

}  // namespace routemaster::simulation
