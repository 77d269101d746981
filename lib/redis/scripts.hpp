/// @file
/// All scripts: one for each kind of step, and one for listings. They stand in lua/, each beginning
/// with its contract.

#pragma once

#include <vector>

#include "script.hpp"

namespace routemaster::redis {

/// The scripts, by the step they perform.
struct Scripts {
    Script publish_event, remove_topic, list_topics;
    Script subscribe, unsubscribe, remove_subscriber, list_subscribers, find_subscriber;
    Script list_batches;
    Script list_dead_batches, find_dead_batch, redeliver_dead_batches, drop_dead_batches;
    Script put_token, find_token, list_tokens;
    Script push_job, acquire_jobs, ack_job, nack_job;
    Script heartbeat, retire_worker, scrub_workers, count_jobs;
    Script begin_delivery, settle_delivery;
    Script measure_use, drop_oldest_batches;
    Script add_to_counters, list_counters;
    Script repair_index;
};

/// The one set of scripts, composed at first use. Thread safe.
[[nodiscard]] const Scripts& scripts();

/// All of them, to be loaded into a server.
[[nodiscard]] std::vector<const Script*> all_scripts();

}  // namespace routemaster::redis
