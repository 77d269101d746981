/// @file
/// Everything that can be listed in a store, to compare two stores, or two states of one.

#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "routemaster/perform.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "support/random_steps.hpp"

namespace routemaster::test {

/// The lists of a store.
struct StoreReport {
    std::vector<Topic> topics;
    std::vector<SubscriberStatus> subscribers;
    std::vector<ApiToken> tokens;
    std::vector<std::vector<BatchStatus>> batches;
    std::vector<std::vector<DeadBatchStatus>> dead;
    std::vector<QueueStatus> queues;
    std::vector<std::vector<JobStatus>> jobs;  ///< Of the queue `work`, by state.
    std::vector<Counter> counters;
    friend bool operator==(const StoreReport&, const StoreReport&) = default;
};

/// Lists the jobs of a store by their states.
inline std::vector<std::vector<JobStatus>> jobs_of(Store& store, TimePoint now) {
    std::vector<std::vector<JobStatus>> all;
    for (int state = 0; state < 4; ++state) {
        ListJobs step{.queue = "work",
                      .state = static_cast<JobStatus::State>(state),
                      .limit = jobs_looked_at_max};
        auto& jobs = all.emplace_back();
        do {
            const auto page = perform(store, step, now).value();
            jobs.insert(jobs.end(), page.jobs.begin(), page.jobs.end());
            step.after = page.next;
        } while (step.after != 0);
    }
    return all;
}

/// Lists a store. `tokens` are the subscribers whose batches are listed. Unfinished attempts are
/// left out: a restart forgets them.
inline StoreReport report_of(Store& store, const std::vector<std::string>& tokens, TimePoint now) {
    StoreReport report{.topics = perform(store, ListTopics{}, now).value(),
                       .subscribers = perform(store, ListSubscribers{}, now).value(),
                       .tokens = perform(store, ListTokens{}, now).value(),
                       .batches = {},
                       .dead = {},
                       .queues = {perform(store, CountJobs{"work"}, now).value(),
                                  perform(store, CountJobs{delivery_queue}, now).value()},
                       .jobs = jobs_of(store, now),
                       .counters = perform(store, ListCounters{}, now).value()};
    for (auto& subscriber : report.subscribers) subscriber.last_attempted_at.reset();
    for (const auto& token : tokens) {
        auto& batches =
            report.batches.emplace_back(perform(store, ListBatches{token, 100'000}, now).value());
        for (auto& batch : batches) batch.attempts = 0;
        report.dead.push_back(perform(store, ListDeadBatches{token}, now).value());
    }
    return report;
}

/// Checks that gauges equal a recount over the batches, with at most one CURRENT batch for each
/// subscriber.
inline void check_gauges(Store& store, TimePoint now) {
    for (const auto& subscriber : perform(store, ListSubscribers{}, now).value()) {
        const auto& token = subscriber.subscription.token;
        std::uint64_t events = 0;
        int current = 0;
        const auto batches = perform(store, ListBatches{token, 1'000'000}, now).value();
        for (const auto& batch : batches) {
            events += batch.events;
            current += batch.current ? 1 : 0;
        }
        CHECK(subscriber.events_queued == events);
        CHECK(subscriber.batches_queued == batches.size());
        CHECK(current <= 1);
        CHECK(subscriber.batches_dead ==
              perform(store, ListDeadBatches{token, 10'000}, now).value().size());
    }
}

/// Delivers all waiting batches, and returns them by subscriber, in the order of delivery.
inline std::map<std::string, std::vector<std::string>> deliver_all(Store& store, TimePoint now) {
    std::map<std::string, std::vector<std::string>> messages;
    const Uid worker{7, 7};
    while (true) {
        const auto got = perform(store,
                                 AcquireJobs{.queue = delivery_queue,
                                             .worker = worker,
                                             .limit = 100,
                                             .destinations = RandomSteps::everywhere()},
                                 now)
                             .value();
        if (got.leases.empty()) return messages;
        for (const auto& lease : got.leases) {
            const auto start = perform(store, BeginDelivery{lease, Duration{1}, 0}, now).value();
            if (start.verdict != Verdict::deliver) continue;
            auto& arrived = messages[start.subscription.token];
            for (const auto message : start.messages) arrived.emplace_back(message);
            const SettleDelivery settle{
                .lease = lease, .delivered = true, .health_change = 1, .begun_at = now};
            REQUIRE(perform(store, settle, now).value() == Settlement::settled);
        }
    }
}

}  // namespace routemaster::test
