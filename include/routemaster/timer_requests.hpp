/// @file
/// `TimerRequests`: timers for listeners elsewhere, which ask for them with messages, over HTTP for
/// example.

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
    Duration poll_interval{1'000};  ///< A look at the timers even when nobody woke it.
    Duration idle_max{10'000};      ///< A namespace that nobody asks for so long is left.
    /// Requests that wait at once, and as many more whose `wait` is 0 until the store has replied.
    std::size_t waiting_max = 10'000;
    std::size_t spaces_max = 256;  ///< Namespaces in use at once.
    Log log{};
};

/// Timers that one request gets at most, of `timer_slice_bytes_max` together: it may get fewer than
/// are due.
inline constexpr std::uint32_t timers_per_request_max = 100;

/// How long a request may wait for a timer.
inline constexpr Duration timer_wait_max{30'000};

/// What a listener elsewhere asks for.
struct TimerRequest {
    std::string space{};      ///< `is_timer_name`.
    std::uint32_t limit = 1;  ///< 1 to `timers_per_request_max`.
    Duration wait{0};         ///< For a timer, up to `timer_wait_max`. 0: not at all.
    /// How long it may take to confirm those that do not say it themselves; from 1 ms to
    /// `timer_confirm_max`.
    Duration confirm_within{10'000};
    /// True once the client is gone, so that it is given nothing. Null: nobody knows.
    std::shared_ptr<const std::atomic<bool>> gone{};
};

/// Takes timers on behalf of listeners that cannot talk to the store themselves. In each namespace
/// they all are one listener to the store, which has no turn while none of them waits.
///
/// Those who wait for a namespace are served in their order, and a request that waits costs some
/// memory, and no thread. Timers are confirmed by `Delayer::confirm`, in any process.
///
/// **How often.** A timer without retries is handed out at most once: it is lost when the client
/// does not get the answer. A client that is known to be gone is given none.
///
/// Needs a `Runner`. `close` answers those who wait with `unavailable`.
///
/// Thread safety: `take` and `drain` from any thread, the rest as `Active` says. Callbacks come
/// from the thread that polls; they must not block.
class TimerRequests final : public Active {
public:
    /// The store must outlive it.
    explicit TimerRequests(Store& store, TimerRequestsOptions options = {});

    /// Drops requests that wait without a call. `close` it first.
    ~TimerRequests() override;

    TimerRequests(const TimerRequests&) = delete;
    TimerRequests& operator=(const TimerRequests&) = delete;

    /// Takes timers as soon as some are due; none when `wait` is over. `unavailable` when too many
    /// wait, or the store has no answer.
    void take(TimerRequest request, std::function<void(Result<std::vector<FiredTimer>>)> done);

    /// From now on nobody waits: `unavailable`.
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
