/// @file
/// The time at which the embedded store completes a step: once, when all changes on which its reply
/// depends are on disk.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "disk.hpp"
#include "file_bytes.hpp"
#include "file_scene.hpp"
#include "support/await.hpp"
#include "testing/conformance/threads.hpp"

using namespace routemaster;
using namespace routemaster::test;
using routemaster::testing::Signal;

namespace {

constexpr Duration reply_timeout{20'000};

/// Submits a step. Tells whether the step has completed, and waits for its reply.
template <class S>
class Submission {
public:
    Submission(FileScene& scene, S step) {
        submit(*scene.store, std::move(step), scene.now, [this](Result<typename S::Reply> reply) {
            reply_ = std::move(reply);
            answered_.raise();
        });
    }

    [[nodiscard]] bool answered() const { return answered_.count() > 0; }
    typename S::Reply wait() {
        REQUIRE(answered_.wait_beyond(0, reply_timeout));
        return reply_->value();
    }

private:
    std::optional<Result<typename S::Reply>> reply_;
    Signal answered_;
};

}  // namespace

TEST_CASE("no step is acknowledged, and no change is listed, before it is synced") {
    Disk disk;
    FileScene scene;
    scene.subscribe("billing");
    scene.must(PutToken{"old", "shop"});

    SuspendedSyncs suspended{disk};
    Submission publication{scene, scene.event("1")};
    suspended.wait();
    CHECK(!publication.answered());

    // These steps wait for a sync: their replies depend on changes that are not on disk.
    Submission status{scene, FindSubscriber{"billing"}};
    Submission delivery{scene, AcquireJobs{delivery_queue, scene.worker, 1}};
    Submission push{scene, scene.job("a")};
    Submission duplicate{scene, scene.job("a")};
    Submission acquisition{scene, AcquireJobs{"work", scene.worker, 1}};
    Submission counters{scene, ListCounters{}};
    CHECK(!status.answered());
    CHECK(!delivery.answered());
    CHECK(!push.answered());
    CHECK(!duplicate.answered());
    CHECK(!acquisition.answered());
    CHECK(!counters.answered());

    // These replies depend on no change that a crash could undo.
    Submission token{scene, FindToken{"old"}};
    Submission heartbeat{scene, Heartbeat{scene.worker}};
    CHECK(token.answered());
    CHECK(heartbeat.answered());

    CHECK(!publication.answered());
    suspended.release();
    CHECK(publication.wait() == Done{});
    CHECK(status.wait()->events_queued == 1);
    CHECK(delivery.wait().leases.size() == 1);
    CHECK(push.wait() == PushOutcome::pushed);
    CHECK(duplicate.wait() == PushOutcome::duplicate);
    CHECK(acquisition.wait().leases.size() == 1);
    CHECK(!counters.wait().empty());
}

TEST_CASE("a delivery does not wait until the closing of its batch is on disk") {
    Disk disk;
    FileScene scene;
    scene.subscribe("billing");
    scene.publish("1");
    const auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    SuspendedSyncs suspended{disk};
    CHECK(scene.must(BeginDelivery{lease, Duration{1}}).verdict == Verdict::deliver);
    suspended.release();
}

TEST_CASE("an attempt that counts towards a limit is on disk before it begins") {
    Disk disk;
    FileScene scene;
    scene.must(Subscribe{
        "billing",
        {"orders"},
        {.callback = "https://billing.example/", .timeout = Duration{0}, .attempts_max = 3}});
    scene.publish("1");
    const auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    SuspendedSyncs suspended{disk};
    Submission begin{scene, BeginDelivery{lease, Duration{1}}};
    suspended.wait();
    CHECK(!begin.answered());
    suspended.release();
    CHECK(begin.wait().verdict == Verdict::deliver);
}

TEST_CASE("a settlement marked patient is written with the next commit, or soon without a commit") {
    Disk disk;
    FileScene scene;
    scene.subscribe("billing", 1);
    scene.publish("1");
    const auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 9}).leases.at(0);
    scene.must(BeginDelivery{lease, Duration{1}});
    SuspendedSyncs suspended{disk};
    Submission settle{
        scene,
        SettleDelivery{.lease = lease, .delivered = true, .begun_at = scene.now, .patient = true}};
    SUBCASE("a push causes the next commit") {
        Submission push{scene, scene.job("a")};
        suspended.wait();
        CHECK(!push.answered());
        CHECK(!settle.answered());
        suspended.release();
        CHECK(push.wait() == PushOutcome::pushed);
    }
    SUBCASE("no other step follows") {
        suspended.wait();
        CHECK(!settle.answered());
        suspended.release();
    }
    CHECK(settle.wait() == Settlement::settled);
}

TEST_CASE("without an attempt limit, a further attempt begins without a write") {
    Disk disk;
    FileScene scene;
    scene.subscribe("billing", 1);
    scene.publish("1");
    auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    scene.must(BeginDelivery{lease, Duration{1}});
    scene.must(SettleDelivery{.lease = lease, .begun_at = scene.now, .retry_at = scene.now});
    lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    {
        const SuspendedSyncs suspended{disk};
        CHECK(scene.must(BeginDelivery{lease, Duration{1}}).attempt == 2);
    }
    // The end of the attempt is unknown, and its number is used again.
    scene.close();
    scene.open();
    lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    CHECK(scene.must(BeginDelivery{lease, Duration{1}}).attempt == 2);
}

TEST_CASE("the attempt after an attempt without a reported failure is on disk before it begins") {
    FileScene scene;
    scene.subscribe("billing", 1);
    scene.publish("1");
    for (std::uint32_t attempt = 1; attempt <= 2; ++attempt) {
        const auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
        CHECK(scene.must(BeginDelivery{lease, Duration{1}}).attempt == attempt);
        scene.must(NackJob{lease, scene.now});
    }
    scene.close();
    scene.open();
    const auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    CHECK(scene.must(BeginDelivery{lease, Duration{1}}).attempt == 3);
}

TEST_CASE("with an attempt limit, a further attempt is written with the next commit, or soon") {
    Disk disk;
    FileScene scene;
    scene.must(Subscribe{
        "billing",
        {"orders"},
        {.callback = "https://billing.example/", .timeout = Duration{0}, .attempts_max = 3}});
    scene.publish("1");
    auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    scene.must(BeginDelivery{lease, Duration{1}});
    scene.must(SettleDelivery{.lease = lease, .begun_at = scene.now, .retry_at = scene.now});
    lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    SuspendedSyncs suspended{disk};
    Submission begin{scene, BeginDelivery{lease, Duration{1}}};
    SUBCASE("a push causes the next commit") {
        Submission push{scene, scene.job("a")};
        suspended.wait();
        CHECK(!push.answered());
        CHECK(!begin.answered());
        suspended.release();
        CHECK(push.wait() == PushOutcome::pushed);
    }
    SUBCASE("no other step follows") {
        suspended.wait();
        CHECK(!begin.answered());
        suspended.release();
    }
    CHECK(begin.wait().attempt == 2);
}

TEST_CASE("further attempts cause no separate syncs while other commits follow") {
    using SteadyClock = std::chrono::steady_clock;
    constexpr int attempts = 40;
    constexpr std::chrono::milliseconds interval{8};
    constexpr std::chrono::milliseconds too_late{40};
    Disk disk;
    FileScene scene;
    scene.reserve_fences();
    scene.subscribe("billing", 1);
    scene.publish("1");
    auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    scene.must(BeginDelivery{lease, Duration{1}});
    std::atomic<int> begun = 0;
    std::uint64_t late = 0;
    int published = 0;
    const auto publish_later = [&] {
        const auto at = SteadyClock::now();
        std::this_thread::sleep_until(at + interval);
        scene.publish(std::to_string(++published));
        if (SteadyClock::now() - at > too_late) ++late;
    };
    const auto before = disk.syncs();
    for (int i = 0; i < attempts; ++i) {
        submit(*scene.store,
               SettleDelivery{
                   .lease = lease, .begun_at = scene.now, .retry_at = scene.now, .patient = true},
               scene.now, [](const Result<Settlement>&) {});
        publish_later();
        lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
        submit(*scene.store, BeginDelivery{lease, Duration{1}}, scene.now,
               [&](const Result<DeliveryStart>& start) { begun += start->attempt > 1 ? 1 : 0; });
        publish_later();
    }
    CHECK(begun == attempts);
    const auto publications = static_cast<std::uint64_t>(published);
    CHECK_MESSAGE(disk.syncs() - before <= publications + late, "one for each");
}

TEST_CASE("a settlement marked patient causes no separate sync while other commits follow") {
    using SteadyClock = std::chrono::steady_clock;
    // The test takes longer than half a second, the interval in which the store checks its files.
    constexpr int deliveries = 80;
    constexpr std::chrono::milliseconds interval{8};
    constexpr std::chrono::milliseconds too_late{40};
    Disk disk;
    FileScene scene;
    scene.reserve_fences();
    scene.subscribe("billing", 1);
    scene.publish("first");
    std::atomic<int> settled = 0;
    std::uint64_t late = 0;
    const auto before = disk.syncs();
    for (int i = 0; i < deliveries; ++i) {
        const auto begun = SteadyClock::now();
        const auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
        scene.must(BeginDelivery{lease, Duration{1}});
        submit(*scene.store,
               SettleDelivery{
                   .lease = lease, .delivered = true, .begun_at = scene.now, .patient = true},
               scene.now, [&](const Result<Settlement>&) { ++settled; });
        std::this_thread::sleep_until(begun + interval);
        scene.publish(std::to_string(i));
        if (SteadyClock::now() - begun > too_late) ++late;
    }
    CHECK(settled == deliveries);
    CHECK_MESSAGE(disk.syncs() - before <= deliveries + late, "one for each publication");
}

TEST_CASE("a delivery does not wait for the sync of a health change that another delivery made") {
    Disk disk;
    FileScene scene;
    scene.must(Subscribe{"billing",
                         {"orders"},
                         {.callback = "https://billing.example/",
                          .timeout = Duration{0},
                          .max_events = 1,
                          .max_in_flight = 2}});
    scene.publish("1");
    scene.publish("2");
    const auto leases = scene.must(AcquireJobs{delivery_queue, scene.worker, 2}).leases;
    REQUIRE(leases.size() == 2);
    scene.must(BeginDelivery{.lease = leases[0], .backoff_max = Duration{1}, .concurrency_max = 2});
    SuspendedSyncs suspended{disk};
    Submission settle{scene, SettleDelivery{.lease = leases[0],
                                            .health_change = -10,
                                            .begun_at = scene.now,
                                            .retry_at = scene.now + Duration{60'000},
                                            .concurrency_max = 2}};
    suspended.wait();
    scene.now += Duration{10};
    const auto begun = scene.must(
        BeginDelivery{.lease = leases[1], .backoff_max = Duration{1}, .concurrency_max = 2});
    CHECK(begun.verdict == Verdict::deliver);
    CHECK(begun.health_points == 90);
    CHECK(!settle.answered());
    suspended.release();
    CHECK(settle.wait() == Settlement::settled);
}

TEST_CASE("a worker gets a fence (lease number) only after its reservation is on disk") {
    Disk disk;
    FileScene scene;
    for (const char* job : {"a", "b"}) scene.must(PushJob{"aux", job, scene.now});
    SuspendedSyncs suspended{disk};
    Submission first{scene, AcquireJobs{"aux", scene.worker, 1}};
    suspended.wait();
    Submission second{scene, AcquireJobs{"aux", scene.worker, 1}};
    CHECK(!first.answered());
    CHECK(!second.answered());
    suspended.release();
    CHECK(first.wait().leases.size() == 1);
    CHECK(second.wait().leases.size() == 1);
}

TEST_CASE("a worker gets a job only after a possible attempt of the job is on disk") {
    Disk disk;
    FileScene scene;
    for (const char* job : {"a", "b"}) scene.must(scene.job(job));
    // With reserved fences, and in `aux`, whose jobs have no attempts, an acquisition changes
    // nothing on disk.
    scene.must(PushJob{"aux", "job", scene.now});
    scene.must(AcquireJobs{"aux", scene.worker, 1});
    SuspendedSyncs suspended{disk};
    Submission first{scene, AcquireJobs{"work", scene.worker, 1}};
    suspended.wait();
    Submission second{scene, AcquireJobs{"work", scene.worker, 1}};
    CHECK(!first.answered());
    CHECK(!second.answered());
    suspended.release();
    CHECK(first.wait().leases.size() == 1);
    CHECK(second.wait().leases.size() == 1);
}

TEST_CASE("the batch behind a dropped batch is not handed out before the drop is on disk") {
    Disk disk;
    FileScene scene;
    scene.subscribe("billing", 1);
    scene.publish("1");
    scene.publish("2");
    // The first acquisition of a file waits for the reservation of its fence in any case.
    scene.must(scene.job("a"));
    REQUIRE(scene.must(AcquireJobs{"work", scene.worker, 1}).leases.size() == 1);
    SuspendedSyncs suspended{disk};
    Submission drop{scene, DropOldestBatches{1}};
    suspended.wait();
    // If a crash restored the first batch, this batch would have to be delivered before the second.
    Submission acquisition{scene, AcquireJobs{delivery_queue, scene.worker, 1}};
    CHECK(!acquisition.answered());
    suspended.release();
    CHECK(drop.wait().batches == 1);
    CHECK(acquisition.wait().leases.size() == 1);
}

TEST_CASE("neither a settlement nor a lost lease is reported before the settlement is on disk") {
    Disk disk;
    FileScene scene;
    scene.must(scene.job("a"));
    const auto lease = scene.must(AcquireJobs{"work", scene.worker, 1}).leases.at(0);
    SuspendedSyncs suspended{disk};
    Submission ack{scene, AckJob{lease}};
    Submission again{scene, AckJob{lease}};
    suspended.wait();
    CHECK(!ack.answered());
    CHECK_MESSAGE(!again.answered(), "lease_lost depends on the first ack");
    suspended.release();
    CHECK(ack.wait() == Settlement::settled);
    CHECK(again.wait() == Settlement::lease_lost);
}

TEST_CASE("with durability=relaxed, a commit completes at once, and is on disk soon after") {
    Disk disk;
    FileScene scene{{.durability = Durability::relaxed}};
    SuspendedSyncs suspended{disk};
    Submission publication{scene, scene.event("1")};
    CHECK(publication.answered());
    // The change is synced although no step waits for it.
    suspended.wait();
    suspended.release();
}

TEST_CASE("with durability=relaxed, a commit is in SQLite's log after about 50 ms") {
    FileScene scene{{.durability = Durability::relaxed}};
    scene.must(scene.job("a marked job"));
    const auto log = scene.file.string() + "-wal";
    const auto is_written = [&] { return bytes_of(log).find("a marked job") != std::string::npos; };
    CHECK(await(is_written, std::chrono::seconds{2}));
}

TEST_CASE("steps that wait for the disk at the same time share a sync") {
    Disk disk;
    FileScene scene;
    SuspendedSyncs suspended{disk};
    Submission first{scene, scene.event("first")};
    suspended.wait();
    const auto before = disk.syncs();
    constexpr std::uint64_t many = 1'000;
    Signal answered;
    for (std::uint64_t i = 0; i < many; ++i) {
        submit(*scene.store, scene.event(std::to_string(i)), scene.now,
               [&](const Result<Done>& reply) {
                   if (reply) answered.raise();
               });
    }
    suspended.release();
    first.wait();
    REQUIRE(answered.wait_beyond(many - 1, reply_timeout));
    CHECK_MESSAGE(disk.syncs() - before <= 4, "one for the first, one for all others");
}

TEST_CASE("all steps of one submission reach the disk together") {
    FileScene scene;
    scene.subscribe("billing", 1);
    std::vector<Step> steps;
    for (int i = 1; i <= 50; ++i) steps.emplace_back(scene.event(std::to_string(i)));
    for (const auto& outcome : perform_all(*scene.store, steps, scene.now)) CHECK(outcome);
    scene.close();
    scene.open();
    CHECK(joined(scene.drain()) == joined(numbers(1, 50)));
}

TEST_CASE("a submission without steps completes") {
    FileScene scene;
    CHECK(perform_all(*scene.store, {}, scene.now).empty());
}

TEST_CASE("eight threads publish, and each publication is acknowledged once and stored") {
    constexpr std::size_t threads = 8;
    constexpr std::size_t each = 5'000;
    FileScene scene;
    scene.subscribe("billing", 100);
    std::vector<std::atomic<int>> answers(threads * each);
    std::atomic<int> failed = 0;
    Signal answered;
    testing::in_threads(threads, [&](unsigned thread) {
        for (std::size_t i = 0; i < each; ++i) {
            const auto number = thread * each + i;
            submit(*scene.store, scene.event(std::to_string(number)), scene.now,
                   [&, number](const Result<Done>& reply) {
                       if (!reply) ++failed;
                       ++answers[number];
                       answered.raise();
                   });
        }
    });
    REQUIRE(answered.wait_beyond(threads * each - 1, reply_timeout));
    scene.close();
    int not_once = 0;
    for (const auto& count : answers) not_once += count == 1 ? 0 : 1;
    CHECK(not_once == 0);
    CHECK(failed == 0);

    scene.open();
    CHECK(scene.status("billing").events_queued == threads * each);
    const auto messages = scene.drain();
    CHECK(messages.size() == threads * each);
    std::vector<std::size_t> next(threads, 0);
    bool in_order = true;
    for (const auto& message : messages) {
        const auto number = std::stoul(message);
        in_order = in_order && number % each == next[number / each]++;
    }
    CHECK_MESSAGE(in_order, "each thread's events stay in the order it published them");
}

TEST_CASE("steps submitted before the store is closed still complete") {
    std::atomic<int> answered = 0;
    FileScene scene;
    for (int i = 0; i < 100; ++i) {
        submit(*scene.store, scene.event("x"), scene.now,
               [&](const Result<Done>& reply) { answered += reply ? 1 : 0; });
    }
    scene.close();
    CHECK(answered == 100);
}

TEST_CASE("a completion may submit further steps") {
    FileScene scene;
    Signal answered;
    submit(*scene.store, scene.job("a"), scene.now, [&](const Result<Pushed>&) {
        submit(*scene.store, scene.job("b"), scene.now,
               [&](const Result<Pushed>&) { answered.raise(); });
    });
    REQUIRE(answered.wait_beyond(0, reply_timeout));
    CHECK(scene.queue("work").ready == 2);
}
