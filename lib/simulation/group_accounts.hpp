/// @file
/// The account of the ordering groups of jobs: who may run before whom.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "routemaster/step.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Follows which jobs of each group have begun and are not done: these have places, at most as many
/// as the group may have under way, and keep them whatever becomes of their attempts. Ends the
/// world when another begins nevertheless, or, where one follows the other, before one that was
/// pushed earlier. All jobs of a group are pushed with the same concurrency. Not thread safe.
class GroupAccounts {
public:
    using JobKey = std::pair<std::string, std::string>;  // Queue and job.

    /// Must outlive it.
    explicit GroupAccounts(SimulationContext& context) : context_{context} {}

    /// A job is about to be pushed.
    void asked(const PushJob& step);
    /// It was, by the submission of that number; `last` is the number of the last one so far.
    void pushed(const PushJob& step, TimePoint now, std::uint64_t number, std::uint64_t last);
    /// A worker got a job. `certain` tells of another whether it is there, and nobody just ends it.
    void acquired(const JobKey& key, const std::function<bool(const JobKey&)>& certain);
    /// A job is done.
    void gone(const JobKey& key);

    /// Whether a job that has begun may have to wait for its turn once more. The next of a group
    /// begins before the end of a job that is done is on disk. When that end is lost, the job is
    /// there again, in its place before the others. `may_be_there` tells it of another.
    [[nodiscard]] bool may_wait(const JobKey& key,
                                const std::function<bool(const JobKey&)>& may_be_there) const;

private:
    struct Account {
        std::string group{};
        std::uint32_t concurrency = 1;
        bool begun = false;
        bool due = false;            // When it was pushed, and waited for none, which is certain.
        std::uint64_t asked = 0;     // The number of the submission that pushed it.
        std::uint64_t answered = 0;  // The number of the last one when that was answered.
    };

    SimulationContext& context_;
    std::map<JobKey, Account> jobs_;
};

}  // namespace routemaster::simulation
