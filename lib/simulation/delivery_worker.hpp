/// @file
/// A worker process that delivers batches: the real dispatcher, and a transport to the outside.

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

/// Carries batches from one process to the outside. What has been sent may still arrive after the
/// process was killed. Not thread safe.
class SimulatedTransport final : public Transport {
public:
    /// `die` kills the process. The others must outlive it.
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

/// One process of the service that delivers. Not thread safe.
class DeliveryWorker final : public Process {
public:
    /// `die` kills it. The others must outlive it.
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
