/// @file
/// `Snapshot`: the contents of a store that can be listed, for comparing two stores or two states
/// of one store.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "expect.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::testing {

/// The namespace of the listed timers.
inline constexpr const char* timer_space = "reminders";

struct Snapshot {
    std::vector<Topic> topics;
    std::vector<SubscriberStatus> subscribers;
    std::vector<ApiToken> tokens;
    std::map<std::string, std::vector<BatchStatus>> batches;   ///< By subscriber.
    std::map<std::string, std::vector<DeadBatchStatus>> dead;  ///< By subscriber.
    std::vector<ListedQueue> queues;
    std::vector<std::vector<JobStatus>> jobs;  ///< The jobs of one queue, by state.
    std::vector<Counter> counters;
    std::vector<RecurringJob> recurring;
    std::vector<std::vector<TimerStatus>> timers;  ///< By state, at most 1,000 per state.
    std::vector<JobBatch> job_batches;             ///< Open batches first, then ended batches.
    friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

/// All jobs of a queue in a state, in the order of their ids. Throws `Failure` when the store
/// fails.
inline std::vector<JobStatus> jobs_of(Store& store, const std::string& queue,
                                      JobStatus::State state, TimePoint now) {
    std::vector<JobStatus> all;
    ListJobs step{.queue = queue, .state = state, .limit = jobs_looked_at_max};
    do {
        auto page = perform(store, step, now).value();
        all.insert(all.end(), page.jobs.begin(), page.jobs.end());
        step.after = page.next;
    } while (step.after != 0);
    return all;
}

/// All ended, or all open, batches of jobs. Throws `Failure` when the store fails.
inline std::vector<JobBatch> job_batches_of(Store& store, bool ended, TimePoint now) {
    std::vector<JobBatch> all;
    ListJobBatches step{.ended = ended};
    do {
        auto page = perform(store, step, now).value();
        all.insert(all.end(), page.batches.begin(), page.batches.end());
        step.after = page.next;
    } while (step.after != 0);
    return all;
}

/// Reads a snapshot: the batches of the subscribers `tokens`, the jobs of `queue`, and everything
/// that is not selected by a name. Throws `Failure` when the store fails.
template <class Tokens>
Snapshot snapshot_of(Store& store, const Tokens& tokens, const std::string& queue, TimePoint now) {
    const auto get = [&](auto step) { return perform(store, std::move(step), now).value(); };
    Snapshot all{.topics = get(ListTopics{}),
                 .subscribers = get(ListSubscribers{}),
                 .tokens = get(ListTokens{}),
                 .batches = {},
                 .dead = {},
                 .queues = get(ListQueues{}),
                 .jobs = {},
                 .counters = get(ListCounters{}),
                 .recurring = get(ListRecurringJobs{}),
                 .timers = {},
                 .job_batches = job_batches_of(store, false, now)};
    // Stores do not persist the workers of a queue. These fields are not compared.
    for (auto& listed : all.queues) {
        listed.workers = listed.unprofiled = 0;
        listed.worker_at.reset();
    }
    const auto ended = job_batches_of(store, true, now);
    all.job_batches.insert(all.job_batches.end(), ended.begin(), ended.end());
    for (const auto& token : tokens) {
        // The progress of a delivery may change with a restart, and is not compared.
        auto& batches = all.batches[token];
        for (auto& batch : get(ListBatches{.token = token, .limit = 100'000})) {
            batches.push_back(std::move(batch.status));
        }
        all.dead[token] = get(ListDeadBatches{.token = token, .limit = subscription_dead_max});
    }
    using State = JobStatus::State;
    for (const auto state : {State::scheduled, State::ready, State::pending, State::buried}) {
        all.jobs.push_back(jobs_of(store, queue, state, now));
    }
    for (const auto state : {TimerState::pending, TimerState::fired, TimerState::dead}) {
        all.timers.push_back(get(ListTimers{.space = timer_space, .state = state, .limit = 1'000}));
    }
    return all;
}

inline void expect_unchanged(const Snapshot& now, const Snapshot& before,
                             Where at = Where::here()) {
    expect_equal(now.topics, before.topics, "topics (must not change)", at);
    expect_equal(now.subscribers, before.subscribers, "subscribers (must not change)", at);
    expect_equal(now.tokens, before.tokens, "tokens (must not change)", at);
    expect_equal(now.batches, before.batches, "batches (must not change)", at);
    expect_equal(now.dead, before.dead, "DEAD batches (must not change)", at);
    expect_equal(now.queues, before.queues, "queues (must not change)", at);
    expect_equal(now.jobs, before.jobs, "jobs (must not change)", at);
    expect_equal(now.counters, before.counters, "counters (must not change)", at);
    expect_equal(now.job_batches, before.job_batches, "batches of jobs (must not change)", at);
    expect_equal(now.recurring, before.recurring, "recurring jobs (must not change)", at);
    expect_equal(now.timers, before.timers, "timers (must not change)", at);
}

}  // namespace routemaster::testing
