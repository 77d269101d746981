/// @file
/// `DeliveryWorker`: a worker process that delivers batches with the real dispatcher and a
/// simulated transport.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "link.hpp"
#include "process.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/transport.hpp"
#include "subscribers.hpp"

namespace routemaster::simulation {

/// Transport of batches from a process to the subscribers. A batch may still arrive after the
/// process was killed. Not thread safe.
class SimulatedTransport final : public Transport {
public:
    /// `die` kills the process. The other arguments must outlive the transport.
    SimulatedTransport(SimulationContext& context, Subscribers& subscribers,
                       std::function<void()> die)
        : context_{context}, subscribers_{subscribers}, die_{std::move(die)} {}

    [[nodiscard]] bool serves(std::string_view) const override { return true; }
    void deliver(Delivery delivery, DeliveryDone done) override;

private:
    void arrive(const Delivery& delivery, const Attempt& attempt, const DeliveryDone& done);

    SimulationContext& context_;
    Subscribers& subscribers_;
    std::function<void()> die_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// Simulated process with a dispatcher. Not thread safe.
class DeliveryWorker final : public Process {
public:
    /// `die` kills this process. All further arguments must outlive the process.
    DeliveryWorker(SimulationContext& context, Store& store, Subscribers& subscribers,
                   std::string name, Duration backoff_max, std::function<void()> die);

private:
    DeliveryWorker(SimulationContext& context, Store& store, Subscribers& subscribers,
                   std::string name, Duration backoff_max, std::function<void()> die,
                   std::uint64_t seed);

    Link link_;
    SimulatedTransport transport_;
    Dispatcher dispatcher_;
};

}  // namespace routemaster::simulation
