/// @file
/// `RecurringJobs`: jobs that are pushed periodically by a schedule, and timers that are posted
/// periodically.

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
#include "routemaster/step/reply.hpp"
#include "routemaster/store.hpp"
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

/// The recurring jobs of a store. Recurring jobs are stored and shared by all processes. A
/// `RecurringScheduler` in any process pushes the jobs.
///
///     routemaster::RecurringJobs recurring{store};
///     recurring.every("ping", std::chrono::seconds{10}, "checks", {"ping", {}});
///     recurring.cron("report", "30 2 * * MON-FRI", "reports", {"report", {"sales"}},
///                    {.time_zone = "Europe/Berlin"});
///
/// A program may put its recurring jobs at each start. If the schedule is unchanged, the next tick
/// stays as it was, and missed ticks are handled by `CatchUp`. If the schedule has changed, the
/// first tick is the next one from now. A paused recurring job stays paused.
///
/// **What a tick pushes.** A tick pushes one job, with all options such as `expires`. Its metadata
/// contain `recurring`, the name, and `tick`, the tick in milliseconds since the Unix epoch. By
/// default an equal job excludes the new job, as with any push: while the job of an earlier tick
/// waits or runs, that job is kept, and the tick pushes nothing. If the earlier job is BURIED, the
/// tick kicks it; its `tick` is unchanged. With `overlap`, each tick pushes its own job.
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

    /// Puts a recurring job with an interval: from 1 s to 3,650 days, in whole seconds. Intervals
    /// are counted from 1970-01-01T00:00:00Z.
    Result<void> every(std::string name, Duration interval, std::string queue, const Job& job,
                       RecurringOptions options = {});

    /// Put a recurring job with a struct of the program as its job.
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

    /// A recurring job; nothing if no recurring job has this name. Its `next_at` is the next tick,
    /// or a tick that is already due.
    [[nodiscard]] Result<std::optional<RecurringJob>> find(std::string name) const;
    void find(std::string name,
              std::function<void(Result<std::optional<RecurringJob>>)> done) const;

    /// What a recurring job waits for; nothing if no recurring job has this name. `to_text` makes a
    /// text of the explanation.
    [[nodiscard]] Result<std::optional<RecurringExplanation>> explain(std::string name) const;
    void explain(std::string name,
                 std::function<void(Result<std::optional<RecurringExplanation>>)> done) const;

    /// A page of recurring jobs, in order of their names.
    [[nodiscard]] Result<std::vector<RecurringJob>> list(Page page = {.after = {},
                                                                      .limit = 100}) const;
    void list(Page page, std::function<void(Result<std::vector<RecurringJob>>)> done) const;

    /// Pauses a recurring job: no tick runs until the job is resumed. Returns false if no recurring
    /// job has this name. Pausing twice is not an error.
    Result<bool> pause(std::string name);
    void pause(std::string name, std::function<void(Result<bool>)> done);

    /// Resumes a recurring job: ticks run from now on. Ticks that passed during the pause do not
    /// run, whatever `CatchUp` says. Returns false if no recurring job has this name. Resuming
    /// twice is not an error.
    Result<bool> resume(std::string name);
    void resume(std::string name, std::function<void(Result<bool>)> done);

    /// Pushes the job, or posts the timer, now, whatever the schedule says, and even during a
    /// pause. A duplicate changes nothing. Returns nothing if no recurring job has this name.
    /// For a timer, the returned id is 0, and `duplicate` means that the timer of an earlier tick
    /// is still PENDING or FIRED; with `overlap`, a trigger always posts a new timer. The `tick` of
    /// the job is the current time, plus 1 ms if this is a whole second: ticks are whole seconds,
    /// and the trigger must not be taken for a tick.
    Result<std::optional<Pushed>> trigger(std::string name);
    void trigger(std::string name, std::function<void(Result<std::optional<Pushed>>)> done);

    /// Forgets a recurring job. Jobs already pushed and timers already posted stay.
    Result<Removal> remove(std::string name);
    void remove(std::string name, std::function<void(Result<Removal>)> done);

private:
    Store& store_;
    const Clock& clock_;
};

}  // namespace routemaster
