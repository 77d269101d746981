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
    /// Maximum time between two polls of the store, if no wake-up arrives. At least 1 ms.
    Duration poll_interval{1'000};
    /// Seed for the scheduler's worker id; by default random.
    std::optional<std::uint64_t> seed{};
    Log log{};
};

/// Counters of a scheduler since its construction.
struct RecurringSchedulerStatus {
    /// Ticks for which this scheduler pushed a job or posted a timer.
    std::uint64_t pushed = 0;
    /// Ticks at which the job or timer of an earlier tick existed, so that nothing was pushed.
    std::uint64_t kept = 0;
    std::uint64_t stale = 0;  ///< Ticks that another scheduler settled first.
    /// Recurring jobs whose next tick was recomputed, because the clock had been ahead.
    std::uint64_t rescheduled = 0;

    friend bool operator==(const RecurringSchedulerStatus&,
                           const RecurringSchedulerStatus&) = default;
};

/// Polled object that pushes the jobs of a store's recurring jobs. Several schedulers, also in
/// several processes, may share a store; there is no leader. One atomic step settles a tick and
/// pushes its job or posts its timer, and does nothing if the tick is already settled. The first
/// scheduler to do this runs the tick. A crash or a lost reply neither repeats nor drops a tick.
///
/// A scheduler is not part of a `WorkerPool`, because schedulers and workers may run in different
/// processes. Give the scheduler a `Runner`:
///
///     routemaster::RecurringScheduler scheduler{store};
///     routemaster::Runner running{scheduler};
///
/// The scheduler sleeps until the next tick, and is woken when a recurring job is put or resumed. A
/// wake-up from another process may be lost, so the scheduler also polls at least once per
/// `poll_interval`.
///
/// **Clocks.** Only the clock of the store counts: on Redis the server's clock, not the schedulers'
/// clocks. If the clock is set forward, the ticks in between count as missed (`CatchUp`). If the
/// clock is set back by up to `recurring_step_back_max` (ten minutes), no tick runs twice, because
/// the ticks until then are settled. If the clock is set back further, it is assumed to have been
/// ahead before. Then the next tick is recomputed from the current time, which is logged, and
/// counted in `recurring.rescheduled`. The last tick that ran too early does not run again, but the
/// ticks before it do. Schedulers check for this case at their start, and when the clock is set
/// back.
///
/// **Heartbeats.** With its polls, at most once per `poll_interval`, a scheduler sends a
/// `Heartbeat`, as workers do. `RecurringJobs::explain` uses these heartbeats to detect whether a
/// scheduler runs.
///
/// **Errors.** A scheduler cannot run a recurring job if this machine does not know its time zone,
/// or if its queue is damaged. It then logs the error once, and leaves the recurring job to other
/// schedulers. Up to 900 such jobs do not block the rest.
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

    /// Runs no further tick, and waits for the current step until the deadline.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

    /// Returns the counters of this scheduler.
    [[nodiscard]] RecurringSchedulerStatus status() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
