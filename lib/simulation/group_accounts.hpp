/// @file
/// `GroupAccounts`: checks the order of jobs within ordering groups.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "routemaster/step.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Knows which jobs of each group have begun and are not done. A job that has begun occupies a
/// place in its group until the job is done, however its attempts end. Fails the simulation when
/// more jobs begin than the group has places, or, with one place, when a job begins before an
/// earlier job of its group. All jobs of a group are pushed with the same concurrency. Not thread
/// safe.
class GroupAccounts {
public:
    using JobKey = std::pair<std::string, std::string>;  // Queue and job.

    /// `context` must outlive this object.
    explicit GroupAccounts(SimulationContext& context) : context_{context} {}

    /// Called before a job is pushed.
    void asked(const PushJob& step);
    /// Called when a job was pushed. `number` is the number of its submission, `last` the number of
    /// the last submission so far.
    void pushed(const PushJob& step, TimePoint now, std::uint64_t number, std::uint64_t last);
    /// Called when a worker got a job. `certain` returns whether a job exists, without a step in
    /// flight that would end it.
    void acquired(const JobKey& key, const std::function<bool(const JobKey&)>& certain);
    /// Called when a job is done.
    void gone(const JobKey& key);

    /// Whether a started job may have to wait again. The next job of a group may begin before the
    /// end of the previous job is on disk. If a crash loses this end, the previous job exists
    /// again, in its place before the later jobs. `may_be_there` returns whether a job may exist.
    [[nodiscard]] bool may_wait(const JobKey& key,
                                const std::function<bool(const JobKey&)>& may_be_there) const;

private:
    struct Account {
        std::string group{};
        std::uint32_t concurrency = 1;
        bool begun = false;
        bool due = false;  // The job was certainly due, without dependencies, when it was pushed.
        std::uint64_t asked = 0;     // The number of the submission that pushed the job.
        std::uint64_t answered = 0;  // The number of the last submission when the push was
                                     // acknowledged.
    };

    SimulationContext& context_;
    std::map<JobKey, Account> jobs_;
};

}  // namespace routemaster::simulation
