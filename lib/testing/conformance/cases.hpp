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
void add_publishing_cases(StoreCases& add);
void add_due_cases(StoreCases& add);
/// Cases about sealing batches, which then accept no more events.
void add_sealing_cases(StoreCases& add);
/// Cases about the order of a subscriber's batches.
void add_group_cases(StoreCases& add);
void add_push_cases(StoreCases& add);
void add_acquire_cases(StoreCases& add);
void add_attempt_cases(StoreCases& add);
/// Cases about isolating jobs that may crash their workers.
void add_isolation_cases(StoreCases& add);
void add_follow_up_cases(StoreCases& add);
void add_dependency_cases(StoreCases& add);
void add_job_batch_cases(StoreCases& add);
void add_cancellation_cases(StoreCases& add);
void add_priority_cases(StoreCases& add);
void add_job_group_cases(StoreCases& add);
void add_job_key_cases(StoreCases& add);
void add_idempotency_key_cases(StoreCases& add);
void add_job_list_cases(StoreCases& add);
void add_job_slice_cases(StoreCases& add);
void add_explanation_cases(StoreCases& add);
void add_throughput_cases(StoreCases& add);
void add_queue_cases(StoreCases& add);
void add_rate_limit_cases(StoreCases& add);
void add_group_rate_limit_cases(StoreCases& add);
void add_recurring_cases(StoreCases& add);
void add_recurring_timer_cases(StoreCases& add);
void add_timer_firing_cases(StoreCases& add);
void add_timer_cases(StoreCases& add);
void add_timer_death_cases(StoreCases& add);
/// Cases about the rotation of timers among listeners.
void add_timer_turn_cases(StoreCases& add);
/// Cases about follow-ups of timers, and about timers as follow-ups of jobs.
void add_timer_follow_up_cases(StoreCases& add);
void add_lease_cases(StoreCases& add);
void add_lost_reply_cases(StoreCases& add);
void add_worker_cases(StoreCases& add);
void add_listed_worker_cases(StoreCases& add);
void add_worker_profile_cases(StoreCases& add);
/// Cases about destinations, the subscribers to which a worker can deliver.
void add_destination_cases(StoreCases& add);
void add_delivery_cases(StoreCases& add);
void add_health_cases(StoreCases& add);
void add_death_cases(StoreCases& add);
void add_queued_batch_cases(StoreCases& add);
void add_dead_letter_cases(StoreCases& add);
void add_capacity_cases(StoreCases& add);
void add_counter_cases(StoreCases& add);
void add_watch_cases(StoreCases& add);
void add_step_trait_cases(StoreCases& add);
void add_submission_cases(StoreCases& add);
/// Cases about a clock that was ahead and was then corrected.
void add_wrong_clock_cases(StoreCases& add);
void add_walk_cases(StoreCases& add);

}  // namespace routemaster::testing
