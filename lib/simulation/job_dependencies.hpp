/// @file
/// The account of jobs that wait for others.

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

/// Ends the world when a job is leased before one that it had to wait for is done. Follows what the
/// store answers, in the order of its answers. Not thread safe.
class JobDependencies {
public:
    using JobKey = std::pair<std::string, std::string>;  // Queue and job.

    /// `context` must outlive it.
    explicit JobDependencies(SimulationContext& context) : context_{context} {}

    /// A push was answered.
    void pushed(const PushJob& step, const Pushed& pushed);
    /// A job was leased anew. `certain` tells of another whether it is there, and nobody just ends
    /// it.
    void acquired(const Lease& lease, const std::function<bool(const JobKey&)>& certain);
    /// A job is about to be deleted: then what waits for it is BURIED, and waits for none any more.
    void deleting(JobId id);

    /// The job of that id; nothing when it is not known, or another one was pushed since then that
    /// equals it.
    [[nodiscard]] std::optional<JobKey> key_of(JobId id) const;

    /// Some of the jobs that were pushed last, to wait for; none before the first.
    [[nodiscard]] std::vector<JobId> draw();

private:
    void know(JobId id, const JobKey& key);

    SimulationContext& context_;
    std::map<JobId, std::vector<JobId>> after_;     // What each job waits for.
    std::set<std::pair<std::string, JobId>> done_;  // As a job was leased that waits for them.
    std::set<JobId> deleted_;                       // That were, or may have been.
    std::map<JobId, JobKey> keys_;                  // Of each that was pushed.
    std::map<JobKey, JobId> ids_;                   // The last one of each.
    JobId last_ = 0;                                // The greatest that is known.
};

}  // namespace routemaster::simulation
