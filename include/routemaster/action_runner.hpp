/// @file
/// `ActionRunner`: performs the actions of timers when the timers fire.
///
///     take ──► action ──► done, and the timer confirmed and removed, in one step
///                 │           ├── rejected temporarily: retried
///                 │           └── rejected permanently ──► DEAD
///                 └── cannot be decoded ──► DEAD

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
    /// How long a runner has to complete an action. If the action is not complete by then, for
    /// example because the runner crashed, the timer fires again. Less than 1 ms counts as 1 ms.
    Duration confirm_within{10'000};
    /// Maximum time between two polls of the store, for example if a wake-up was lost. Less than 1
    /// ms counts as 1 ms.
    Duration poll_interval{1'000};
    const Clock* clock = nullptr;  ///< Null: the machine's clock. Must outlive the runner.
    Log log{};
};

/// Polled object that performs the actions of a store's timers (`ActionTimers`). Several runners,
/// also in several processes, may share a store. Each due timer goes to one runner. The service has
/// a runner. A program without the service creates a runner, and a `Runner` to poll it:
///
///     routemaster::ActionRunner actions{store};
///     routemaster::Runner running{actions};
///
/// A *firing* begins when a runner acquires a due timer. The store performs the action and confirms
/// the firing in one atomic step, which does nothing unless the firing awaits confirmation. An
/// action may thus be attempted several times, but is performed once: a crash or a lost reply
/// neither repeats nor drops an action. No action is performed before its due time.
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

    /// Acquires no more timers. Actions that were already sent to the store may finish until
    /// `deadline`.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

    /// The counters of this runner. An action that the store rejected permanently counts in both
    /// `handled` and `failed`.
    [[nodiscard]] TimerListenerStatus status() const;

    /// Returns why the runner acquires no timers: the store has not replied for 5 s. Empty while
    /// the runner is healthy.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
