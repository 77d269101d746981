/// @file
/// `DeliveryWorker`: runs the deliveries of a bus. A program needs a store, a `Bus` and a
/// `DeliveryWorker` to have its callbacks called.
///
///     auto store = open_store("file:shop.db").value();
///     Bus bus{*store};
///     bus.subscriber("billing").subscribe({"orders"}, [](const Batch& batch) { ... }).value();
///     DeliveryWorker worker{bus};                   // From here on callbacks are called.
///     ...
///     worker.stop(Duration{5'000});                 // Waits for deliveries in flight.
///
///     Bus ──► Callbacks ──► LocalTransport ─┐
///                           HttpTransport ──┴─► Dispatcher ──► Runner (a thread)

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/health.hpp"
#include "routemaster/log.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/transport.hpp"

namespace routemaster {

class Bus;

/// Settings of a `DeliveryWorker`.
struct DeliveryWorkerOptions {
    /// For subscribers outside this process. The worker shares the ownership of the transports, so
    /// they may be created in place:
    ///
    ///     DeliveryWorker worker{bus, {.transports = {std::make_shared<HttpTransport>()}}};
    std::vector<std::shared_ptr<Transport>> transports{};
    /// Number of threads that run the callbacks of the bus. As many callbacks run at once. At least
    /// 1, else the constructor throws `Failure`.
    std::size_t callback_threads = 1;
    /// Maximum number of deliveries in flight. A single subscriber gets only its fair share; see
    /// `Dispatcher`. At least 1, else the constructor throws `Failure`.
    std::uint32_t in_flight_max = DispatcherOptions{}.in_flight_max;
    HealthOptions health{};
    /// Another worker without a heartbeat for this long counts as dead; see `DispatcherOptions`.
    Duration worker_silence = DispatcherOptions{}.worker_silence;
    /// Maximum time between two polls of the queue, for example if a wake-up was lost.
    Duration poll_interval = DispatcherOptions{}.poll_interval;
    /// Null: the clock of the bus, or without a bus the machine's clock. Must outlive the worker.
    const Clock* clock = nullptr;
    Log log{};
};

/// A `Dispatcher` with its transports and a `Runner`, in one object. The worker delivers from its
/// construction to its destruction. Several workers, also in several processes, may share a store.
///
/// **Order.** Construct the store, the bus, and everything that callbacks use before the worker,
/// and destroy them after the worker. Variables and members declared in this order are destroyed
/// correctly. Subscribe the callbacks before you construct the worker, because batches from the
/// program's last run may be queued for them. A new subscriber may also subscribe later.
///
/// **Threads.** One thread acquires deliveries from the store and settles them. `callback_threads`
/// further threads run the callbacks. A callback may use the bus, blocking calls included. A
/// callback must neither stop nor destroy the worker, because that would be a deadlock.
///
/// **Stopping.** The destructor stops the worker as `stop` without grace does. No new delivery
/// begins, and unfinished deliveries return to the queue, for another worker or the next start. A
/// running callback cannot be interrupted, so the destructor waits for it, and settles its
/// delivery. After a crash, the unfinished deliveries are repeated: by another worker within 5 s,
/// or at the next start.
///
/// **Parts.** A program with different needs can combine the parts itself: a `Dispatcher`, polled
/// by the program's own loop or with a manual clock, a `LocalTransport`, and a `Runner`. `Monitor`,
/// `Autodrop` and `AdmissionControl` are not included: create a `Runner` for each of them.
///
/// Thread safety: call the constructor, `stop` and the destructor from one thread at a time. All
/// other members may be called from any thread.
class DeliveryWorker {
public:
    /// Delivers to the callbacks of `bus`, and through the transports of `options`. Starts at once.
    explicit DeliveryWorker(Bus& bus, DeliveryWorkerOptions options = {});

    /// Delivers only through the transports of `options`, for a process without callbacks. Throws
    /// `Failure` when there is no transport. Starts immediately.
    DeliveryWorker(Store& store, DeliveryWorkerOptions options);

    /// Stops the worker without grace, as `stop` does. If `stop` would throw, the destructor
    /// terminates the program with a message.
    ~DeliveryWorker();

    DeliveryWorker(const DeliveryWorker&) = delete;
    DeliveryWorker& operator=(const DeliveryWorker&) = delete;

    /// Begins no new delivery, and waits up to `grace` for deliveries in flight. The remaining
    /// deliveries return to the queue, for another worker or the next start. Returns when the store
    /// has committed all of this. If the store fails, returns at most 5 s after the grace, unless a
    /// callback still runs. Repeating the call does nothing. Throws `Failure` with `invalid` inside
    /// a callback, and inside a completion of a store.
    void stop(Duration grace);

    /// The number of deliveries in flight: acquired, and not yet settled.
    [[nodiscard]] std::size_t in_flight() const noexcept;

    /// Returns why nothing can be delivered now: an unhealthy transport, a store that does not
    /// reply, a blocked thread, or a worker that was stopped. Empty while the worker is healthy.
    /// One line for operators.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
