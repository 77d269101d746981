/// @file
/// `RecurringScheduler`: pushes the jobs of recurring jobs, and posts recurring timers, at their
/// ticks.
///
///     look ──► due? ──► settle the tick and push its job, one step ──► look again
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
    /// A look at the store even when nobody woke it. At least 1 ms.
    Duration poll_interval{1'000};
    /// Of its name among the workers of the store; by default each draws its own.
    std::optional<std::uint64_t> seed{};
    Log log{};
};

/// What a scheduler has done since it was made.
struct RecurringSchedulerStatus {
    std::uint64_t pushed = 0;  ///< Ticks whose job it pushed, or whose timer it posted.
    std::uint64_t kept = 0;    ///< Ticks at which that of a former one was there still.
    std::uint64_t stale = 0;   ///< Ticks that another scheduler was faster to run.
    /// Recurring jobs whose next tick it computed anew, as the clock had run ahead.
    std::uint64_t rescheduled = 0;

    friend bool operator==(const RecurringSchedulerStatus&,
                           const RecurringSchedulerStatus&) = default;
};

/// Runs the recurring jobs of a store. Any number of them, in any processes, may share it: none is
/// the leader, and each tick is run once, by whoever comes first. A tick is settled, and its job
/// pushed or its timer posted, in one step of the store, and only if nobody settled it before; so
/// neither a crash nor a lost reply runs a tick twice, or drops one.
///
/// It is an object of its own, and no part of a `WorkerPool`, as who pushes and who works may be
/// different processes. Give it a `Runner`:
///
///     routemaster::RecurringScheduler scheduler{store};
///     routemaster::Runner running{scheduler};
///
/// It sleeps until the next tick, and is woken when a recurring job is put or resumed; a wake-up
/// that another process sent may be lost, so it also looks each `poll_interval`. What time it is
/// says the clock of the store: on Redis the server's, whatever the schedulers' clocks show. When
/// it is set forward, the ticks in between count as missed (`CatchUp`). When it is set back by up
/// to `recurring_step_back_max`, ten minutes, no tick runs twice: the ticks until then are settled.
/// When it is further behind, it had run ahead: the next tick is computed anew from what the clock
/// shows now, which is logged, and counted in `recurring.rescheduled`. Of the ticks that were run
/// ahead of their time the last one is not run again, those before it are. Schedulers look for that
/// when they begin, and when the clock was set back.
///
/// With its looks, at most once in a `poll_interval`, a scheduler says that it is alive, as workers
/// do (`Heartbeat`), so that `RecurringJobs::explain` knows whether a scheduler runs.
///
/// A recurring job that it cannot run, because its zone is not known on this machine or its queue
/// is damaged, is logged once, and left to others. Up to 900 such keep no other from running.
///
/// Thread safety: `status` from any thread; the rest as `Active` says.
class RecurringScheduler final : public Active {
public:
    /// The store must outlive it.
    explicit RecurringScheduler(Store& store, RecurringSchedulerOptions options = {});
    ~RecurringScheduler() override;
    RecurringScheduler(const RecurringScheduler&) = delete;
    RecurringScheduler& operator=(const RecurringScheduler&) = delete;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Runs no further tick, and lets a step under way end by the deadline.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

    /// What it has done.
    [[nodiscard]] RecurringSchedulerStatus status() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
