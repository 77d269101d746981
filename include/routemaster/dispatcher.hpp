/// @file
/// `Dispatcher`: takes delivery jobs, hands their batches to a transport, and settles them.
///
///     acquire ──► begin ──► deliver ──► settle (delivered: gone │ failed: again after a wait, or
///                   │                                            DEAD)
///                   └─ throttled: nacked │ vanished: ended

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
    /// A batch goes by the first that serves its callback. They must outlive it.
    std::vector<Transport*> transports{};
    /// Deliveries under way at once. One subscriber gets no more than its fair share of them.
    std::uint32_t in_flight_max = 1'024;
    HealthOptions health{};
    // The next three are from 1 ms to a day.
    Duration heartbeat_interval{1'000};  ///< How often it says that it is alive.
    /// Other workers silent for so long are taken for dead. With the time until the next look at
    /// them and the delivery itself, what they had leased goes out again within 5 s. Longer than
    /// the `heartbeat_interval` of all.
    Duration worker_silence{3'500};
    Duration poll_interval{1'000};  ///< A look at the queue even when nobody woke it.
    Duration wake_grace{20};  ///< After several wake-ups for nothing, how long it ignores others.
    std::uint64_t seed = entropy();  ///< Of the jitter and of its name as a worker.
    Log log{};
};

/// Delivers what is due. Any number of them, in any processes, may share a store.
///
/// By default each subscriber has one delivery under way, so its batches arrive in order; see
/// `Subscription::max_in_flight`. A slow or dead subscriber delays nobody else. After a failure
/// the batch comes again at its `retry_time`, without limit of attempts, until it is delivered, its
/// subscriber is gone, or it becomes DEAD as its subscriber asked for (`Subscription::attempts_max`
/// and `age_max`), which is logged. A batch may arrive twice: after a crash, or when a lease was
/// lost.
///
/// An eighth of the deliveries that may be under way is a reserve. A subscriber with several under
/// way, 16 at first and more as they succeed, may have up to eight times as many as are free beyond
/// the reserve: alone it gets three quarters of all, and the more there are, the less each of them.
/// Into the reserve everybody comes with one delivery, unless those whose health is below its
/// maximum have all the rest already.
///
/// Thread safety: as `Active` says; `in_flight` and `trouble` from any thread.
class Dispatcher final : public Active {
public:
    /// The store must outlive it. Throws `Failure`, `invalid`, for times that its options forbid.
    Dispatcher(Store& store, DispatcherOptions options);
    ~Dispatcher() override;
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Lets deliveries under way end; at `deadline` the rest goes back to the queue, but for
    /// callbacks in this process that run: those are awaited, however long they take. What was
    /// delivered is settled even after the deadline, unless the store fails to do so for 5 s.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

    /// Deliveries under way: from the acquisition of a job to its settlement.
    [[nodiscard]] std::size_t in_flight() const noexcept;

    /// Why it cannot deliver anything now: the trouble of a transport, or the store has not
    /// answered for 5 s. Nothing when all is well.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
