/// @file
/// The conformance cases, by topic.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "routemaster/testing/store_conformance.hpp"
#include "scenario.hpp"

namespace routemaster::testing {

/// A list of cases that grows.
///
/// Thread safety: a value.
class StoreCases {
public:
    /// Adds a case. `body` gets a scenario with an empty store.
    void operator()(std::string name, void (*body)(Scenario&)) {
        list_.push_back({std::move(name), [body](const StoreFixture& fixture) {
                             const auto store = fixture.open();
                             Scenario scenario{*store, fixture.traits};
                             body(scenario);
                         }});
    }

    /// Adds a case whose `body` opens stores itself.
    void with_stores(std::string name, void (*body)(const StoreFixture&)) {
        list_.push_back({std::move(name), body});
    }

    /// Removes and returns the cases so far.
    [[nodiscard]] std::vector<StoreCase> take() { return std::exchange(list_, {}); }

private:
    std::vector<StoreCase> list_;
};

/// Adds the cases about topics.
void add_topic_cases(StoreCases& add);
/// Adds the cases about subscribing.
void add_subscription_cases(StoreCases& add);
/// Adds the cases about removing subscribers.
void add_subscriber_removal_cases(StoreCases& add);
/// Adds the cases about API tokens.
void add_token_cases(StoreCases& add);
/// Adds the cases about publishing: the batches that get an event, and the delivered events.
void add_publishing_cases(StoreCases& add);
/// Adds the cases about the due time of batches.
void add_due_cases(StoreCases& add);
/// Adds the cases about sealing batches.
void add_sealing_cases(StoreCases& add);
/// Adds the cases about the order of a subscriber's batches.
void add_group_cases(StoreCases& add);
/// Adds the cases about pushing jobs.
void add_push_cases(StoreCases& add);
/// Adds the cases about acquiring jobs.
void add_acquire_cases(StoreCases& add);
/// Adds the cases about attempts, errors and the options of jobs.
void add_attempt_cases(StoreCases& add);
/// Adds the cases about isolating jobs that may crash their workers.
void add_isolation_cases(StoreCases& add);
/// Adds the cases about follow-ups of jobs.
void add_follow_up_cases(StoreCases& add);
/// Adds the cases about dependencies of jobs.
void add_dependency_cases(StoreCases& add);
/// Adds the cases about batches of jobs.
void add_job_batch_cases(StoreCases& add);
/// Adds the cases about cancelling jobs.
void add_cancellation_cases(StoreCases& add);
/// Adds the cases about priorities.
void add_priority_cases(StoreCases& add);
/// Adds the cases about ordering groups of jobs.
void add_job_group_cases(StoreCases& add);
/// Adds the cases about unique keys of jobs.
void add_job_key_cases(StoreCases& add);
/// Adds the cases about idempotency keys of pushes.
void add_idempotency_key_cases(StoreCases& add);
/// Adds the cases about BURIED jobs, and about finding, listing and deleting jobs.
void add_job_list_cases(StoreCases& add);
/// Adds the cases about chunks: the limit in bytes of the jobs that a step leases, lists or kicks.
void add_job_slice_cases(StoreCases& add);
/// Adds the cases about explanations why a job is not running.
void add_explanation_cases(StoreCases& add);
/// Adds the cases about the throughput of queues.
void add_throughput_cases(StoreCases& add);
/// Adds the cases about pausing and listing queues.
void add_queue_cases(StoreCases& add);
/// Adds the cases about rate limits.
void add_rate_limit_cases(StoreCases& add);
/// Adds the cases about rate limits of groups.
void add_group_rate_limit_cases(StoreCases& add);
/// Adds the cases about recurring jobs.
void add_recurring_cases(StoreCases& add);
/// Adds the cases about recurring timers.
void add_recurring_timer_cases(StoreCases& add);
/// Adds the cases about the firing of timers.
void add_timer_firing_cases(StoreCases& add);
/// Adds the cases about posting, changing and listing timers.
void add_timer_cases(StoreCases& add);
/// Adds the cases about DEAD timers.
void add_timer_death_cases(StoreCases& add);
/// Adds the cases about taking turns among the listeners of timers.
void add_timer_turn_cases(StoreCases& add);
/// Adds the cases about follow-ups of timers, and timers as follow-ups of jobs.
void add_timer_follow_up_cases(StoreCases& add);
/// Adds the cases about the validity of leases.
void add_lease_cases(StoreCases& add);
/// Adds the cases about acquisitions whose reply was lost.
void add_lost_reply_cases(StoreCases& add);
/// Adds the cases about heartbeats, retiring and scrubbing.
void add_worker_cases(StoreCases& add);
/// Adds the cases about the list of workers.
void add_listed_worker_cases(StoreCases& add);
/// Adds the cases about the profiles of workers.
void add_worker_profile_cases(StoreCases& add);
/// Adds the cases about destinations: the subscribers that a worker can reach.
void add_destination_cases(StoreCases& add);
/// Adds the cases about beginning and settling deliveries.
void add_delivery_cases(StoreCases& add);
/// Adds the cases about health and throttling.
void add_health_cases(StoreCases& add);
/// Adds the cases about batches becoming DEAD.
void add_death_cases(StoreCases& add);
/// Adds the cases about listing, hurrying and dropping queued batches.
void add_queued_batch_cases(StoreCases& add);
/// Adds the cases about DEAD batches.
void add_dead_letter_cases(StoreCases& add);
/// Adds the cases about dropping the oldest batches.
void add_capacity_cases(StoreCases& add);
/// Adds the cases about counters.
void add_counter_cases(StoreCases& add);
/// Adds the cases about wake-ups.
void add_watch_cases(StoreCases& add);
/// Adds the cases about the traits of steps.
void add_step_trait_cases(StoreCases& add);
/// Adds the cases about submissions.
void add_submission_cases(StoreCases& add);
/// Adds the cases about a clock that was ahead, and was then corrected.
void add_wrong_clock_cases(StoreCases& add);
/// Adds the random walk.
void add_walk_cases(StoreCases& add);

}  // namespace routemaster::testing
