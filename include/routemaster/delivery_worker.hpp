/// @file
/// `DeliveryWorker`: runs the deliveries of a bus. A program needs a store, a `Bus` and a
/// `DeliveryWorker` to have its callbacks called.
///
///     auto store = open_store("file:shop.db").value();
///     Bus bus{*store};
///     bus.subscriber("billing").subscribe({"orders"}, [](const Batch& batch) { ... }).value();
///     DeliveryWorker worker{bus};                   // From here on callbacks are called.
///     ...
///     worker.stop(Duration{5'000});                 // Lets deliveries under way finish.
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
    /// Threads that run the callbacks of the bus, and so the number of callbacks that run at once.
    /// At least 1, else the constructor throws `Failure`.
    std::size_t callback_threads = 1;
    /// The most deliveries under way at once. One subscriber gets no more than its fair share: see
    /// `Dispatcher`. At least 1, else the constructor throws `Failure`.
    std::uint32_t in_flight_max = DispatcherOptions{}.in_flight_max;
    HealthOptions health{};
    /// Other workers that are silent for this long count as dead; see `DispatcherOptions`.
    Duration worker_silence = DispatcherOptions{}.worker_silence;
    /// The worker checks the queue at least this often, even if nothing wakes it.
    Duration poll_interval = DispatcherOptions{}.poll_interval;
    /// Null: the clock of the bus, or without a bus the machine's clock. Must outlive the worker.
    const Clock* clock = nullptr;
    Log log{};
};

/// A `Dispatcher` with its transports and a `Runner`, in one object. The worker delivers from its
/// construction to its destruction. Several workers, also in several processes, may share a store.
///
/// **Order.** Construct the store, the bus, and everything that callbacks use before the worker,
/// and destroy them after the worker. Variables and members declared in this order follow the rule.
/// Subscribe the callbacks before you construct the worker: batches of the program's last run may
/// be waiting for them. A new subscriber may also subscribe later.
///
/// **Threads.** One thread takes deliveries from the store and settles them. `callback_threads`
/// further threads run the callbacks. A callback may use the bus, blocking calls included. A
/// callback must neither stop nor destroy the worker, because the call would wait for itself.
///
/// **Stopping.** The destructor stops the worker as `stop` without grace: no new delivery begins,
/// and unfinished deliveries return to the queue, for another worker or the next start. A running
/// callback cannot be interrupted: the destructor waits for the callback, and settles its delivery.
/// After a crash, another worker repeats the unfinished deliveries within 5 s, or the next start
/// does.
///
/// **Parts.** A program with different needs can use the parts: a `Dispatcher`, polled by a loop of
/// the program or with a manual clock, a `LocalTransport`, and a `Runner`. `Monitor`, `Autodrop`
/// and `AdmissionControl` are not included: give each of them a `Runner`.
///
/// Thread safety: call the constructor, `stop` and the destructor from one thread at a time. All
/// other members may be called from any thread.
class DeliveryWorker {
public:
    /// Delivers to the callbacks of `bus`, and through the transports of `options`. Starts at once.
    explicit DeliveryWorker(Bus& bus, DeliveryWorkerOptions options = {});

    /// Delivers only through the transports of `options`, for a process without callbacks. Throws
    /// `Failure` when there is no transport. Starts at once.
    DeliveryWorker(Store& store, DeliveryWorkerOptions options);

    /// Stops the worker without grace, as `stop` does. Where `stop` throws, the destructor ends the
    /// program with a message.
    ~DeliveryWorker();

    DeliveryWorker(const DeliveryWorker&) = delete;
    DeliveryWorker& operator=(const DeliveryWorker&) = delete;

    /// Begins no new delivery, and lets deliveries under way finish for up to `grace`. The rest
    /// return to the queue, for another worker or the next start. Returns when the store has
    /// recorded all of this, or at most 5 s after the grace if the store fails, unless a callback
    /// still runs. Repeating it does nothing. Inside a callback, and inside a completion of a
    /// store, throws `Failure` with `invalid`.
    void stop(Duration grace);

    /// The number of deliveries under way: acquired, and not yet settled.
    [[nodiscard]] std::size_t in_flight() const noexcept;

    /// Why nothing can be delivered now: an unhealthy transport, a store that does not reply, a
    /// thread that is stuck, or a worker that was stopped. Nothing while the worker is healthy. One
    /// line for operators.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
