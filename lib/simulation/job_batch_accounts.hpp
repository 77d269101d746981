/// @file
/// The account of the batches of jobs of a world: which jobs are theirs, and when each must end.

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
#include "routemaster/step.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// The queue of jobs that belong to batches, and their name; how often each may be begun; and the
/// queue of what the batches push at their end, as jobs of these names.
inline constexpr const char* batched_queue = "batched";
inline constexpr const char* batched_name = "batched";
inline constexpr std::uint32_t batched_attempts_max = 3;
inline constexpr const char* callback_queue = "callbacks";
inline constexpr const char* success_name = "success";
inline constexpr const char* end_name = "end";

/// The number of a batch, which its name and its callbacks have.
[[nodiscard]] std::string batch_name_of(std::int64_t number);

/// Jobs that the store lists as those of a batch.
struct ListedBatchJobs {
    std::uint64_t pending = 0;  ///< That wait or run.
    std::uint64_t buried = 0;
};

/// Follows what becomes of the jobs of each batch, and ends the world when a batch ends too early,
/// not at all, or twice, or when its numbers are wrong. Each batch has a number of its own. Follows
/// what the store answers, in the order of its answers. Not thread safe.
class JobBatchAccounts {
public:
    /// `context` must outlive it.
    explicit JobBatchAccounts(SimulationContext& context) : context_{context} {}

    /// A step is about to be performed.
    void asked(const Step& step);
    /// It was answered, or refused.
    void replied(const Step& step, const Outcome& outcome);
    /// Power was lost before it was answered: it may have been done or not.
    void doubt(const Step& step);

    /// A job of any queue was leased anew.
    void acquired(const Lease& lease);
    /// It was done.
    void done(const Lease& lease);

    /// Ends the world unless these are the batches that there must be, with as many jobs as are
    /// listed. Nothing may be under way.
    void compare(const std::vector<JobBatch>& listed,
                 const std::map<JobBatchId, ListedBatchJobs>& jobs);

    /// Which callback was never run, when nothing is left to do; empty when all were.
    [[nodiscard]] std::string debt() const;

private:
    /// Something that may have happened more often than is known.
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
        std::set<JobId> pending{};  // That certainly wait or run.
    };

    /// A batch by its number, and one of its callbacks.
    using Callback = std::pair<std::string, std::int64_t>;

    void check(const JobBatch& batch, const Account& account, const ListedBatchJobs& jobs) const;
    void ran(const Lease& lease, const Callback& callback);
    /// The account of a batch; null when there is none.
    [[nodiscard]] Account* find(JobBatchId id);
    /// It is not certain any more what becomes of a job.
    void forget(JobId id);
    [[nodiscard]] static std::optional<Callback> callback_in(const std::string& job);

    SimulationContext& context_;
    std::map<JobBatchId, Account> accounts_;
    std::set<std::string> created_;        // Names of batches that may have been.
    std::map<JobId, JobBatchId> batches_;  // Of jobs.
    std::map<Callback, JobId> callbacks_;  // That were leased.
    std::map<Callback, JobId> due_;        // That the store says it has pushed.
};

}  // namespace routemaster::simulation
