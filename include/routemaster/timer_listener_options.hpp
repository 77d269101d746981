/// @file
/// Settings and status of a `TimerListener`.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "routemaster/clock.hpp"
#include "routemaster/log.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of a `TimerListener`. If a setting is out of range, the constructor of the listener
/// throws `Failure`.
struct TimerListenerOptions {
    /// The name of the listener, unique in its namespace; must satisfy `is_timer_name`. Empty: a
    /// new random name.
    std::string name{};
    /// Threads that run the handler. 0: the handler runs inside `poll`.
    std::size_t threads = 1;
    /// Timers under way at once. 0: equal to `threads`, and at least 1. A greater number is useful
    /// for asynchronous handlers.
    std::size_t concurrency = 0;
    /// How many timers may wait in the process for a slot, at most. Slots then need not wait for
    /// the store. The actual limit is the number of timers handled in the last 20 ms. If the
    /// process dies, waiting timers without retries are lost. If `threads` is 0, no timer waits in
    /// the process.
    std::size_t prefetch_max = 4'096;
    std::uint32_t batch_max = 1'000;  ///< Timers per request to the store; 1 to `taken_timers_max`.
    /// How long the handler may take to confirm a timer that was posted without its own
    /// `confirm_within`; from 1 ms to a day.
    Duration confirm_within{10'000};
    /// Longest time between two requests to the store, even without a due timer or a wake-up; from
    /// 1 ms to a day.
    Duration poll_interval{1'000};
    /// Null: the clock of the machine. Must outlive the listener. `poll` does not read this clock.
    const Clock* clock = nullptr;
    /// Settings of events that the handler publishes with `TimerContext::publish`.
    PublicationOptions publications{};
    Log log{};
};

/// What a listener does now, and has done since its construction.
struct TimerListenerStatus {
    std::size_t running = 0;  ///< Timers that the handler has received and not reported yet.
    std::size_t waiting = 0;  ///< Timers that wait in the process for a slot.

    std::uint64_t taken = 0;
    std::uint64_t handled = 0;  ///< Timers that the handler confirmed, including late ones.
    /// Timers that failed: the handler threw, the payload could not be decoded, or a follow-up was
    /// refused.
    std::uint64_t failed = 0;
    /// Timers that the handler confirmed too late: the timer had already fired again, become DEAD,
    /// or been replaced, or the store did not receive the confirmation in time.
    std::uint64_t late = 0;

    friend bool operator==(const TimerListenerStatus&, const TimerListenerStatus&) = default;
};

}  // namespace routemaster
