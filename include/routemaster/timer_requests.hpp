/// @file
/// `TimerRequests`: delivers timers to remote listeners, which request timers by messages, for
/// example over HTTP.

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
#include "routemaster/store.hpp"
#include "routemaster/store/step/timer_firings.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of a `TimerRequests` object.
struct TimerRequestsOptions {
    Duration poll_interval{1'000};  ///< Maximum time between two polls of the store.
    Duration idle_max{10'000};      ///< For namespaces without requests, listening ends after this.
    /// Maximum number of requests that wait for timers. Requests with a `wait` of 0, which wait
    /// only for the reply of the store, are counted separately, with an equal limit.
    std::size_t waiting_max = 10'000;
    std::size_t spaces_max = 256;  ///< Maximum number of namespaces listened to.
    Log log{};
};

/// Maximum timers of a request, with at most `timer_slice_bytes_max` bytes of payloads together. A
/// request may get fewer timers than are due.
inline constexpr std::uint32_t timers_per_request_max = 100;

/// Maximum time for which a request may wait for a timer.
inline constexpr Duration timer_wait_max{30'000};

/// A request for timers by a remote listener.
struct TimerRequest {
    std::string space{};      ///< Must satisfy `is_timer_name`.
    std::uint32_t limit = 1;  ///< 1 to `timers_per_request_max`.
    Duration wait{0};         ///< Maximum wait for a timer, up to `timer_wait_max`. 0: none.
    /// How long the listener may take to confirm timers whose post did not set `confirm_within`;
    /// from 1 ms to `timer_confirm_max`.
    Duration confirm_within{10'000};
    /// Set to true when the client has disconnected: the request then gets no timer. Null: unknown.
    std::shared_ptr<const std::atomic<bool>> gone{};
};

/// Polled object that acquires timers for remote listeners, which cannot call the store. To the
/// store, all remote listeners of a namespace are a single listener. While no request waits, this
/// listener leaves due timers to other listeners.
///
/// The requests for a namespace are served in order of arrival. A waiting request uses some memory
/// and no thread. Timers are confirmed by `Delayer::confirm`, in any process.
///
/// **How often.** A timer without retries is delivered at most once: it is lost if the client does
/// not receive the response. A client known to have disconnected gets no timers.
///
/// Needs a `Runner`. `close` completes waiting requests with `unavailable`.
///
/// Thread safety: `take` and `drain` may be called from any thread; for the rest see `Active`. The
/// polling thread calls the callbacks, which must not block.
class TimerRequests final : public Active {
public:
    /// The store must outlive the object.
    explicit TimerRequests(Store& store, TimerRequestsOptions options = {});

    /// Drops waiting requests without calling `done`. Call `close` first.
    ~TimerRequests() override;

    TimerRequests(const TimerRequests&) = delete;
    TimerRequests& operator=(const TimerRequests&) = delete;

    /// Acquires timers as soon as some are due, and passes them to `done`. Passes no timers if
    /// `wait` has passed. `unavailable` if too many requests wait, if too many namespaces are in
    /// use, or if the store is unavailable.
    void take(TimerRequest request, std::function<void(Result<std::vector<FiredTimer>>)> done);

    /// Completes waiting requests and all further requests with `unavailable`.
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
