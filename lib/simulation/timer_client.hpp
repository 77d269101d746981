/// @file
/// A client that posts timers, and changes its mind.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "link.hpp"
#include "routemaster/delayer.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Posts timers by a real `Delayer`, under ids that others use, too; postpones, cancels and
/// confirms them. Not thread safe.
class TimerClient {
public:
    /// `last` is the number of the last timer that any of them posted. All must outlive it.
    TimerClient(SimulationContext& context, Store& store, std::size_t ids, std::int64_t& last);

    /// Does one of these.
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
