/// @file
/// `TimerClient`: a client that posts and changes timers.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "link.hpp"
#include "routemaster/delayer.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Simulated client that posts, postpones, cancels and confirms timers with a real `Delayer`. All
/// clients use the same ids. Not thread safe.
class TimerClient {
public:
    /// `last` is the number of the last timer that any client posted. All references must outlive
    /// this object.
    TimerClient(SimulationContext& context, Store& store, std::size_t ids, std::int64_t& last);

    void act();

private:
    void post(const std::string& id);
    [[nodiscard]] Duration drawn_delay();

    SimulationContext& context_;
    std::size_t ids_;
    std::int64_t& last_;
    Link link_;
    Delayer delayer_;
};

}  // namespace routemaster::simulation
