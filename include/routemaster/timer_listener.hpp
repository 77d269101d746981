/// @file
/// `TimerListener`: passes the timers of a namespace to a handler when they are due.
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

/// Takes due timers from the store, passes them to its handler, and confirms them. Any number of
/// listeners, in any processes, may listen to a namespace, and take timers in turns.
///
/// **When.** The listener sleeps until the next timer is due, or until the store reports an earlier
/// timer. No timer is delivered before its due time. If the clock is set forward, overdue timers
/// fire within a second, in order. If the clock is set back, no timer fires twice.
///
/// **How often.** A timer without retries is delivered at most once: it is lost if the process dies
/// before the handler ran, or if the reply of the store is lost. A timer with retries is delivered
/// again, to any listener, until it is confirmed. If a handler takes longer than its time to
/// confirm, the handler may run twice, even at the same time.
///
/// **Busy.** While all slots of a listener are taken, the remaining listeners take the timers.
///
/// **Threads.** `start` makes one thread that talks to the store, and
/// `TimerListenerOptions::threads` threads for the handler. The handler may use the store,
/// including blocking calls. It must not stop or destroy the listener. A program with its own event
/// loop calls `poll` instead of `start`, see `Active`. With `threads = 0` the handler runs inside
/// `poll`, one timer after another, which suits tests on a `ManualClock`.
///
/// **The end.** The listener leaves the namespace, so that the remaining listeners take over, and
/// waits for its handlers within the grace period. Timers that have not begun by then are not
/// handled: timers without retries are lost, and logged; the rest fire again.
///
/// Thread safety: `status` and `trouble` may be called from any thread; all else from one thread at
/// a time.
class TimerListener final : public Active {
public:
    /// The store must outlive the listener. Throws `Failure` with `invalid` for a wrong name of a
    /// namespace, an empty handler, and options out of range.
    TimerListener(Store& store, std::string space, TimerHandler handler,
                  TimerListenerOptions options = {});
    /// Constructs a listener with an asynchronous handler, which confirms later.
    TimerListener(Store& store, std::string space, AsyncTimerHandler handler,
                  TimerListenerOptions options = {});

    /// Calls `stop(0)` if the listener was started. If the listener was polled, nothing is closed:
    /// call `close` first. Where `stop` of a running listener throws, the destructor ends the
    /// program with a message.
    ~TimerListener() override;

    /// Allowed only before another object polls the listener, or after `start`.
    TimerListener(TimerListener&& other) noexcept;
    TimerListener& operator=(TimerListener&&) = delete;

    /// Starts the threads. May be called once, with `threads` above 0, and not together with
    /// `poll`; else throws `Failure` with `invalid`, as a `poll` after `start` does. Also throws
    /// `Failure` if the machine has no more threads; the listener is then unusable.
    void start();

    /// Ends the work that `start` began. When `stop` returns, no synchronous handler runs any more,
    /// and all confirmations are stored; if the store is unavailable, `stop` returns at the latest
    /// 5 s after the grace period. Repeating the call does nothing. Inside a completion of the
    /// store, and inside the handler, throws `Failure` with `invalid`.
    void stop(Duration grace);

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;
    void close(TimePoint deadline) override;
    [[nodiscard]] bool closed() const override;

    /// The name of the listener in its namespace.
    [[nodiscard]] const std::string& name() const noexcept;

    /// What the listener does now, and has done since its construction.
    [[nodiscard]] TimerListenerStatus status() const;

    /// Why the listener gets no timers: the store has not replied for 5 s, the thread is stuck, or
    /// the listener was stopped. Nothing if the listener is healthy.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
