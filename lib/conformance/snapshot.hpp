/// @file
/// Everything that a store lists, to prove that a step changed nothing.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "expect.hpp"
#include "routemaster/step.hpp"

namespace routemaster::testing {

/// All that can be listed, at one instant.
struct Snapshot {
    std::vector<Topic> topics;
    std::vector<SubscriberStatus> subscribers;
    std::vector<ApiToken> tokens;
    std::map<std::string, std::vector<BatchStatus>> batches;   ///< By subscriber.
    std::map<std::string, std::vector<DeadBatchStatus>> dead;  ///< By subscriber.
    std::map<std::string, QueueStatus> queues;                 ///< By queue.
    std::vector<std::vector<JobStatus>> jobs;                  ///< Of one queue, by state.
    std::vector<Counter> counters;
    friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

/// Ends the case at the first difference.
inline void expect_unchanged(const Snapshot& now, const Snapshot& before,
                             Where at = Where::here()) {
    expect_equal(now.topics, before.topics, "topics, which must not change", at);
    expect_equal(now.subscribers, before.subscribers, "subscribers, which must not change", at);
    expect_equal(now.tokens, before.tokens, "tokens, which must not change", at);
    expect_equal(now.batches, before.batches, "batches, which must not change", at);
    expect_equal(now.dead, before.dead, "DEAD batches, which must not change", at);
    expect_equal(now.queues, before.queues, "queues, which must not change", at);
    expect_equal(now.jobs, before.jobs, "jobs, which must not change", at);
    expect_equal(now.counters, before.counters, "counters, which must not change", at);
}

}  // namespace routemaster::testing
