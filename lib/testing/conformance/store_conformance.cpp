#include "routemaster/testing/store_conformance.hpp"

#include "cases.hpp"

namespace routemaster::testing {

std::vector<StoreCase> store_conformance() {
    StoreCases add;
    add_topic_cases(add);
    add_subscription_cases(add);
    add_subscriber_removal_cases(add);
    add_token_cases(add);
    add_publishing_cases(add);
    add_due_cases(add);
    add_sealing_cases(add);
    add_group_cases(add);
    add_push_cases(add);
    add_acquire_cases(add);
    add_attempt_cases(add);
    add_isolation_cases(add);
    add_job_key_cases(add);
    add_idempotency_key_cases(add);
    add_priority_cases(add);
    add_job_group_cases(add);
    add_cancellation_cases(add);
    add_follow_up_cases(add);
    add_dependency_cases(add);
    add_job_batch_cases(add);
    add_job_list_cases(add);
    add_job_slice_cases(add);
    add_explanation_cases(add);
    add_throughput_cases(add);
    add_queue_cases(add);
    add_rate_limit_cases(add);
    add_group_rate_limit_cases(add);
    add_recurring_cases(add);
    add_recurring_timer_cases(add);
    add_timer_firing_cases(add);
    add_timer_cases(add);
    add_timer_death_cases(add);
    add_timer_turn_cases(add);
    add_timer_follow_up_cases(add);
    add_lease_cases(add);
    add_lost_reply_cases(add);
    add_worker_cases(add);
    add_listed_worker_cases(add);
    add_worker_profile_cases(add);
    add_destination_cases(add);
    add_delivery_cases(add);
    add_health_cases(add);
    add_queued_batch_cases(add);
    add_death_cases(add);
    add_dead_letter_cases(add);
    add_capacity_cases(add);
    add_counter_cases(add);
    add_watch_cases(add);
    add_step_trait_cases(add);
    add_submission_cases(add);
    add_wrong_clock_cases(add);
    add_walk_cases(add);
    return add.take();
}

}  // namespace routemaster::testing
