/// @file
/// `FollowUpAccounts`: checks the jobs and events that follow from jobs.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/store/step.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// The number at the end of an event's URL, 0 if malformed. Each event of a world has a unique
/// number.
[[nodiscard]] std::uint64_t number_of(std::string_view message);

/// A queue, and the bytes of a job in it.
using JobKey = std::pair<std::string, std::string>;

/// The follow-ups of one attempt at a job: a job, and events. Their unique numbers show whether
/// each follow-up happened.
struct FollowUpAccount {
    JobKey job{};
    JobId from = 0;
    std::vector<std::uint64_t> events{};
    bool happened = false;
    /// Whether the follow-ups happened is unknown until they or the original job are seen.
    bool in_doubt = false;
};

/// Checker of follow-ups. Fails the simulation when a follow-up happens twice, or when a follow-up
/// and its original job exist together. Returns cancelled follow-ups to the caller, for further
/// checkers. Not thread safe.
class FollowUpAccounts {
public:
    explicit FollowUpAccounts(SimulationContext& context) : context_{context} {}

    /// Called before a step is performed. Returns the jobs that may exist from now on.
    std::vector<JobKey> begin(const CompleteJob& step);

    void happened(const CompleteJob& step, const Completed& completed);

    /// Called when the step was rejected. Returns its follow-ups, which did not happen. Retains a
    /// follow-up while an earlier attempt is in doubt.
    std::vector<FollowUpAccount> refuted(const CompleteJob& step);

    void doubt(const CompleteJob& step);

    /// Called when a job was leased. The job exists, so its original job must have been removed,
    /// and its own follow-ups did not happen. Returns these follow-ups.
    std::vector<FollowUpAccount> seen(const JobKey& key, JobId id);

    /// Describes a follow-up that is still in doubt at the end. Empty if absent.
    [[nodiscard]] std::string debt() const;

private:
    SimulationContext& context_;
    std::map<JobKey, FollowUpAccount> all_;  // By follow-up job.
    std::set<JobId> followed_;
};

}  // namespace routemaster::simulation
