/// @file
/// `TimerListener`: hands the timers of a namespace to a handler when they are due.
///
///     take ──► waiting ──► handler ──► confirmed: gone
///                              ├────► failed: fires again, or dies
///                              └────► took too long: has fired again, or died

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "routemaster/active.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer_handler.hpp"
#include "routemaster/timer_listener_options.hpp"

namespace routemaster {

/// Takes timers that are due, hands them to its handler, and confirms them. Any number of them, in
/// any processes, may listen to a namespace: they take turns.
///
/// **When.** It sleeps until the next timer is due, or until the store says that one is due sooner.
/// No timer is handed out before its time. When the clock is set forward, what is overdue fires
/// within a second, in order; when it is set back, nothing fires twice.
///
/// **How often.** A timer without retries is handed out at most once: it is lost if the process
/// dies before its handler ran, or if the reply of the store is lost. One with retries comes again,
/// to any listener, until it is confirmed; a handler that takes longer than its time to confirm may
/// thus run twice, at the same time.
///
/// **Busy.** When all slots are taken, the others have the turn.
///
/// **Threads.** `start` makes one that talks to the store, and `TimerListenerOptions::threads` for
/// the handler, which may use the store, waiting calls included, but not stop the listener, and
/// must not destroy it. With a loop of its own a program calls `poll` instead of `start`, as
/// `Active` says; with `threads = 0` the handler runs inside it: nothing happens at the same time,
/// which suits tests on a `ManualClock`.
///
/// **The end.** It leaves, so that others have the turn, and lets the handler end what was taken,
/// within the grace. What has not begun by then is not handled: those without retries are lost, and
/// logged; the others fire again.
///
/// Thread safety: `status` and `trouble` from any thread; the rest from one at a time.
class TimerListener final : public Active {
public:
    /// The store must outlive it. Throws `Failure`, `invalid`, for a namespace that is none, an
    /// empty handler, and options out of range.
    TimerListener(Store& store, std::string space, TimerHandler handler,
                  TimerListenerOptions options = {});
    /// The same for a handler that confirms later.
    TimerListener(Store& store, std::string space, AsyncTimerHandler handler,
                  TimerListenerOptions options = {});

    /// Stops as `stop(0)` does, if it was started. One that was polled just ends: `close` it first.
    ~TimerListener() override;

    /// Only before it is polled by others, or after it was started.
    TimerListener(TimerListener&& other) noexcept;
    TimerListener& operator=(TimerListener&&) = delete;

    /// Begins to work, in threads of its own. Once, with `threads` above 0, and neither before nor
    /// after a `poll`, which throws, too: `Failure`, `invalid`. Throws `Failure` as well when the
    /// machine has no more threads, and is of no use then.
    void start();

    /// Ends what `start` began. Returns when no synchronous handler runs any more, and what was
    /// confirmed is confirmed in the store; if the store fails to, 5 s after the grace at the
    /// latest. Repeating it does nothing. Inside a completion of the store, and inside the handler,
    /// it throws `Failure`, `invalid`.
    void stop(Duration grace);

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;
    void close(TimePoint deadline) override;
    [[nodiscard]] bool closed() const override;

    /// Its name in the namespace.
    [[nodiscard]] const std::string& name() const noexcept;

    /// What it does now, and what it has done.
    [[nodiscard]] TimerListenerStatus status() const;

    /// Why it gets no timers: the store has not answered for 5 s, the thread is stuck, or it was
    /// stopped. Nothing when all is well.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
