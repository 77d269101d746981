/// @file
/// `ActionRunner`: does what timers with an action are to do, when they fire.
///
///     take ──► action ──► done, and the timer confirmed, one step: gone
///                 │           ├── refused for now: again, soon
///                 │           └── refused for good ──► DEAD
///                 └── not readable ──► DEAD

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "routemaster/active.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/log.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer_listener_options.hpp"

namespace routemaster {

/// Settings of an `ActionRunner`.
struct ActionRunnerOptions {
    /// How long after its firing a timer fires again that was not completed, as its runner died for
    /// example. Less than 1 ms is 1 ms.
    Duration confirm_within{10'000};
    /// A look at the timers even when nothing is due and nobody woke it; 1 ms at least.
    Duration poll_interval{1'000};
    const Clock* clock = nullptr;  ///< Null: the clock of the machine. Must outlive the runner.
    Log log{};
};

/// Does the actions of the timers of a store (`ActionTimers`). Any number of them, in any
/// processes, may share it: they take turns, as listeners do. The service runs one; a program that
/// has the store to itself gives one a `Runner`:
///
///     routemaster::ActionRunner actions{store};
///     routemaster::Runner running{actions};
///
/// An action is taken at least once, and done once: it is done in the step that confirms its
/// firing, and that is done only while the firing waits to be confirmed. So neither a crash nor a
/// lost reply does it twice, or drops it. No action is done before its time.
///
/// Thread safety: `status` and `trouble` from any thread; the rest as `Active` says.
class ActionRunner final : public Active {
public:
    /// The store must outlive it.
    explicit ActionRunner(Store& store, ActionRunnerOptions options = {});
    ~ActionRunner() override;
    ActionRunner(const ActionRunner&) = delete;
    ActionRunner& operator=(const ActionRunner&) = delete;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Takes no more timers, and lets what was sent end by the deadline.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

    /// What it has done. Of the `handled`, those that the store refused for good are among the
    /// `failed`, too.
    [[nodiscard]] TimerListenerStatus status() const;

    /// Why it takes no timers: the store has not answered for 5 s. Nothing when all is well.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
