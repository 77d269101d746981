/// @file
/// `ActionRunner`: performs the actions of timers when the timers fire.
///
///     take ──► action ──► done, and the timer confirmed, in one step: gone
///                 │           ├── refused for now: repeated soon
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
    /// A timer whose action was not completed fires again this long after its firing, for example
    /// after its runner died. Less than 1 ms counts as 1 ms.
    Duration confirm_within{10'000};
    /// The runner checks for due timers at least this often, even if nothing wakes it. Less than
    /// 1 ms counts as 1 ms.
    Duration poll_interval{1'000};
    const Clock* clock = nullptr;  ///< Null: the machine's clock. Must outlive the runner.
    Log log{};
};

/// Performs the actions of a store's timers (`ActionTimers`). Several runners may share a store,
/// also from several processes; the runners take turns, as listeners do. The service has a runner.
/// A program without the service creates a runner, and a `Runner` to poll it:
///
///     routemaster::ActionRunner actions{store};
///     routemaster::Runner running{actions};
///
/// A due timer that a runner has taken is a *firing*. Each action is taken at least once and
/// performed once: an atomic step of the store performs the action and confirms the firing, and
/// does nothing unless the firing still waits for its confirmation. A crash or a lost reply
/// therefore neither repeats nor drops an action. No action is performed before its time.
///
/// Thread safety: `status` and `trouble` may be called from any thread. For the rest, see `Active`.
class ActionRunner final : public Active {
public:
    /// The store must outlive the runner.
    explicit ActionRunner(Store& store, ActionRunnerOptions options = {});
    ~ActionRunner() override;
    ActionRunner(const ActionRunner&) = delete;
    ActionRunner& operator=(const ActionRunner&) = delete;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Takes no more timers. Actions that were already sent to the store may finish until
    /// `deadline`.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

    /// The counts of this runner. An action that the store refused for good counts in both
    /// `handled` and `failed`.
    [[nodiscard]] TimerListenerStatus status() const;

    /// Why the runner takes no timers: the store has not replied for 5 s. Nothing while the runner
    /// is healthy.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
