/// @file
/// `GroupAccounts`: checks the order of jobs within ordering groups.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "routemaster/store/step.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Checker of ordering groups. A job that has begun occupies a position in its group until it is
/// completed, even after failed attempts. Fails the simulation when more jobs begin than the
/// concurrency of the group allows, or, with a concurrency of 1, when a job begins before an
/// earlier job of its group. All jobs of a group are pushed with the same concurrency. Not thread
/// safe.
class GroupAccounts {
public:
    using JobKey = std::pair<std::string, std::string>;

    explicit GroupAccounts(SimulationContext& context) : context_{context} {}

    void asked(const PushJob& step);
    /// Called when a job was pushed. `number` is the number of the submission with the push, and
    /// `last` the number of the latest submission.
    void pushed(const PushJob& step, TimePoint now, std::uint64_t number, std::uint64_t last);
    /// Called when a job was leased. `certain` returns whether a job exists and no step in progress
    /// would remove the job.
    void acquired(const JobKey& key, const std::function<bool(const JobKey&)>& certain);
    void gone(const JobKey& key);

    /// Whether a job that has begun may have to wait again. The next job of a group may begin
    /// before the removal of the previous job is on disk. If a crash loses this removal, the
    /// previous job exists again, before the later jobs. `may_be_there` returns whether a job may
    /// exist.
    [[nodiscard]] bool may_wait(const JobKey& key,
                                const std::function<bool(const JobKey&)>& may_be_there) const;

private:
    struct Account {
        std::string group{};
        std::uint32_t concurrency = 1;
        bool begun = false;
        bool due = false;  // The job was certainly due and without dependencies when it was pushed.
        std::uint64_t asked = 0;
        // The number of the latest submission when the push was acknowledged.
        std::uint64_t answered = 0;
    };

    SimulationContext& context_;
    std::map<JobKey, Account> jobs_;
};

}  // namespace routemaster::simulation
