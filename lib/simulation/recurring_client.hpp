/// @file
/// A client that puts recurring jobs and timers, and changes its mind.

#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "link.hpp"
#include "routemaster/recurring_job.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Puts recurring jobs and timers by a real `RecurringJobs`, under names that others use, too;
/// pauses, resumes and triggers them. Takes the timers that the ticks post. Not thread safe.
class RecurringClient {
public:
    /// `count` is how many recurring jobs there are. Both must outlive it.
    RecurringClient(SimulationContext& context, Store& store, std::size_t count);

    /// Does one of these.
    void act();

    /// Takes timers that are due.
    void take_timers();

    /// Pauses all, so that nothing is left to do in the end.
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
    std::set<std::string> paused_;  // By this one.
};

}  // namespace routemaster::simulation
