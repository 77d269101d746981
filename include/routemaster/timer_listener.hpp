/// @file
/// `TimerListener`: calls a handler for each due timer of a namespace.
///
///     take ──► waiting ──► handler ──► confirmed: removed
///                              ├────► failed: fires again, or becomes DEAD
///                              └────► timed out: has fired again, or become DEAD

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

/// Polled object that acquires due timers from the store, passes them to a handler, and confirms
/// them. Several listeners, also in several processes, may share a namespace and its timers.
///
/// **When.** The listener sleeps until the next timer is due, or until the store reports a timer
/// that is due earlier. No timer is delivered before its due time. If the clock is set forward,
/// overdue timers fire within a second, in order. If the clock is set back, no timer fires twice.
///
/// **How often.** A timer without retries is delivered at most once. It is lost if the process
/// crashes before its handler ran, or if the reply of the store is lost. A timer with retries is
/// delivered again, to any listener, until it is confirmed. If a handler does not confirm a timer
/// in time, the timer may be handled twice, even concurrently.
///
/// **Load.** While all slots of a listener are in use, only the other listeners acquire timers.
///
/// **Threads.** `start` creates one thread for the store's requests, and
/// `TimerListenerOptions::threads` threads for the handler. The handler may use the store,
/// including blocking calls. It must not stop or destroy the listener. A program with its own event
/// loop calls `poll` instead of `start`; see `Active`. With `threads = 0` the handler runs inside
/// `poll`, one timer after another, which is useful for tests on a `ManualClock`.
///
/// **Stopping.** The listener leaves the namespace, so that other listeners get its timers, and
/// waits for running handlers within the grace period. Timers whose handler has not begun by then
/// are not handled. Those without retries are lost, which is logged; the rest fire again.
///
/// Thread safety: `status` and `trouble` may be called from any thread. Call all other members from
/// one thread at a time.
class TimerListener final : public Active {
public:
    /// The store must outlive the listener. Throws `Failure` with `invalid` for an invalid
    /// namespace, an empty handler, and options out of range.
    TimerListener(Store& store, std::string space, TimerHandler handler,
                  TimerListenerOptions options = {});
    /// Constructs a listener with an asynchronous handler, which confirms later.
    TimerListener(Store& store, std::string space, AsyncTimerHandler handler,
                  TimerListenerOptions options = {});

    /// Calls `stop(0)` if the listener was started. A listener that was polled instead is not
    /// closed: call `close` first. If `stop` would throw, the destructor terminates the program
    /// with a message.
    ~TimerListener() override;

    /// Allowed only after `start`, or before another object polls the listener.
    TimerListener(TimerListener&& other) noexcept;
    TimerListener& operator=(TimerListener&&) = delete;

    /// Starts the threads. May be called once, with `threads` above 0, and not together with
    /// `poll`; otherwise `start` or `poll` throws `Failure` with `invalid`. Also throws `Failure`
    /// if the system cannot create the threads; the listener is then unusable.
    void start();

    /// Stops a started listener. When `stop` returns, no synchronous handler runs any more, and all
    /// confirmations are stored. If the store is unavailable, `stop` returns at most 5 s after the
    /// grace period. Repeating the call does nothing. Throws `Failure` with `invalid` inside a
    /// completion of the store, and inside the handler.
    void stop(Duration grace);

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;
    void close(TimePoint deadline) override;
    [[nodiscard]] bool closed() const override;

    /// The name of the listener in its namespace.
    [[nodiscard]] const std::string& name() const noexcept;

    /// Counters of the listener since its construction, and its current load.
    [[nodiscard]] TimerListenerStatus status() const;

    /// Returns why the listener gets no timers: the store has not replied for 5 s, a thread is
    /// blocked, or the listener was stopped. Empty if the listener is healthy.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
