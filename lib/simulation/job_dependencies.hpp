/// @file
/// The account of jobs that wait for others.

#pragma once

#include <map>
#include <set>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/step/jobs.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Ends the world when a job is leased after one that had to wait for it. Follows what the store
/// answers, in the order of its answers. Not thread safe.
class JobDependencies {
public:
    /// `context` must outlive it.
    explicit JobDependencies(SimulationContext& context) : context_{context} {}

    /// A push was answered.
    void pushed(const PushJob& step, const Pushed& pushed);
    /// A job was leased anew.
    void acquired(const Lease& lease);

    /// Some of the jobs that were pushed last, to wait for; none before the first.
    [[nodiscard]] std::vector<JobId> draw();

private:
    SimulationContext& context_;
    std::map<JobId, std::vector<JobId>> after_;  // What each job waits for.
    std::set<JobId> done_;                       // As a job was leased that waits for them.
    JobId last_ = 0;                             // The greatest that is known.
};

}  // namespace routemaster::simulation
