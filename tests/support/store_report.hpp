/// @file
/// Compares the reports of two stores, or of one store before and after a restart.

#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "routemaster/store.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"
#include "support/random_steps.hpp"
#include "testing/conformance/snapshot.hpp"

namespace routemaster::test {

/// Reads a snapshot. `tokens` are the subscribers whose batches are listed. Unfinished attempts and
/// the next READY job are left out, because a restart forgets both.
inline testing::Snapshot report_of(Store& store, const std::vector<std::string>& tokens,
                                   TimePoint now) {
    auto report = testing::snapshot_of(store, tokens, "work", now);
    for (auto& subscriber : report.subscribers) subscriber.last_attempted_at.reset();
    for (auto& queue : report.queues) queue.due_since.reset();
    for (auto& [token, batches] : report.batches) {
        for (auto& batch : batches) batch.attempts = 0;
    }
    return report;
}

/// Checks that gauges equal a recount over the batches, and that each subscriber has at most one
/// CURRENT batch.
inline void check_gauges(Store& store, TimePoint now) {
    for (const auto& subscriber : perform(store, ListSubscribers{}, now).value()) {
        const auto& token = subscriber.subscription.token;
        std::uint64_t events = 0;
        int current = 0;
        const auto batches = perform(store, ListBatches{token, 1'000'000}, now).value();
        for (const auto& batch : batches) {
            events += batch.status.events;
            current += batch.status.current ? 1 : 0;
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
