/// @file
/// `JobDependencies`: checks jobs that depend on other jobs.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/step/jobs.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Fails the simulation when a job is leased before a dependency of the job is done. Must be called
/// in the order of the store's replies. Not thread safe.
class JobDependencies {
public:
    using JobKey = std::pair<std::string, std::string>;  // Queue and job.

    /// `context` must outlive this object.
    explicit JobDependencies(SimulationContext& context) : context_{context} {}

    /// Called with the reply to a push.
    void pushed(const PushJob& step, const Pushed& pushed);
    /// Called when a job was leased. `certain` returns whether a job exists and no step in flight
    /// ends it.
    void acquired(const Lease& lease, const std::function<bool(const JobKey&)>& certain);
    /// Called before a job is deleted. Its dependents become BURIED, and lose their dependencies.
    void deleting(JobId id);

    /// The job with this id; nothing when the id is unknown, or an equal job was pushed later.
    [[nodiscard]] std::optional<JobKey> key_of(JobId id) const;

    /// Draws dependencies from the latest jobs; empty before the first push.
    [[nodiscard]] std::vector<JobId> draw();

private:
    void know(JobId id, const JobKey& key);

    SimulationContext& context_;
    std::map<JobId, std::vector<JobId>> after_;     // The dependencies of each job.
    std::set<std::pair<std::string, JobId>> done_;  // Jobs that must be done: a dependent job was
                                                    // leased.
    std::set<JobId> deleted_;                       // Jobs that were, or may have been, deleted.
    std::map<JobId, JobKey> keys_;                  // Each job that was pushed.
    std::map<JobKey, JobId> ids_;                   // The last id of each job.
    JobId last_ = 0;                                // The greatest known id.
};

}  // namespace routemaster::simulation
