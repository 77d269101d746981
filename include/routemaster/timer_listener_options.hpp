/// @file
/// Settings of a `TimerListener`, and what it reports of itself.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "routemaster/clock.hpp"
#include "routemaster/log.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of a `TimerListener`. What is out of range makes its constructor throw `Failure`.
struct TimerListenerOptions {
    /// Of its own among those of the namespace; `is_timer_name`. Empty: a fresh one.
    std::string name{};
    /// Threads that run the handler. 0: it runs inside `poll`.
    std::size_t threads = 1;
    /// Timers under way at once. 0: as many as threads, and at least one. More is for asynchronous
    /// handlers.
    std::size_t concurrency = 0;
    /// Timers that wait here for a slot, at most, so that slots do not wait for the store: no more
    /// than were handled in the last 20 ms. If the process dies, those of them that have no retries
    /// are lost. None if `threads` is 0.
    std::size_t prefetch_max = 4'096;
    std::uint32_t batch_max = 1'000;  ///< Timers of one question; 1 to `taken_timers_max`.
    /// How long the handler may take to confirm a timer whose post did not say; from 1 ms to a day.
    Duration confirm_within{10'000};
    /// A look at the timers even when nothing is due and nobody woke it; from 1 ms to a day.
    Duration poll_interval{1'000};
    /// Null: the clock of the machine. Must outlive the listener. `poll` does not read it.
    const Clock* clock = nullptr;
    /// Of events that the handler publishes with `TimerContext::publish`.
    PublicationOptions publications{};
    Log log{};
};

/// What a listener does now, and has done since it was made.
struct TimerListenerStatus {
    std::size_t running = 0;  ///< Timers under way: handed to the handler, and not reported.
    std::size_t waiting = 0;  ///< Timers that wait here for a slot.

    std::uint64_t taken = 0;
    std::uint64_t handled = 0;  ///< The handler returned, or confirmed. Of these some may be late.
    /// The handler threw, the payload could not be decoded, or what was to follow was refused.
    std::uint64_t failed = 0;
    /// Handled, but so late that the timer had been fired again, died, or been replaced; or the
    /// store did not learn of it in time.
    std::uint64_t late = 0;

    friend bool operator==(const TimerListenerStatus&, const TimerListenerStatus&) = default;
};

}  // namespace routemaster
