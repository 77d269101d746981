/// @file
/// `RecurringScheduler`: pushes the jobs of recurring jobs, and posts recurring timers, at their
/// ticks.
///
///     poll ──► due? ──► settle the tick and push its job, one step ──► poll again
///       ▲        └─ no: sleep until the next tick, a wake-up, or a second ─┘

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "routemaster/active.hpp"
#include "routemaster/log.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of a `RecurringScheduler`.
struct RecurringSchedulerOptions {
    /// Longest time between two polls of the store, if no wake-up comes. At least 1 ms.
    Duration poll_interval{1'000};
    /// Seed of the scheduler's id among the workers of the store; by default random.
    std::optional<std::uint64_t> seed{};
    Log log{};
};

/// What a scheduler has done since its construction.
struct RecurringSchedulerStatus {
    /// Ticks for which the scheduler pushed a job or posted a timer.
    std::uint64_t pushed = 0;
    /// Ticks at which the job or timer of an earlier tick still existed.
    std::uint64_t kept = 0;
    std::uint64_t stale = 0;  ///< Ticks that another scheduler ran first.
    /// Recurring jobs whose next tick was computed again, because the clock had run ahead.
    std::uint64_t rescheduled = 0;

    friend bool operator==(const RecurringSchedulerStatus&,
                           const RecurringSchedulerStatus&) = default;
};

/// Runs the recurring jobs of a store. Any number of schedulers, in any processes, may share a
/// store. There is no leader: the first scheduler that settles a tick runs it. A single step of the
/// store settles the tick and pushes the job or posts the timer, and only if the tick is not
/// settled yet. Therefore neither a crash nor a lost reply runs a tick twice or drops a tick.
///
/// A scheduler is not part of a `WorkerPool`, because schedulers and workers may run in different
/// processes. Give the scheduler a `Runner`:
///
///     routemaster::RecurringScheduler scheduler{store};
///     routemaster::Runner running{scheduler};
///
/// The scheduler sleeps until the next tick, and wakes up when a recurring job is put or resumed. A
/// wake-up from another process may be lost, and therefore the scheduler also polls each
/// `poll_interval`.
///
/// **Clocks.** Only the clock of the store counts: on Redis the server's clock, whatever the
/// schedulers' clocks show. If the clock is set forward, the ticks in between count as missed
/// (`CatchUp`). If the clock is set back by up to `recurring_step_back_max` (ten minutes), no tick
/// runs twice, because the ticks until then are settled. If the clock is set back further, it had
/// run ahead: the next tick is computed again from the current time, which is logged, and counted
/// in `recurring.rescheduled`. Of the ticks that ran too early, the last does not run again; the
/// ticks before it do. Schedulers check for this case when they begin, and when the clock was set
/// back.
///
/// **Heartbeats.** With its polls, at most once per `poll_interval`, a scheduler sends a
/// `Heartbeat`, as workers do. By these heartbeats `RecurringJobs::explain` knows whether a
/// scheduler runs.
///
/// **Errors.** If the scheduler cannot run a recurring job, because this machine does not know its
/// time zone or its queue is damaged, the scheduler logs the error once and leaves the job to the
/// remaining schedulers. Up to 900 such jobs do not block the rest.
///
/// Thread safety: `status` may be called from any thread; for the rest see `Active`.
class RecurringScheduler final : public Active {
public:
    /// The store must outlive the scheduler.
    explicit RecurringScheduler(Store& store, RecurringSchedulerOptions options = {});
    ~RecurringScheduler() override;
    RecurringScheduler(const RecurringScheduler&) = delete;
    RecurringScheduler& operator=(const RecurringScheduler&) = delete;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Runs no further tick, and lets the current step end by the deadline.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

    /// What the scheduler has done.
    [[nodiscard]] RecurringSchedulerStatus status() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
