/// @file
/// `RecurringJobs`: jobs that are pushed, and timers that are posted, periodically by a
/// schedule.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/job.hpp"
#include "routemaster/recurring_explanation.hpp"
#include "routemaster/recurring_job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/time.hpp"
#include "routemaster/typed_job.hpp"

namespace routemaster {

/// Settings of a recurring job besides its schedule and its job. See `RecurringSettings`.
struct RecurringOptions {
    /// A zone of the machine's time zone database, for example `Europe/Berlin`.
    std::string time_zone = "UTC";
    CatchUp catch_up = CatchUp::once;
    bool overlap = false;
    std::uint32_t attempts_max = 25;
    std::int32_t priority = 0;
    Duration timeout{0};
    Duration expires{0};
    JobMetadata metadata{};
};

/// Façade for the recurring jobs of a store. Recurring jobs are stored and shared by all processes.
/// A `RecurringScheduler` in any process pushes their jobs.
///
///     routemaster::RecurringJobs recurring{store};
///     recurring.every("ping", std::chrono::seconds{10}, "checks", {"ping", {}});
///     recurring.cron("report", "30 2 * * MON-FRI", "reports", {"report", {"sales"}},
///                    {.time_zone = "Europe/Berlin"});
///
/// A program may put its recurring jobs at each start. If the schedule is unchanged, the next tick
/// is unchanged, too, and missed ticks are handled by `CatchUp`. If the schedule has changed, its
/// ticks count from now. A paused recurring job stays paused.
///
/// **What a tick pushes.** A tick pushes one job, with all options such as `expires`. Its metadata
/// contain `recurring`, the name, and `tick`, the tick in milliseconds since the Unix epoch. By
/// default an equal job excludes the new job, as with any push. While the job of an earlier tick
/// waits or runs, a tick therefore pushes nothing. If the earlier job is BURIED, the tick kicks it,
/// and its `tick` is unchanged. With `overlap`, each tick pushes a separate job.
///
/// **Recurring timers.** A tick may post a timer instead of a job: see `Delayer::cron`,
/// `Delayer::every`, or `put` with `RecurringSettings::timer`. The list of recurring jobs contains
/// recurring timers too, and all members of this class work for both.
///
/// As in `Bus`, every call exists in two forms: the first blocks, the second calls `done`.
///
/// Thread safety: all members may be called from any thread.
class RecurringJobs {
public:
    /// The store and the clock must outlive the object.
    explicit RecurringJobs(Store& store, const Clock& clock = system_clock())
        : store_{store}, clock_{clock} {}

    /// Adds a recurring job, or changes the recurring job with this name. `invalid`, naming the
    /// field, if the name, queue, schedule or time zone is wrong, for `CatchUp::all` without
    /// `overlap`, and if a push with these settings, or the post of the timer, would be `invalid`.
    Result<void> put(std::string name, RecurringSettings settings);
    void put(std::string name, RecurringSettings settings, std::function<void(Result<void>)> done);

    /// Puts a recurring job with a cron expression; see `JobSchedule`.
    Result<void> cron(std::string name, std::string expression, std::string queue, const Job& job,
                      RecurringOptions options = {});

    /// Puts a recurring job with an interval, from 1 s to 3,650 days, in whole seconds. Its ticks
    /// are multiples of the interval since 1970-01-01T00:00:00Z.
    Result<void> every(std::string name, Duration interval, std::string queue, const Job& job,
                       RecurringOptions options = {});

    /// Puts a recurring job whose job is a struct of the program.
    template <TypedJob T>
    Result<void> cron(std::string name, std::string expression, std::string queue, const T& job,
                      RecurringOptions options = {}) {
        return cron(std::move(name), std::move(expression), std::move(queue), to_job(job),
                    std::move(options));
    }
    template <TypedJob T>
    Result<void> every(std::string name, Duration interval, std::string queue, const T& job,
                       RecurringOptions options = {}) {
        return every(std::move(name), interval, std::move(queue), to_job(job), std::move(options));
    }

    /// Returns a recurring job, or nothing if no recurring job has this name. Its `next_at` is the
    /// next tick, or a tick that is already due.
    [[nodiscard]] Result<std::optional<RecurringJob>> find(std::string name) const;
    void find(std::string name,
              std::function<void(Result<std::optional<RecurringJob>>)> done) const;

    /// Returns what a recurring job waits for, or nothing if no recurring job has this name.
    /// `to_text` formats the explanation.
    [[nodiscard]] Result<std::optional<RecurringExplanation>> explain(std::string name) const;
    void explain(std::string name,
                 std::function<void(Result<std::optional<RecurringExplanation>>)> done) const;

    /// A page of the recurring jobs, in the order of their names.
    [[nodiscard]] Result<std::vector<RecurringJob>> list(Page page = {.after = {},
                                                                      .limit = 100}) const;
    void list(Page page, std::function<void(Result<std::vector<RecurringJob>>)> done) const;

    /// Pauses a recurring job: no tick runs until it is resumed. Returns false if no recurring job
    /// has this name. Pausing a paused recurring job is no error.
    Result<bool> pause(std::string name);
    void pause(std::string name, std::function<void(Result<bool>)> done);

    /// Resumes a recurring job: ticks run from now on. Ticks during the pause do not run, whatever
    /// `CatchUp` says. Returns false if no recurring job has this name. Resuming one that is not
    /// paused is no error.
    Result<bool> resume(std::string name);
    void resume(std::string name, std::function<void(Result<bool>)> done);

    /// Pushes the job, or posts the timer, now, regardless of the schedule and of a pause. A
    /// duplicate changes nothing. Returns nothing if no recurring job has this name. For a timer,
    /// the returned id is 0, and `duplicate` means that the timer of an earlier tick is still
    /// PENDING or FIRED. With `overlap`, a trigger always posts a new timer. The `tick` of the job
    /// is the current time. If this is a whole second, 1 ms is added, to distinguish it from the
    /// ticks of schedules.
    Result<std::optional<Pushed>> trigger(std::string name);
    void trigger(std::string name, std::function<void(Result<std::optional<Pushed>>)> done);

    /// Removes a recurring job. Its pushed jobs and posted timers are unchanged.
    Result<Removal> remove(std::string name);
    void remove(std::string name, std::function<void(Result<Removal>)> done);

private:
    Store& store_;
    const Clock& clock_;
};

}  // namespace routemaster
