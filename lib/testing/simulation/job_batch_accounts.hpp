/// @file
/// `JobBatchAccounts`: checks the batches of jobs of a world.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/job_batch.hpp"
#include "routemaster/store/step.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// The queue, name and maximum of attempts of jobs in batches. Then the queue of the callbacks that
/// batches push, and the names of these callbacks.
inline constexpr const char* batched_queue = "batched";
inline constexpr const char* batched_name = "batched";
inline constexpr std::uint32_t batched_attempts_max = 3;
inline constexpr const char* callback_queue = "callbacks";
inline constexpr const char* success_name = "success";
inline constexpr const char* end_name = "end";

/// The name of a batch. Like its callbacks, it contains the number of the batch.
[[nodiscard]] std::string batch_name_of(std::int64_t number);

struct ListedBatchJobs {
    std::uint64_t pending = 0;
    std::uint64_t buried = 0;
};

/// Checker of job batches. Fails the simulation when a batch ends too early, twice or not at all,
/// or when its numbers are wrong. Each batch has a unique number. Must be called in the order of
/// the store's replies. Not thread safe.
class JobBatchAccounts {
public:
    explicit JobBatchAccounts(SimulationContext& context) : context_{context} {}

    void asked(const Step& step);
    void replied(const Step& step, const Outcome& outcome);
    void doubt(const Step& step);

    /// Called when a job of any queue was leased, once per attempt.
    void acquired(const Lease& lease);
    void done(const Lease& lease);

    /// Fails the simulation unless the batches and their numbers of jobs are as expected. No step
    /// may be in progress.
    void compare(const std::vector<JobBatch>& listed,
                 const std::map<JobBatchId, ListedBatchJobs>& jobs);

    /// Describes a callback that never ran. Empty if all ran. To be called when all work is done.
    [[nodiscard]] std::string debt() const;

private:
    /// Lower and upper bound of a count. Effects without a reply may or may not be counted.
    struct Times {
        std::uint64_t least = 0;
        std::uint64_t most = 0;
        [[nodiscard]] bool may_be(std::uint64_t times) const noexcept {
            return times >= least && times <= most;
        }
        void add() noexcept {
            ++least;
            ++most;
        }
    };

    struct Account {
        std::int64_t number = 0;
        bool may_be_closed = false;
        bool closed = false;
        Times total{};
        Times succeeded{};
        Times cancelled{};
        std::set<JobId> pending{};  // Jobs that certainly wait or run.
    };

    using Callback = std::pair<std::string, std::int64_t>;

    void check(const JobBatch& batch, const Account& account, const ListedBatchJobs& jobs) const;
    void ran(const Lease& lease, const Callback& callback);
    [[nodiscard]] Account* find(JobBatchId id);
    /// Removes a job from the expectations, because it is uncertain how the job ends.
    void forget(JobId id);
    [[nodiscard]] static std::optional<Callback> callback_in(const std::string& job);

    SimulationContext& context_;
    std::map<JobBatchId, Account> accounts_;
    std::set<std::string> created_;  // Names of batches that may exist.
    std::map<JobId, JobBatchId> batches_;
    std::map<Callback, JobId> callbacks_;
    std::map<Callback, JobId> due_;  // Callbacks that the store reports as pushed.
};

}  // namespace routemaster::simulation
