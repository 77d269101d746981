/// @file
/// The account of a world of what follows from its jobs.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/step.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// The number that an event of a world bears at the end of its URL.
[[nodiscard]] std::uint64_t number_of(std::string_view message);

/// A queue, and a job in it.
using JobKey = std::pair<std::string, std::string>;

/// What is to follow from one attempt at a job: a job, and events beside it. Both have numbers of
/// their own, so it is known of each whether it ever happened.
struct FollowUpAccount {
    JobKey job{};  ///< The one that follows.
    JobId from = 0;
    std::vector<std::uint64_t> events{};
    bool happened = false;
    bool in_doubt = false;  ///< Until the job that it follows from, or it itself, is seen.
};

/// Follows what was to follow from jobs, and ends the world when it happens twice, or beside the
/// job that it follows from. Those that never happened are returned, for the other accounts. Not
/// thread safe.
class FollowUpAccounts {
public:
    /// `context` must outlive it.
    explicit FollowUpAccounts(SimulationContext& context) : context_{context} {}

    /// A step is about to be performed. Returns the jobs that may be there from now on.
    std::vector<JobKey> begin(const CompleteJob& step);

    /// It was done.
    void happened(const CompleteJob& step, const Completed& completed);

    /// It was refused. Returns what never happened, unless an earlier attempt is in doubt.
    std::vector<FollowUpAccount> refuted(const CompleteJob& step);

    /// Power was lost before it was answered.
    void doubt(const CompleteJob& step);

    /// A job is there: so what it follows from is not, and what follows from it did not happen.
    std::vector<FollowUpAccount> seen(const JobKey& key, JobId id);

    /// What is in doubt though its job is gone; empty when nothing is.
    [[nodiscard]] std::string debt() const;

private:
    SimulationContext& context_;
    std::map<JobKey, FollowUpAccount> all_;  // By the job that follows.
    std::set<JobId> followed_;               // Jobs whose follow-ups happened.
};

}  // namespace routemaster::simulation
