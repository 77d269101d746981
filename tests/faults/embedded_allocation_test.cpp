/// @file
/// Memory that runs out at any moment: a step fails completely, and the store recovers.

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "failing_allocation.hpp"
#include "file_scene.hpp"
#include "routemaster/store/memory.hpp"
#include "support/recorded_log.hpp"

namespace routemaster::test {
namespace {

/// The contents of a store that are kept on disk, without the times of attempts.
struct Contents {
    std::vector<Topic> topics;
    std::vector<SubscriberStatus> subscribers;
    std::vector<ApiToken> tokens;
    std::vector<BatchStatus> billing;
    std::vector<BatchStatus> shipping;
    std::vector<Counter> counters;
    std::uint64_t jobs = 0;

    bool operator==(const Contents&) const = default;
};

struct Scene : FileScene {
    explicit Scene(const FileOptions& options = {}) : FileScene{options} {
        subscribe("billing", 2);
        subscribe("shipping", 2);
        for (int i = 0; i < 5; ++i) publish("event " + std::to_string(i));
        for (int i = 0; i < 3; ++i) must(push(i));
    }

    [[nodiscard]] static PushJob push(int n) {
        return {.queue = "a-queue-with-a-name-of-some-length",
                .job = "a job that has its bytes on the heap, number " + std::to_string(n),
                .run_at = {}};
    }

    [[nodiscard]] Contents contents() {
        const auto queue = must(CountJobs{push(0).queue});
        auto subscribers = must(ListSubscribers{});
        for (auto& each : subscribers) each.last_attempted_at.reset();
        return {.topics = must(ListTopics{}),
                .subscribers = std::move(subscribers),
                .tokens = must(ListTokens{}),
                .billing = batches("billing"),
                .shipping = batches("shipping"),
                .counters = must(ListCounters{}),
                .jobs = queue.scheduled + queue.ready + queue.pending};
    }

    [[nodiscard]] std::vector<BatchStatus> batches(const std::string& subscriber) {
        std::vector<BatchStatus> listed;
        for (auto& batch : must(ListBatches{subscriber})) {
            listed.push_back(batch.status);
            listed.back().attempts = 0;
        }
        return listed;
    }

    /// Performs a step while the n-th allocation fails. Returns nothing when the step ended before
    /// the failure.
    [[nodiscard]] std::optional<Outcome> perform_without_memory(Step step, Allocations whose,
                                                                std::uint64_t n) {
        std::vector<Step> steps;
        steps.push_back(std::move(step));
        std::promise<Outcome> promise;
        auto future = promise.get_future();
        Completion done = [&promise](std::span<Outcome> outcomes) {
            promise.set_value(std::move(outcomes[0]));
        };
        const FailingAllocation failing{whose, n};
        try {
            store->submit(steps, now, std::move(done));
        } catch (const std::bad_alloc&) {
            return Error{Errc::unavailable, "not taken"};
        }
        REQUIRE(future.wait_for(std::chrono::seconds{20}) == std::future_status::ready);
        if (!failing.happened()) return std::nullopt;
        return future.get();
    }

    /// Waits until the store accepts changes again.
    void await_health() {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (!perform(AddToCounters{})) {
            REQUIRE(std::chrono::steady_clock::now() < deadline);
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }

    void reopen() {
        close();
        open();
    }
};

/// Fails each allocation of a step in turn, until the step succeeds without a failure. Checks that
/// a failed step changed nothing. Returns the number of failed steps.
std::uint64_t fail_each(const std::function<Step(Scene&)>& step, Allocations whose) {
    Scene scene;
    std::uint64_t refused = 0;
    for (std::uint64_t n = 1;; ++n) {
        CAPTURE(n);
        auto wanted = step(scene);
        const auto before = scene.contents();
        const auto outcome = scene.perform_without_memory(std::move(wanted), whose, n);
        if (!outcome) return refused;
        scene.await_health();
        const auto after = scene.contents();
        if (!*outcome) {
            CHECK(outcome->error().code() == Errc::unavailable);
            CHECK(after.topics == before.topics);
            CHECK(after.subscribers == before.subscribers);
            CHECK(after.tokens == before.tokens);
            CHECK(after.billing == before.billing);
            CHECK(after.shipping == before.shipping);
            CHECK(after.counters == before.counters);
            CHECK(after.jobs == before.jobs);
            ++refused;
        }
        if (n % 7 == 0) {
            scene.reopen();
            CHECK(scene.contents() == after);
        }
        REQUIRE(n < 2'000);
    }
}

Step publication(Scene& scene) {
    return scene.event("an event that is too long to be kept in a small string");
}

}  // namespace

TEST_CASE("a publication that runs out of memory changes nothing") {
    CHECK(fail_each(publication, Allocations::of_this_thread) > 5);
}

TEST_CASE("a subscription that runs out of memory changes nothing") {
    int n = 0;
    const auto step = [&n](Scene&) {
        return Subscribe{"a subscriber with a long name " + std::to_string(++n),
                         {"orders", "a_topic_that_nobody_knows_yet_" + std::to_string(n % 7)},
                         {.callback = "https://example.com/a/path/of/some/length"}};
    };
    CHECK(fail_each(step, Allocations::of_this_thread) > 1);
}

TEST_CASE("a push that runs out of memory changes nothing") {
    int n = 100;
    const auto step = [&n](Scene&) { return Scene::push(++n); };
    CHECK(fail_each(step, Allocations::of_this_thread) > 2);
}

TEST_CASE("a settlement that runs out of memory changes nothing") {
    const Uid worker = UidSource{3, 4}.next();
    const auto step = [worker](Scene& scene) -> Step {
        for (int i = 0; i < 8; ++i) scene.publish("one more " + std::to_string(i));
        const auto leases =
            scene.must(AcquireJobs{.queue = "main", .worker = worker, .known = 0}).leases;
        REQUIRE_FALSE(leases.empty());
        const auto start = scene.must(BeginDelivery{leases[0], Duration{0}});
        REQUIRE(start.verdict == Verdict::deliver);
        return SettleDelivery{.lease = leases[0], .delivered = true, .begun_at = scene.now};
    };
    CHECK(fail_each(step, Allocations::of_this_thread) > 0);
}

TEST_CASE("jobs whose acquisition failed for lack of memory are acquired again") {
    Scene scene;
    const Uid worker = scene.uids.next();
    const AcquireJobs acquire{
        .queue = Scene::push(0).queue, .worker = worker, .limit = 10, .known = 0};
    for (std::uint64_t n = 1;; ++n) {
        CAPTURE(n);
        const auto outcome = scene.perform_without_memory(acquire, Allocations::of_this_thread, n);
        if (!outcome) break;
        scene.await_health();
        const auto leases = scene.must(acquire).leases;
        CHECK(leases.size() == 3);
        for (const auto& lease : leases) scene.must(NackJob{.lease = lease, .run_at = scene.now});
        REQUIRE(n < 100);
    }
}

TEST_CASE("a file store whose writer thread runs out of memory loses no acknowledged data") {
    CHECK(fail_each(publication, Allocations::of_other_threads) > 0);
}

TEST_CASE("a store that ran out of memory logs its recovery") {
    const RecordedLog log;
    Scene scene{FileOptions{.log = log.sink()}};
    for (std::uint64_t n = 1; log.count(LogLevel::error, "out of memory") == 0; ++n) {
        REQUIRE(scene.perform_without_memory(publication(scene), Allocations::of_this_thread, n)
                    .has_value());
        scene.await_health();
    }
    CHECK(log.count(LogLevel::info, "the store works again") == 1);
}

TEST_CASE("a store in memory stops when a step runs out of memory, and logs the reason") {
    MemoryStore store;
    const TimePoint now{};
    UidSource uids{1, 2};
    perform(store, Subscribe{"billing", {"orders"}, {.callback = "local:billing"}}, now).value();
    std::vector<Outcome> seen;
    seen.reserve(2);
    std::vector<Step> steps{PublishEvent{.topic = "orders",
                                         .publisher = std::nullopt,
                                         .message = std::string(100, 'x'),
                                         .timestamp = now,
                                         .uid = uids.next()}};
    Completion done = [&seen](std::span<Outcome> outcomes) { seen.push_back(outcomes[0]); };
    {
        const FailingAllocation failing{Allocations::of_this_thread, 2};
        store.submit(steps, now, std::move(done));
    }
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].error().code() == Errc::unavailable);
    const auto listed = perform(store, ListTopics{}, now);
    REQUIRE_FALSE(listed);
    CHECK(listed.error().context() == "out of memory");
}

}  // namespace routemaster::test
