/// @file
/// A client that sets rate limits.

#pragma once

#include <string>
#include <utility>

#include "link.hpp"
#include "routemaster/rate_limit.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Gives a queue rate limits, and others, and takes them away. Not thread safe.
class RateClient {
public:
    /// The first two must outlive it.
    RateClient(SimulationContext& context, Store& store, std::string queue)
        : context_{context}, queue_{std::move(queue)}, link_{context, store} {}

    /// Sets some limits: the same again, others, or none.
    void act();

private:
    [[nodiscard]] RateLimit drawn();

    SimulationContext& context_;
    std::string queue_;
    Link link_;
    RateLimits limits_{};
};

}  // namespace routemaster::simulation
