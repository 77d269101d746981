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
    /// random name.
    std::string name{};
    /// Number of threads that run the handler. 0: the handler runs inside `poll`.
    std::size_t threads = 1;
    /// Maximum number of timers handled at once. 0: equal to `threads`, and at least 1. A greater
    /// number is useful for asynchronous handlers.
    std::size_t concurrency = 0;
    /// Maximum number of timers that are prefetched: acquired before a slot is free, so that slots
    /// need not wait for the store. The listener prefetches at most the number of timers that it
    /// handled in the last 20 ms. If the process crashes, prefetched timers without retries are
    /// lost. If `threads` is 0, no timers are prefetched.
    std::size_t prefetch_max = 4'096;
    std::uint32_t batch_max = 1'000;  ///< Maximum timers per acquisition; 1 to `taken_timers_max`.
    /// How long the handler may take to confirm a timer whose post did not set `confirm_within`;
    /// from 1 ms to a day.
    Duration confirm_within{10'000};
    /// Maximum time between two polls of the store, even without a due timer or a wake-up; from 1
    /// ms to a day.
    Duration poll_interval{1'000};
    /// Null: the clock of the machine. Must outlive the listener. `poll` does not read this clock.
    const Clock* clock = nullptr;
    /// Settings for events that the handler publishes with `TimerContext::publish`.
    PublicationOptions publications{};
    Log log{};
};

/// Counters of a listener since its construction, and its current load.
struct TimerListenerStatus {
    std::size_t running = 0;  ///< Timers whose handler has started and not reported.
    std::size_t waiting = 0;  ///< Prefetched timers that wait for a slot.

    std::uint64_t taken = 0;
    std::uint64_t handled = 0;  ///< Timers that the handler confirmed, including `late` ones.
    /// Timers that failed: the handler threw, the payload could not be decoded, or the store
    /// rejected a job, event or timer that the handler added.
    std::uint64_t failed = 0;
    /// Timers that the handler confirmed too late: the timer had already fired again, become DEAD,
    /// or been replaced, or the store did not receive the confirmation in time.
    std::uint64_t late = 0;

    friend bool operator==(const TimerListenerStatus&, const TimerListenerStatus&) = default;
};

}  // namespace routemaster
