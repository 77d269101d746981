/// @file
/// `InvariantChecker`: reads the complete contents of the store, and compares them with its counts.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "routemaster/store/step.hpp"
#include "simulation_context.hpp"
#include "store_process.hpp"

namespace routemaster::simulation {

/// The contents of a store, without leases and attempts in progress, which a restart may lose.
struct Inventory {
    std::vector<Topic> topics;
    std::vector<SubscriberStatus> subscribers;
    std::map<std::string, std::vector<BatchStatus>> batches;   ///< By subscriber.
    std::map<std::string, std::vector<DeadBatchStatus>> dead;  ///< By subscriber.
    std::map<std::string, QueueStatus> queues;  ///< PENDING jobs are counted as READY.
    std::map<std::string, RateLimits> limits;
    std::vector<TimerStatus> timers;
    std::vector<RecurringJob> recurring;
    std::vector<JobBatch> job_batches;
    std::vector<Counter> counters;
    StoreUse use;
    friend bool operator==(const Inventory&, const Inventory&) = default;
};

/// Checker that compares the counts and the lists of the store with each other and with the oracle.
/// Not thread safe.
class InvariantChecker {
public:
    InvariantChecker(SimulationContext& context, Oracle& oracle, StoreProcess& store)
        : context_{context}, oracle_{oracle}, store_{store} {}

    /// Adds a subscriber to be checked, even if it does not exist in the store.
    void know(const std::string& token) { tokens_.insert(token); }
    [[nodiscard]] const std::set<std::string>& known() const noexcept { return tokens_; }

    /// Reads the contents, as of `now`. The store must be idle.
    [[nodiscard]] Inventory inventory(TimePoint now);

    /// Whether a restart preserved `before`, the contents that were read at `at`.
    [[nodiscard]] bool unchanged(Inventory before, TimePoint at);

    /// Fails the simulation unless the store's counts equal the numbers of listed objects. The
    /// store must be idle.
    void recount();

    /// Sends invalid steps. Fails the simulation when the store accepts a step, or when its
    /// contents change. The store must be idle.
    void send_bad_input();

    /// The number of dropped events of each subscriber. An event can be counted twice: once when it
    /// was dropped because of limited space, and once when it was dropped while DEAD.
    [[nodiscard]] std::map<std::string, std::int64_t> dropped();

    [[nodiscard]] std::vector<DeadBatchStatus> dead(const std::string& token);

    [[nodiscard]] std::uint64_t dead_timers();

    /// Whether all work is done. Fails the simulation when a job waits without a reason.
    [[nodiscard]] bool drained();

private:
    [[nodiscard]] std::vector<TimerStatus> timers(TimePoint now);
    [[nodiscard]] std::vector<JobBatch> job_batches(TimePoint now);
    [[nodiscard]] std::map<JobBatchId, ListedBatchJobs> batched_jobs();
    [[nodiscard]] std::vector<ListedQueue> queues(TimePoint now);
    [[nodiscard]] bool ticks_are_over();
    void recount_batches(const std::string& token, const Inventory& all);
    void recount_jobs(const Inventory& all);
    std::uint64_t listed(JobStatus::State state);
    void recount_counters(const Inventory& all);
    /// The sum of all counters with this name. If `queue` is not empty, only counters of this queue
    /// are included.
    [[nodiscard]] static std::int64_t sum(const std::vector<Counter>& counters,
                                          const std::string& name, const std::string& queue);

    SimulationContext& context_;
    Oracle& oracle_;
    StoreProcess& store_;
    std::set<std::string> tokens_;
};

}  // namespace routemaster::simulation
