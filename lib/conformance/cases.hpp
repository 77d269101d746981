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
    /// Adds a case, whose `body` gets a scenario in a fresh store.
    void operator()(std::string name, void (*body)(Scenario&)) {
        list_.push_back({std::move(name), [body](const StoreFixture& fixture) {
                             const auto store = fixture.open();
                             Scenario scenario{*store, fixture.traits};
                             body(scenario);
                         }});
    }

    /// Adds a case that opens stores itself.
    void with_stores(std::string name, void (*body)(const StoreFixture&)) {
        list_.push_back({std::move(name), body});
    }

    /// The cases so far. Leaves none behind.
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
/// Adds the cases about which batches get an event, and what subscribers receive.
void add_publishing_cases(StoreCases& add);
/// Adds the cases about when a batch falls due.
void add_due_cases(StoreCases& add);
/// Adds the cases about when a batch is sealed.
void add_sealing_cases(StoreCases& add);
/// Adds the cases about the order of a subscriber's batches.
void add_group_cases(StoreCases& add);
/// Adds the cases about pushing.
void add_push_cases(StoreCases& add);
/// Adds the cases about acquiring.
void add_acquire_cases(StoreCases& add);
/// Adds the cases about attempts, errors and the options of jobs.
void add_attempt_cases(StoreCases& add);
/// Adds the cases about jobs that perhaps end their workers.
void add_isolation_cases(StoreCases& add);
/// Adds the cases about what follows from a job.
void add_follow_up_cases(StoreCases& add);
/// Adds the cases about jobs that wait for others.
void add_dependency_cases(StoreCases& add);
/// Adds the cases about batches of jobs.
void add_job_batch_cases(StoreCases& add);
/// Adds the cases about jobs that are cancelled.
void add_cancellation_cases(StoreCases& add);
/// Adds the cases about priorities.
void add_priority_cases(StoreCases& add);
/// Adds the cases about ordering groups of jobs.
void add_job_group_cases(StoreCases& add);
/// Adds the cases about keys of jobs.
void add_job_key_cases(StoreCases& add);
/// Adds the cases about pushes that are repeated.
void add_idempotency_key_cases(StoreCases& add);
/// Adds the cases about BURIED jobs, and about finding, listing and deleting jobs.
void add_job_list_cases(StoreCases& add);
/// Adds the cases about how many bytes of jobs one step leases, lists or kicks.
void add_job_slice_cases(StoreCases& add);
/// Adds the cases about why a job is not running.
void add_explanation_cases(StoreCases& add);
/// Adds the cases about what became of jobs over time.
void add_throughput_cases(StoreCases& add);
/// Adds the cases about whole queues.
void add_queue_cases(StoreCases& add);
/// Adds the cases about rate limits.
void add_rate_limit_cases(StoreCases& add);
/// Adds the cases about rate limits of groups.
void add_group_rate_limit_cases(StoreCases& add);
/// Adds the cases about recurring jobs.
void add_recurring_cases(StoreCases& add);
/// Adds the cases about recurring jobs that post timers.
void add_recurring_timer_cases(StoreCases& add);
/// Adds the cases about the firing of timers.
void add_timer_firing_cases(StoreCases& add);
/// Adds the cases about posting, changing, and looking at timers.
void add_timer_cases(StoreCases& add);
/// Adds the cases about DEAD timers.
void add_timer_death_cases(StoreCases& add);
/// Adds the cases about whose turn it is among the listeners of timers.
void add_timer_turn_cases(StoreCases& add);
/// Adds the cases about what follows from timers, and timers that follow from jobs.
void add_timer_follow_up_cases(StoreCases& add);
/// Adds the cases about the validity of leases.
void add_lease_cases(StoreCases& add);
/// Adds the cases about acquisitions whose reply was lost.
void add_lost_reply_cases(StoreCases& add);
/// Adds the cases about heartbeats, retiring and scrubbing.
void add_worker_cases(StoreCases& add);
/// Adds the cases about the list of workers.
void add_listed_worker_cases(StoreCases& add);
/// Adds the cases about what workers say about themselves.
void add_worker_profile_cases(StoreCases& add);
/// Adds the cases about who may deliver what.
void add_destination_cases(StoreCases& add);
/// Adds the cases about an attempt and its end.
void add_delivery_cases(StoreCases& add);
/// Adds the cases about health and throttling.
void add_health_cases(StoreCases& add);
/// Adds the cases about when a batch becomes DEAD.
void add_death_cases(StoreCases& add);
/// Adds the cases about looking at queued batches, delivering them now, and dropping them.
void add_queued_batch_cases(StoreCases& add);
/// Adds the cases about DEAD batches.
void add_dead_letter_cases(StoreCases& add);
/// Adds the cases about dropping the oldest batches.
void add_capacity_cases(StoreCases& add);
/// Adds the cases about counters.
void add_counter_cases(StoreCases& add);
/// Adds the cases about wake-ups.
void add_watch_cases(StoreCases& add);
/// Adds the cases about what steps say of themselves.
void add_step_trait_cases(StoreCases& add);
/// Adds the cases about submissions.
void add_submission_cases(StoreCases& add);
/// Adds the cases about a clock that ran ahead, and was set right.
void add_wrong_clock_cases(StoreCases& add);
/// Adds the random walk.
void add_walk_cases(StoreCases& add);

}  // namespace routemaster::testing
