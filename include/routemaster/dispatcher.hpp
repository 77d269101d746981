/// @file
/// `Dispatcher`: takes delivery jobs, hands their batches to a transport, and settles the jobs.
///
///     acquire ──► begin ──► deliver ──► settle (delivered: gone │ failed: again after a wait, or
///                   │                                            DEAD)
///                   └─ subscriber must wait: job is returned │ subscriber is gone: job is ended

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/active.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/health.hpp"
#include "routemaster/log.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/transport.hpp"

namespace routemaster {

/// Settings of a `Dispatcher`.
struct DispatcherOptions {
    /// A batch goes to the first transport that serves its callback. The transports must outlive
    /// the dispatcher.
    std::vector<Transport*> transports{};
    /// The most deliveries under way at once. One subscriber gets no more than its fair share: see
    /// `Dispatcher`.
    std::uint32_t in_flight_max = 1'024;
    HealthOptions health{};
    // The next three durations must be from 1 ms to a day.
    Duration heartbeat_interval{1'000};  ///< The time from one heartbeat to the next.
    /// Other workers that are silent for this long count as dead, and their leases end. By default
    /// the batches of a dead worker are delivered again within 5 s, which includes the next check
    /// for dead workers and the delivery. Must be longer than the `heartbeat_interval` of all
    /// workers.
    Duration worker_silence{3'500};
    Duration poll_interval{1'000};  ///< The longest time between checks of the queue.
    /// How long wake-ups are ignored after several wake-ups without work.
    Duration wake_grace{20};
    std::uint64_t seed = entropy();  ///< Seed of the jitter and of the worker's id.
    Log log{};
};

/// Delivers batches that are due. Several dispatchers, also in several processes, may share a
/// store.
///
/// By default each subscriber has one delivery under way, so its batches arrive in order; see
/// `Subscription::max_in_flight`. A slow or dead subscriber delays no other subscriber. After a
/// failure the batch is retried at its `retry_time`, without a limit of attempts, until it is
/// delivered, or its subscriber is gone. If the subscriber set a limit
/// (`Subscription::attempts_max` or `age_max`), the batch becomes DEAD at the limit, which is
/// logged. After a crash, or when a lease was lost, a batch may arrive twice.
///
/// **Fair shares.** An eighth of `in_flight_max` is a reserve, for the first delivery of each
/// subscriber. Outside the reserve, a subscriber begins with at most 16 deliveries under way, and
/// may have more after successes, up to eight times the number of free deliveries. A single
/// subscriber gets about three quarters of `in_flight_max`; more subscribers get a smaller share
/// each. While unhealthy subscribers (below full health) use everything outside the reserve, the
/// reserve is closed to unhealthy subscribers.
///
/// Thread safety: `in_flight` and `trouble` may be called from any thread. For the rest, see
/// `Active`.
class Dispatcher final : public Active {
public:
    /// The store must outlive the dispatcher. Throws `Failure` with `invalid` for times out of
    /// range.
    Dispatcher(Store& store, DispatcherOptions options);
    ~Dispatcher() override;
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Lets deliveries under way finish. At `deadline` the rest return to the queue. Only running
    /// callbacks of this process are awaited, however long they take. Finished deliveries are
    /// settled even after `deadline`, unless the store fails to do so for 5 s.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

    /// The number of deliveries under way: acquired, and not yet settled.
    [[nodiscard]] std::size_t in_flight() const noexcept;

    /// Why nothing can be delivered now: an unhealthy transport, or a store that has not replied
    /// for 5 s. Nothing while the dispatcher is healthy.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
