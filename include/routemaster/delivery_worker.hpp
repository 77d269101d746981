/// @file
/// `DeliveryWorker`: runs the deliveries of a bus. With a store and a `Bus` it is all that a
/// program needs for its callbacks to be called.
///
///     auto store = open_store("file:shop.db").value();
///     Bus bus{*store};
///     bus.subscriber("billing").subscribe({"orders"}, [](const Batch& batch) { ... }).value();
///     DeliveryWorker worker{bus};                   // From here on callbacks are called.
///     ...
///     worker.stop(Duration{5'000});                 // Lets those under way end.
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
    /// For subscribers elsewhere than in this process. The worker shares them, so they may be made
    /// in place:
    ///
    ///     DeliveryWorker worker{bus, {.transports = {std::make_shared<HttpTransport>()}}};
    std::vector<std::shared_ptr<Transport>> transports{};
    /// Threads for the callbacks of the bus: so many of them run at once. At least 1, or the
    /// constructor throws `Failure`.
    std::size_t callback_threads = 1;
    /// Deliveries under way at once. One subscriber gets no more than its fair share of them. At
    /// least 1, likewise.
    std::uint32_t in_flight_max = DispatcherOptions{}.in_flight_max;
    HealthOptions health{};
    /// Other workers silent for so long are taken for dead; see `DispatcherOptions`.
    Duration worker_silence = DispatcherOptions{}.worker_silence;
    /// A look at the queue even when nobody woke it.
    Duration poll_interval = DispatcherOptions{}.poll_interval;
    /// Null: the clock of the bus, or, without one, of the machine. Must outlive it.
    const Clock* clock = nullptr;
    Log log{};
};

/// A `Dispatcher` with its transports and a `Runner`, in one object that works from its
/// construction to its end. Any number of them, in any processes, may share a store.
///
/// **Order.** The store, the bus, and what callbacks use are constructed before it and destroyed
/// after it; declare them in that order, as variables or as members. Subscribe the callbacks first:
/// batches of the program's last run may be waiting for them. Subscribing later is fine for a
/// subscriber that is new.
///
/// **Threads.** One takes deliveries from the store and settles them; callbacks run on
/// `callback_threads` others. A callback may use the bus, waiting calls included, but not stop
/// the worker, and must not destroy it: it would wait for itself.
///
/// **The end.** The destructor does what `stop` does without any grace: nothing new begins, and
/// what has not arrived goes back to the queue and comes again with the next start. A callback that
/// runs cannot be stopped; the destructor waits for it, and settles what came of it. After a crash,
/// what was under way comes again from another worker within 5 s, or with the next start.
///
/// The parts are there for those who want them otherwise: `Dispatcher`, to be polled from a loop of
/// the program or on a manual clock, `LocalTransport`, `Runner`. `Monitor`, `Autodrop` and
/// `AdmissionControl` are no part of it: give each a `Runner`.
///
/// Thread safety: the constructor, `stop` and the destructor from one thread; the rest from any.
class DeliveryWorker {
public:
    /// Delivers to the callbacks of `bus`, and by the other transports. Begins at once.
    explicit DeliveryWorker(Bus& bus, DeliveryWorkerOptions options = {});

    /// Delivers by the transports alone: for a process without callbacks, of which there must be at
    /// least one, else it throws `Failure`. Begins at once.
    DeliveryWorker(Store& store, DeliveryWorkerOptions options);

    /// Stops as `stop(0)` does.
    ~DeliveryWorker();

    DeliveryWorker(const DeliveryWorker&) = delete;
    DeliveryWorker& operator=(const DeliveryWorker&) = delete;

    /// Begins nothing new, and lets what is under way end for as long as `grace`; the rest goes
    /// back to the queue, to be delivered by another worker or after the next start. Returns when
    /// all of that is noted in the store; if the store fails to, 5 s after the grace at the latest,
    /// unless a callback still runs. Repeating it does nothing. Inside a callback it throws
    /// `Failure`, `invalid`.
    void stop(Duration grace);

    /// Deliveries under way: from the acquisition of a job to its settlement.
    [[nodiscard]] std::size_t in_flight() const noexcept;

    /// Why nothing can be delivered now: the trouble of a transport, a store that does not answer,
    /// a thread that is stuck, or that the worker was stopped. Nothing when all is well. One line
    /// for operators.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
