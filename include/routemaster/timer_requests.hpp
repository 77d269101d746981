/// @file
/// `TimerRequests`: timers for remote listeners, which request timers by messages, for example over
/// HTTP.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "routemaster/active.hpp"
#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/timer_firings.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of `TimerRequests`.
struct TimerRequestsOptions {
    Duration poll_interval{1'000};  ///< Longest time between two polls of the store.
    Duration idle_max{10'000};      ///< A namespace without requests for this long is left.
    /// How many requests may wait at once. Besides these, the same number of requests with a `wait`
    /// of 0 may wait for the reply of the store.
    std::size_t waiting_max = 10'000;
    std::size_t spaces_max = 256;  ///< Namespaces in use at once, at most.
    Log log{};
};

/// How many timers a request gets, at most, with `timer_slice_bytes_max` of payload together. A
/// request may get fewer timers than are due.
inline constexpr std::uint32_t timers_per_request_max = 100;

/// How long a request may wait for a timer.
inline constexpr Duration timer_wait_max{30'000};

/// A request of a remote listener.
struct TimerRequest {
    std::string space{};      ///< Must satisfy `is_timer_name`.
    std::uint32_t limit = 1;  ///< 1 to `timers_per_request_max`.
    Duration wait{0};         ///< How long to wait for a timer, up to `timer_wait_max`. 0: no wait.
    /// How long the listener may take to confirm timers that were posted without their own
    /// `confirm_within`; from 1 ms to `timer_confirm_max`.
    Duration confirm_within{10'000};
    /// Set to true when the client is gone: the request then gets no timer. Null: unknown.
    std::shared_ptr<const std::atomic<bool>> gone{};
};

/// Takes timers on behalf of remote listeners, which cannot call the store. In each namespace all
/// remote listeners together are one listener to the store. While no request waits, this listener
/// gives its turn away.
///
/// The requests of a namespace are served in order. A waiting request uses some memory, but no
/// thread. `Delayer::confirm` confirms timers, in any process.
///
/// **How often.** A timer without retries is delivered at most once: it is lost if the client does
/// not receive the response. A client that is known to be gone gets no timers.
///
/// Needs a `Runner`. `close` ends waiting requests with `unavailable`.
///
/// Thread safety: `take` and `drain` may be called from any thread; for the rest see `Active`. The
/// polling thread calls the callbacks; they must not block.
class TimerRequests final : public Active {
public:
    /// The store must outlive the object.
    explicit TimerRequests(Store& store, TimerRequestsOptions options = {});

    /// Drops waiting requests without calling `done`. Call `close` first.
    ~TimerRequests() override;

    TimerRequests(const TimerRequests&) = delete;
    TimerRequests& operator=(const TimerRequests&) = delete;

    /// Takes timers as soon as some are due, and passes them to `done`; no timers if `wait` has
    /// passed. `unavailable` if too many requests wait, if too many namespaces are in use, or if
    /// the store is unavailable.
    void take(TimerRequest request, std::function<void(Result<std::vector<FiredTimer>>)> done);

    /// From now on no request waits: requests end with `unavailable`.
    void drain();

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;
    void close(TimePoint deadline) override;
    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
