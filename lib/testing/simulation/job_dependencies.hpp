/// @file
/// `JobDependencies`: checks the order of jobs with dependencies.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/store/step/jobs.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Checker of dependencies. Fails the simulation when a job is leased before one of its
/// dependencies was completed. Must be called in the order of the store's replies. Not thread safe.
class JobDependencies {
public:
    using JobKey = std::pair<std::string, std::string>;

    explicit JobDependencies(SimulationContext& context) : context_{context} {}

    void pushed(const PushJob& step, const Pushed& pushed);
    /// Called when a job was leased. `certain` returns whether a job exists and no step in progress
    /// would remove the job.
    void acquired(const Lease& lease, const std::function<bool(const JobKey&)>& certain);
    /// Called before a job is deleted. Its dependents become BURIED, and no longer wait.
    void deleting(JobId id);

    /// The job with this id. Nothing if the id is unknown, or if an equal job was pushed later.
    [[nodiscard]] std::optional<JobKey> key_of(JobId id) const;

    /// Draws dependencies from the latest jobs. Empty before the first push.
    [[nodiscard]] std::vector<JobId> draw();

private:
    void know(JobId id, const JobKey& key);

    SimulationContext& context_;
    std::map<JobId, std::vector<JobId>> after_;
    // Jobs that must be done, because a dependent of each was leased.
    std::set<std::pair<std::string, JobId>> done_;
    std::set<JobId> deleted_;  // Jobs that were, or may have been, deleted.
    std::map<JobId, JobKey> keys_;
    std::map<JobKey, JobId> ids_;
    JobId last_ = 0;
};

}  // namespace routemaster::simulation
