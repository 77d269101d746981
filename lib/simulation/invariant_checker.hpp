/// @file
/// Asks the store about everything it has, and counts again.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "routemaster/step.hpp"
#include "simulation_context.hpp"
#include "store_process.hpp"

namespace routemaster::simulation {

/// Everything a store can be asked, but what a restart may forget: leases, attempts under way.
struct Inventory {
    std::vector<Topic> topics;
    std::vector<SubscriberStatus> subscribers;
    std::map<std::string, std::vector<BatchStatus>> batches;   ///< By subscriber.
    std::map<std::string, std::vector<DeadBatchStatus>> dead;  ///< By subscriber.
    std::map<std::string, QueueStatus> queues;                 ///< PENDING jobs as READY.
    std::map<std::string, RateLimits> limits;                  ///< By queue, of those with some.
    std::vector<TimerStatus> timers;
    std::vector<RecurringJob> recurring;
    std::vector<JobBatch> job_batches;
    std::vector<Counter> counters;
    StoreUse use;
    friend bool operator==(const Inventory&, const Inventory&) = default;
};

/// Compares what the store says with what it says elsewhere, and with the oracle. Not thread safe.
class InvariantChecker {
public:
    /// All must outlive it.
    InvariantChecker(SimulationContext& context, Oracle& oracle, StoreProcess& store)
        : context_{context}, oracle_{oracle}, store_{store} {}

    /// A subscriber to ask for, whether or not it exists.
    void know(const std::string& token) { tokens_.insert(token); }
    [[nodiscard]] const std::set<std::string>& known() const noexcept { return tokens_; }

    /// Everything, as of `now`. The store must be idle.
    [[nodiscard]] Inventory inventory(TimePoint now);

    /// Whether a restart changed nothing since there was `before`, as of `at`.
    [[nodiscard]] bool unchanged(Inventory before, TimePoint at);

    /// Ends the world unless gauges equal a recount. The store must be idle.
    void recount();

    /// Sends steps that are wrong, and ends the world when they are not refused, or change
    /// something. The store must be idle.
    void send_bad_input();

    /// The events that were dropped, for want of space or when they were DEAD, by subscriber. Those
    /// of which both is true count twice.
    [[nodiscard]] std::map<std::string, std::int64_t> dropped();

    /// The DEAD batches of a subscriber.
    [[nodiscard]] std::vector<DeadBatchStatus> dead(const std::string& token);

    /// How many timers are DEAD.
    [[nodiscard]] std::uint64_t dead_timers();

    /// Whether there is nothing to do any more. Ends the world when a job waits for no reason.
    [[nodiscard]] bool drained();

private:
    /// All timers, whatever their state.
    [[nodiscard]] std::vector<TimerStatus> timers(TimePoint now);
    /// All batches of jobs, whether they have ended or not.
    [[nodiscard]] std::vector<JobBatch> job_batches(TimePoint now);
    /// How many jobs are listed as those of each of them.
    [[nodiscard]] std::map<JobBatchId, ListedBatchJobs> batched_jobs();
    [[nodiscard]] std::vector<ListedQueue> queues(TimePoint now);
    /// Whether all recurring jobs are paused, and nothing is left of what their ticks have brought.
    [[nodiscard]] bool ticks_are_over();
    void recount_batches(const std::string& token, const Inventory& all);
    void recount_jobs(const Inventory& all);
    /// Jobs of the queue of jobs in a state, counted page by page.
    std::uint64_t listed(JobStatus::State state);
    void recount_counters(const Inventory& all);
    /// The sum of the counters of that name, with a `queue` of that name unless it is empty.
    [[nodiscard]] static std::int64_t sum(const std::vector<Counter>& counters,
                                          const std::string& name, const std::string& queue);

    SimulationContext& context_;
    Oracle& oracle_;
    StoreProcess& store_;
    std::set<std::string> tokens_;
};

}  // namespace routemaster::simulation
