/// @file
/// Declares the functions that add the conformance cases of each topic. A function is defined in
/// the file named after its topic.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "routemaster/testing/store_conformance.hpp"
#include "scenario.hpp"

namespace routemaster::testing {

/// Collector of conformance cases.
///
/// Thread safety: a value.
class StoreCases {
public:
    /// Adds a case. `body` is called with a scenario on an empty store.
    void operator()(std::string name, void (*body)(Scenario&)) {
        list_.push_back({std::move(name), [body](const StoreFixture& fixture) {
                             const auto store = fixture.open();
                             Scenario scenario{*store, fixture.traits};
                             body(scenario);
                         }});
    }

    /// Adds a case whose `body` opens its stores itself.
    void with_stores(std::string name, void (*body)(const StoreFixture&)) {
        list_.push_back({std::move(name), body});
    }

    [[nodiscard]] std::vector<StoreCase> take() { return std::exchange(list_, {}); }

private:
    std::vector<StoreCase> list_;
};

void add_topic_cases(StoreCases& add);
void add_subscription_cases(StoreCases& add);
void add_subscriber_removal_cases(StoreCases& add);
void add_token_cases(StoreCases& add);
/// Cases about publishing: the batches that get an event, and the delivered events.
void add_publishing_cases(StoreCases& add);
/// Cases about the due time of batches.
void add_due_cases(StoreCases& add);
/// Cases about sealing batches, which then accept no more events.
void add_sealing_cases(StoreCases& add);
/// Cases about the order of a subscriber's batches.
void add_group_cases(StoreCases& add);
void add_push_cases(StoreCases& add);
void add_acquire_cases(StoreCases& add);
/// Cases about attempts, errors and the options of jobs.
void add_attempt_cases(StoreCases& add);
/// Cases about isolating jobs that may crash their workers.
void add_isolation_cases(StoreCases& add);
void add_follow_up_cases(StoreCases& add);
void add_dependency_cases(StoreCases& add);
void add_job_batch_cases(StoreCases& add);
void add_cancellation_cases(StoreCases& add);
void add_priority_cases(StoreCases& add);
void add_job_group_cases(StoreCases& add);
/// Cases about unique keys of jobs.
void add_job_key_cases(StoreCases& add);
void add_idempotency_key_cases(StoreCases& add);
/// Cases about BURIED jobs, and about finding, listing and deleting jobs.
void add_job_list_cases(StoreCases& add);
/// Cases about the limit in bytes of the jobs that a step leases, lists or kicks.
void add_job_slice_cases(StoreCases& add);
/// Cases about explanations why a job is not running.
void add_explanation_cases(StoreCases& add);
void add_throughput_cases(StoreCases& add);
/// Cases about pausing and listing queues.
void add_queue_cases(StoreCases& add);
void add_rate_limit_cases(StoreCases& add);
void add_group_rate_limit_cases(StoreCases& add);
void add_recurring_cases(StoreCases& add);
void add_recurring_timer_cases(StoreCases& add);
void add_timer_firing_cases(StoreCases& add);
/// Cases about posting, changing and listing timers.
void add_timer_cases(StoreCases& add);
void add_timer_death_cases(StoreCases& add);
/// Cases about the rotation of timers among listeners.
void add_timer_turn_cases(StoreCases& add);
/// Cases about follow-ups of timers, and about timers as follow-ups of jobs.
void add_timer_follow_up_cases(StoreCases& add);
/// Cases about the validity of leases.
void add_lease_cases(StoreCases& add);
/// Cases about acquisitions whose reply was lost.
void add_lost_reply_cases(StoreCases& add);
/// Cases about heartbeats, retiring and scrubbing of workers.
void add_worker_cases(StoreCases& add);
void add_listed_worker_cases(StoreCases& add);
void add_worker_profile_cases(StoreCases& add);
/// Cases about destinations, the subscribers to which a worker can deliver.
void add_destination_cases(StoreCases& add);
/// Cases about beginning and settling deliveries.
void add_delivery_cases(StoreCases& add);
/// Cases about the health of subscribers, and throttling.
void add_health_cases(StoreCases& add);
/// Cases about batches becoming DEAD.
void add_death_cases(StoreCases& add);
/// Cases about listing, hastening and dropping queued batches.
void add_queued_batch_cases(StoreCases& add);
/// Cases about DEAD batches.
void add_dead_letter_cases(StoreCases& add);
/// Cases about dropping the oldest batches of a full store.
void add_capacity_cases(StoreCases& add);
void add_counter_cases(StoreCases& add);
/// Cases about wake-ups.
void add_watch_cases(StoreCases& add);
void add_step_trait_cases(StoreCases& add);
void add_submission_cases(StoreCases& add);
/// Cases about a clock that was ahead and was then corrected.
void add_wrong_clock_cases(StoreCases& add);
/// Adds a random walk through the steps.
void add_walk_cases(StoreCases& add);

}  // namespace routemaster::testing
