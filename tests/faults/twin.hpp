/// @file
/// `Twin`: a store in a file together with a store in memory that performs the same steps.

#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/store/perform.hpp"
#include "support/machine_store.hpp"
#include "testing/conformance/text.hpp"

namespace routemaster::test {

/// Performs steps in a store under test, and the successful ones also in a `MachineStore`. Both
/// outcomes must be equal. Steps use the leases of the store under test. Only fences may differ,
/// and the numbers of attempts: a disk failure forgets the attempts under way.
class Twin {
public:
    /// Returns the outcomes of the store under test, in the order of the steps. Steps that were
    /// `unavailable` are not performed in memory. Any further difference fails the test.
    std::vector<Outcome> perform(Store& store, std::vector<Step> steps, TimePoint now) {
        auto twins = steps;
        auto outcomes = perform_all(store, steps, now);
        REQUIRE(outcomes.size() == twins.size());
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            if (!outcomes[i] && outcomes[i].error().code() == Errc::unavailable) continue;
            auto& twin = twins[i];
            std::visit([this](auto& any) { translate(any); }, twin);
            compare(outcomes[i], perform_all(memory_, {&twin, 1}, now).front());
        }
        return outcomes;
    }

    /// As above, for one step.
    template <class S>
    Result<typename S::Reply> perform(Store& store, S step, TimePoint now) {
        std::vector<Step> steps;
        steps.emplace_back(std::move(step));
        auto outcomes = perform(store, std::move(steps), now);
        return reply_of<S>(outcomes.front());
    }

    [[nodiscard]] MachineStore& memory() noexcept { return memory_; }

    /// Call it when the store under test has read its state again.
    void restored() { memory_.restored(); }

    /// Call it when the store under test was reopened: all leases and firings are lost.
    void reopened() {
        memory_.reopened();
        leases_.clear();
    }

private:
    static std::string text_of(const Reply& reply) {
        return std::visit(
            [](const auto& any) -> std::string {
                if constexpr (requires { testing::Text::of(any); }) return testing::Text::of(any);
                return "?";
            },
            reply);
    }

    template <class S>
    void translate(S& step) {
        if constexpr (std::is_same_v<S, AckJob> || std::is_same_v<S, NackJob> ||
                      std::is_same_v<S, ReleaseJob> || std::is_same_v<S, FailJob> ||
                      std::is_same_v<S, CompleteJob> || std::is_same_v<S, BeginDelivery> ||
                      std::is_same_v<S, SettleDelivery>) {
            const auto known = std::find_if(leases_.begin(), leases_.end(), [&](const auto& pair) {
                return pair.first == step.lease;
            });
            if (known != leases_.end()) {
                step.lease = known->second;
            } else {
                step.lease.fence = 0;
            }
        }
    }

    using Explained = detail::MaybeBoxed<std::optional<JobExplanation>>;

    void compare(Outcome& got, const Outcome& expected) {
        REQUIRE(got.has_value() == expected.has_value());
        if (!got) {
            CHECK(got.error().message() == expected.error().message());
        } else if (auto* acquired = std::get_if<Acquired>(&*got)) {
            pair(*acquired, std::get<Acquired>(*expected));
        } else if (auto* heard = std::get_if<HeartbeatReply>(&*got)) {
            for (auto& fence : heard->cancelled) fence = twin_of(fence);
            std::sort(heard->cancelled.begin(), heard->cancelled.end());
            auto wanted = std::get<HeartbeatReply>(*expected);
            std::sort(wanted.cancelled.begin(), wanted.cancelled.end());
            REQUIRE(*heard == wanted);
        } else if (auto* counts = std::get_if<TimerCounts>(&*got)) {
            // Listeners are registered again by their next request.
            auto wanted = std::get<TimerCounts>(*expected);
            counts->listeners = 0;
            wanted.listeners = 0;
            REQUIRE(*counts == wanted);
        } else if (auto* throughput = std::get_if<QueueThroughput>(&*got)) {
            // A store counts from the time when it read its state.
            const auto& wanted = std::get<QueueThroughput>(*expected);
            CHECK(contains(wanted.minutes, throughput->minutes));
            CHECK(contains(wanted.hours, throughput->hours));
        } else if (auto* batches = std::get_if<std::vector<QueuedBatch>>(&*got)) {
            REQUIRE(kept_of(*batches) == kept_of(std::get<std::vector<QueuedBatch>>(*expected)));
        } else if (auto* batch = std::get_if<std::optional<QueuedBatch>>(&*got)) {
            const auto& wanted = std::get<std::optional<QueuedBatch>>(*expected);
            REQUIRE(batch->has_value() == wanted.has_value());
            if (wanted) REQUIRE(kept_of({**batch}) == kept_of({*wanted}));
        } else if (auto* listed = std::get_if<std::vector<ListedQueue>>(&*got)) {
            auto wanted = std::get<std::vector<ListedQueue>>(*expected);
            // READY jobs may have a different order. Heartbeats of workers report their queues
            // again.
            for (auto* queues : {listed, &wanted}) {
                for (auto& queue : *queues) {
                    queue = {.name = queue.name, .status = queue.status, .limits = queue.limits};
                }
            }
            CAPTURE(testing::Text::of(*listed));
            CAPTURE(testing::Text::of(wanted));
            REQUIRE(*listed == wanted);
        } else if (auto* workers = std::get_if<std::vector<ListedWorker>>(&*got)) {
            auto wanted = std::get<std::vector<ListedWorker>>(*expected);
            // Profiles, and workers without jobs, are known again after the next heartbeat.
            for (auto* all : {workers, &wanted}) {
                std::erase_if(*all, [](const ListedWorker& worker) { return worker.leased == 0; });
                for (auto& worker : *all) {
                    worker.profile.reset();
                    worker.busy = 0;
                }
            }
            CAPTURE(testing::Text::of(*workers));
            CAPTURE(testing::Text::of(wanted));
            REQUIRE(*workers == wanted);
        } else if (std::holds_alternative<Explained>(*got)) {
            auto explained = got->as<std::optional<JobExplanation>>();
            auto wanted = expected->as<std::optional<JobExplanation>>();
            for (auto* each : {&explained, &wanted}) {
                if (*each) (*each)->workers.reset();
            }
            REQUIRE(explained == wanted);
        } else {
            const auto* start = std::get_if<DeliveryStart>(&*got);
            auto wanted = *expected;
            if (start != nullptr) std::get<DeliveryStart>(wanted).attempt = start->attempt;
            CAPTURE(text_of(*got));
            CAPTURE(text_of(wanted));
            REQUIRE(*got == wanted);
        }
    }

    /// Whether each count in `some` is at most the count in `all`.
    static bool contains(const std::vector<QueueCountsAt>& all,
                         const std::vector<QueueCountsAt>& some) {
        return std::all_of(some.begin(), some.end(), [&](const QueueCountsAt& one) {
            const auto same = std::find_if(all.begin(), all.end(), [&](const QueueCountsAt& other) {
                return other.from == one.from;
            });
            return same != all.end() && one.counts.done <= same->counts.done &&
                   one.counts.failed <= same->counts.failed &&
                   one.counts.buried <= same->counts.buried &&
                   one.counts.expired <= same->counts.expired;
        });
    }

    /// The parts of batches that survive a restart, whatever attempts are under way.
    static std::vector<BatchStatus> kept_of(const std::vector<QueuedBatch>& batches) {
        std::vector<BatchStatus> kept;
        for (const auto& batch : batches) {
            kept.push_back(batch.status);
            kept.back().attempts = 0;
        }
        return kept;
    }

    /// The fence in memory for a lease of the store under test.
    std::uint64_t twin_of(std::uint64_t fence) const {
        const auto known = std::find_if(leases_.begin(), leases_.end(), [&](const auto& pair) {
            return pair.first.fence == fence;
        });
        return known == leases_.end() ? 0 : known->second.fence;
    }

    /// The order of READY jobs may change when the state is read again, so they are compared as a
    /// set.
    void pair(Acquired got, Acquired expected) {
        CHECK(got.next_due == expected.next_due);
        REQUIRE(got.leases.size() == expected.leases.size());
        for (auto* leases : {&got.leases, &expected.leases}) {
            std::sort(leases->begin(), leases->end(),
                      [](const Lease& a, const Lease& b) { return a.job < b.job; });
        }
        for (std::size_t i = 0; i < got.leases.size(); ++i) {
            REQUIRE(got.leases[i].job == expected.leases[i].job);
            CHECK(got.leases[i].id == expected.leases[i].id);
            leases_.emplace_back(got.leases[i], expected.leases[i]);
        }
    }

    MachineStore memory_;
    std::vector<std::pair<Lease, Lease>> leases_;  // Leases of the store under test, and in memory.
};

}  // namespace routemaster::test
