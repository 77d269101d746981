/// @file
/// `RecurringClient`: a client that puts and changes recurring jobs and timers.

#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "link.hpp"
#include "routemaster/recurring_job.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Simulated client that puts recurring jobs and timers with a real `RecurringJobs`, pauses,
/// resumes and triggers them, and takes the timers that ticks post. All clients use the same names.
/// Not thread safe.
class RecurringClient {
public:
    /// `count` is the number of recurring jobs. Both references must outlive this object.
    RecurringClient(SimulationContext& context, Store& store, std::size_t count);

    void act();

    void take_timers();

    void pause_all();

private:
    void put(std::size_t which);
    void pause(const std::string& name);
    void resume(const std::string& name);
    void trigger(const std::string& name);

    SimulationContext& context_;
    std::size_t count_;
    Link link_;
    RecurringJobs recurring_;
    std::set<std::string> paused_;
};

}  // namespace routemaster::simulation
