/// @file
/// `RateClient`: a client that sets rate limits.

#pragma once

#include <string>
#include <utility>

#include "link.hpp"
#include "routemaster/rate_limit.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Simulated client that sets, changes and removes the rate limits of a queue. Not thread safe.
class RateClient {
public:
    RateClient(SimulationContext& context, Store& store, std::string queue)
        : context_{context}, queue_{std::move(queue)}, link_{context, store} {}

    /// Sends limits: the current limits again, new limits, or no limits.
    void act();

private:
    [[nodiscard]] RateLimit drawn();

    SimulationContext& context_;
    std::string queue_;
    Link link_;
    RateLimits limits_{};
};

}  // namespace routemaster::simulation
