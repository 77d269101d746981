/// @file
/// Restarts of the embedded store have no visible effect.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "file_scene.hpp"
#include "support/random_steps.hpp"
#include "support/seed.hpp"
#include "support/store_report.hpp"
#include "twin.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// Performs random steps, ten per submission.
void live(FileScene& scene, Twin& twin, RandomSteps& random, int submissions) {
    for (int i = 0; i < submissions; ++i) {
        std::vector<Step> steps;
        for (int n = 0; n < 10; ++n) steps.push_back(random.next(scene.now));
        for (const auto& outcome : twin.perform(*scene.store, std::move(steps), scene.now)) {
            const auto* acquired = outcome ? std::get_if<Acquired>(&*outcome) : nullptr;
            if (acquired != nullptr) random.got(acquired->leases);
            const auto* dead =
                outcome ? std::get_if<std::vector<DeadBatchStatus>>(&*outcome) : nullptr;
            if (dead != nullptr) random.got(*dead);
            const auto* queued =
                outcome ? std::get_if<std::vector<QueuedBatch>>(&*outcome) : nullptr;
            if (queued != nullptr) random.got(*queued);
            const auto* created = outcome ? std::get_if<JobBatchCreated>(&*outcome) : nullptr;
            if (created != nullptr) random.got(*created);
        }
        scene.now += random.pause();
    }
}

std::vector<BatchStatus> batches_of(Store& store, const std::string& token, TimePoint now) {
    std::vector<BatchStatus> all;
    for (const auto& batch : perform(store, ListBatches{token}, now).value()) {
        all.push_back(batch.status);
    }
    return all;
}

/// Brings the store into a state that a restart preserves: no job is leased or READY, each job
/// waits for a different instant, and each attempt is settled. A high max_in_flight makes all
/// deliveries eligible.
void come_to_rest(FileScene& scene, Twin& twin) {
    auto& store = *scene.store;
    const auto subscribers = perform(store, ListSubscribers{}, scene.now).value();
    const auto subscribe_all = [&](bool wide) {
        for (const auto& status : subscribers) {
            const auto& wanted = status.subscription;
            twin.perform(store,
                         Subscribe{wanted.token,
                                   status.topics,
                                   {.callback = wanted.callback,
                                    .uuid = wanted.uuid,
                                    .max_in_flight =
                                        wide ? subscription_in_flight_max : wanted.max_in_flight}},
                         scene.now)
                .value();
        }
    };
    scene.now += Duration{1'000'000};
    for (const auto& worker : RandomSteps::workers()) {
        twin.perform(store, RetireWorker{worker}, scene.now).value();
    }
    subscribe_all(true);
    auto later = scene.now + Duration{1};
    const auto acquire = [&](const char* queue) {
        return twin
            .perform(store,
                     AcquireJobs{.queue = queue,
                                 .worker = scene.worker,
                                 .limit = 100'000,
                                 .destinations = RandomSteps::everywhere()},
                     scene.now)
            .value()
            .leases;
    };
    for (auto leases = acquire(delivery_queue); !leases.empty(); leases = acquire(delivery_queue)) {
        for (const auto& lease : leases) {
            twin.perform(store, BeginDelivery{lease, Duration{0}}, scene.now).value();
            twin.perform(store,
                         SettleDelivery{.lease = lease,
                                        .delivered = false,
                                        .health_change = 1,
                                        .begun_at = scene.now,
                                        .retry_at = later += Duration{1}},
                         scene.now)
                .value();
        }
    }
    twin.perform(store, PauseQueue{"work", false}, scene.now).value();
    // A restart forgets the tokens that were taken.
    twin.perform(store, LimitQueue{"work", {}}, scene.now).value();
    for (auto leases = acquire("work"); !leases.empty(); leases = acquire("work")) {
        for (const auto& lease : leases) {
            twin.perform(store, NackJob{lease, later += Duration{1}}, scene.now).value();
        }
    }
    twin.perform(store, RetireWorker{scene.worker}, scene.now).value();
    subscribe_all(false);
}

}  // namespace

TEST_CASE("20,000 random steps with 20 restarts have equal results in a file and in memory") {
    const auto number = seed(21);
    ROUTEMASTER_TELL_SEED(number);
    FileOptions options{.slack_max = 4'096};
    SUBCASE("all payloads are kept in memory") {}
    SUBCASE("few payloads are kept in memory") { options.memory_max = 64; }
    FileScene scene{options};
    Twin twin;
    for (std::uint64_t life = 0; life < 20; ++life) {
        CAPTURE(life);
        RandomSteps random{number * 1'000 + life, life % 2 == 0 ? 1U : 4U};
        live(scene, twin, random, 100);
        come_to_rest(scene, twin);
        scene.close();
        scene.open(options);
        twin.reopened();
        const auto now = scene.now;
        CHECK(perform(*scene.store, ListSubscribers{}, now).value() ==
              perform(twin.memory(), ListSubscribers{}, now).value());
        for (const auto& token : RandomSteps::tokens) {
            CHECK(batches_of(*scene.store, token, now) == batches_of(twin.memory(), token, now));
        }
        REQUIRE(report_of(*scene.store, RandomSteps::tokens, now) ==
                report_of(twin.memory(), RandomSteps::tokens, now));
        check_gauges(*scene.store, now);
        // Jobs blocked by their group are SCHEDULED in one store and READY in the other.
        for (const char* queue : {delivery_queue, "work"}) {
            CHECK(twin.perform(*scene.store,
                               AcquireJobs{.queue = queue,
                                           .worker = scene.worker,
                                           .destinations = RandomSteps::everywhere()},
                               now)
                      .value()
                      .leases.empty());
        }
    }
}
