/// @file
/// `Dispatcher`: acquires delivery jobs, passes their batches to a transport, and settles the jobs.
///
///     acquire ──► begin ──► deliver ──► settle (delivered: removed │ failed: retried, or
///                   │                                            DEAD)
///                   └─ subscriber throttled: job released │ subscriber removed: job removed

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
    /// A batch is delivered through the first transport that serves its callback. The transports
    /// must outlive the dispatcher.
    std::vector<Transport*> transports{};
    /// Maximum number of deliveries in flight. A single subscriber gets only its fair share; see
    /// `Dispatcher`.
    std::uint32_t in_flight_max = 1'024;
    HealthOptions health{};
    // The next three durations must be from 1 ms to a day.
    Duration heartbeat_interval{1'000};  ///< The time between two heartbeats.
    /// Another worker without a heartbeat for this long counts as dead, and its leases end. By
    /// default the batches of a dead worker are delivered again within 5 s, including the next
    /// check for dead workers and the delivery. Must be longer than the `heartbeat_interval` of all
    /// workers.
    Duration worker_silence{3'500};
    Duration poll_interval{1'000};  ///< Maximum time between two polls of the queue.
    /// For this long wake-ups are ignored, after several wake-ups that found no work.
    Duration wake_grace{20};
    std::uint64_t seed = entropy();  ///< Seed for the jitter and the worker id.
    Log log{};
};

/// Polled object that delivers due batches to their subscribers. Several dispatchers, also in
/// several processes, may share a store.
///
/// By default each subscriber has one delivery in flight, so its batches arrive in order; see
/// `Subscription::max_in_flight`. A slow or unreachable subscriber delays no other subscriber. A
/// failed batch is retried at its `retry_time`, until it is delivered or its subscriber is removed.
/// The number of attempts is unlimited, unless the subscriber sets a limit
/// (`Subscription::attempts_max` or `age_max`). At the limit the batch becomes DEAD, which is
/// logged. A crash or a lost lease may deliver a batch twice.
///
/// **Fair shares.** An eighth of `in_flight_max` is reserved for first deliveries: the only
/// delivery in flight of its subscriber. Outside the reserve, a subscriber may first have 16
/// deliveries in flight. Each success raises this limit, up to eight times the number of free
/// deliveries. A single subscriber can thus use about three quarters of `in_flight_max`, and
/// several subscribers smaller shares. While unhealthy subscribers (below full health) use
/// everything outside the reserve, they may not use the reserve.
///
/// Thread safety: `in_flight` and `trouble` may be called from any thread. For the rest, see
/// `Active`.
class Dispatcher final : public Active {
public:
    /// The store must outlive the dispatcher. Throws `Failure` with `invalid` for durations out of
    /// range.
    Dispatcher(Store& store, DispatcherOptions options);
    ~Dispatcher() override;
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Waits for deliveries in flight. At `deadline` the remaining deliveries return to the queue,
    /// except running callbacks of this process, which are awaited without a limit. Finished
    /// deliveries are settled even after `deadline`, unless the store fails to do so for 5 s.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

    /// The number of deliveries in flight: acquired, and not yet settled.
    [[nodiscard]] std::size_t in_flight() const noexcept;

    /// Returns why nothing can be delivered now: an unhealthy transport, or a store that has not
    /// replied for 5 s. Empty while the dispatcher is healthy.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
