/// @file
/// `RecurringJobs`: jobs that are pushed again and again, by a schedule, and timers that are posted
/// so.

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

/// Settings of a recurring job beside its schedule and its job. See `RecurringSettings`.
struct RecurringOptions {
    std::string time_zone = "UTC";  ///< Of the machine's database, as `Europe/Berlin`.
    CatchUp catch_up = CatchUp::once;
    bool overlap = false;
    std::uint32_t attempts_max = 25;
    std::int32_t priority = 0;
    Duration timeout{0};
    Duration expires{0};
    JobMetadata metadata{};
};

/// The recurring jobs of a store. They are entities there, which all processes share: a
/// `RecurringScheduler` in any of them pushes their jobs.
///
///     routemaster::RecurringJobs recurring{store};
///     recurring.every("ping", std::chrono::seconds{10}, "checks", {"ping", {}});
///     recurring.cron("report", "30 2 * * MON-FRI", "reports", {"report", {"sales"}},
///                    {.time_zone = "Europe/Berlin"});
///
/// A program may put its recurring jobs at each start: one that has the same schedule as before
/// stays due when it was, and so catches up with what was missed (`CatchUp`). One with another
/// schedule begins anew, with its first tick from now on. Whether it is paused stays.
///
/// **What a tick pushes.** One job, `expires` and all, with the metadata `recurring`, the name, and
/// `tick`, the instant in milliseconds. By default an equal job excludes it, as with any push: as
/// long as the job of a former tick waits or runs, it is kept, and the tick pushes nothing. If it
/// is BURIED, the tick kicks it, with the `tick` that it had. With `overlap` each tick has a job of
/// its own.
///
/// **Recurring timers.** A tick may post a timer instead: `Delayer::cron` and `every` put such, or
/// `put` with `RecurringSettings::timer`. Their names are in one list with those of recurring jobs,
/// and all that is said here holds for them.
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread.
class RecurringJobs {
public:
    /// The store and the clock must outlive it.
    explicit RecurringJobs(Store& store, const Clock& clock = system_clock())
        : store_{store}, clock_{clock} {}

    /// Adds a recurring job, or changes the one of that name. `invalid`, naming the field, for a
    /// name or a queue that is none, a schedule or a zone that cannot be read, `CatchUp::all`
    /// without `overlap`, and whatever makes a push, or the post of a timer, invalid.
    Result<void> put(std::string name, RecurringSettings settings);
    void put(std::string name, RecurringSettings settings, std::function<void(Result<void>)> done);

    /// The same with a cron expression; see `JobSchedule`.
    Result<void> cron(std::string name, std::string expression, std::string queue, const Job& job,
                      RecurringOptions options = {});

    /// The same with an interval, from 1 s to 3,650 days in whole seconds, which is counted from
    /// 1970-01-01T00:00:00Z.
    Result<void> every(std::string name, Duration interval, std::string queue, const Job& job,
                       RecurringOptions options = {});

    /// The same with a struct of the program.
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

    /// A recurring job; nothing when there is none of that name. Its `next_at` is the next tick,
    /// or one that is due.
    [[nodiscard]] Result<std::optional<RecurringJob>> find(std::string name) const;
    void find(std::string name,
              std::function<void(Result<std::optional<RecurringJob>>)> done) const;

    /// What a recurring job waits for, which `to_text` says in words; nothing when there is none of
    /// that name.
    [[nodiscard]] Result<std::optional<RecurringExplanation>> explain(std::string name) const;
    void explain(std::string name,
                 std::function<void(Result<std::optional<RecurringExplanation>>)> done) const;

    /// A page of them, by name.
    [[nodiscard]] Result<std::vector<RecurringJob>> list(Page page = {.after = {},
                                                                      .limit = 100}) const;
    void list(Page page, std::function<void(Result<std::vector<RecurringJob>>)> done) const;

    /// Pauses one: none of its ticks runs until it is resumed. Returns false when there is none of
    /// that name; pausing one that is paused is no error.
    Result<bool> pause(std::string name);
    void pause(std::string name, std::function<void(Result<bool>)> done);

    /// Lets its ticks run from now on; those that passed while it was paused do not, whatever its
    /// `CatchUp` is. Otherwise as `pause`.
    Result<bool> resume(std::string name);
    void resume(std::string name, std::function<void(Result<bool>)> done);

    /// Pushes its job, or posts its timer, now, whatever its schedule says and though it is paused.
    /// A duplicate changes nothing. Nothing is returned when there is none of that name. Of a timer
    /// the id is 0, and `duplicate` says that the one of a former tick is PENDING or FIRED still;
    /// with `overlap` the trigger has one of its own. The `tick` of the job is that instant, or the
    /// millisecond behind it, so that it equals that of no tick.
    Result<std::optional<Pushed>> trigger(std::string name);
    void trigger(std::string name, std::function<void(Result<std::optional<Pushed>>)> done);

    /// Forgets one. What it pushed or posted stays.
    Result<Removal> remove(std::string name);
    void remove(std::string name, std::function<void(Result<Removal>)> done);

private:
    Store& store_;
    const Clock& clock_;
};

}  // namespace routemaster
