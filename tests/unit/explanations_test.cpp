/// @file
/// Explanations with the profiles of real workers, schedulers and listeners.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "routemaster/job_workers.hpp"
#include "routemaster/reject.hpp"
#include "routemaster/subscriber.hpp"
#include "support/delivery_scene.hpp"
#include "support/hand_leases.hpp"
#include "support/pool_scene.hpp"
#include "support/recurring_scene.hpp"
#include "support/timer_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;
using namespace std::chrono_literals;

namespace {

std::string text_of(const JobScene& scene, JobId id) {
    return to_text(scene.jobs.explain(id).value().value());
}

/// The profile of the only worker.
WorkerProfile only_profile(Store& store, const Clock& clock) {
    const auto workers = JobWorkers{store, clock}.list().value();
    REQUIRE(workers.size() == 1);
    REQUIRE(workers[0].profile.has_value());
    return *workers[0].profile;
}

std::string text_of_batch(DeliveryScene& scene, const std::string& token) {
    auto subscriber = scene.bus.subscriber(token);
    const auto batches = subscriber.batches().value();
    REQUIRE(!batches.empty());
    return to_text(subscriber.explain(batches.back().status.uid).value().value());
}

}  // namespace

TEST_CASE("an explanation names the missing worker, handler or free slot of the job's pools") {
    JobScene scene;
    const auto first = scene.push("resize");
    CHECK(text_of(scene, first) == "no worker serves its queue");
    HandPool pool{scene, {.queues = {"work", "other"}, .concurrency = 2}};
    std::vector<JobResponder> running;
    pool.pool.handle_async("resize",
                           [&](const JobResponder& responder) { running.push_back(responder); });
    pool.pool.handle("crop", [](JobContext&) {});
    pool.run();
    CHECK(scene.job(first).state == JobStatus::State::pending);
    const auto unknown = scene.push("rotate");
    pool.run_for(1s);
    CHECK(text_of(scene, unknown).ends_with("the worker of its queue has no handler for 'rotate'"));
    const auto workers = JobWorkers{scene.memory, scene.clock}.list().value();
    REQUIRE(workers.size() == 2);
    const auto& profile = workers[0].profile.value();
    CHECK(scene.jobs.explain(unknown).value()->reason() == JobExplanation::Reason::no_handler);
    CHECK(profile.handlers == std::vector<std::string>{"crop", "resize"});
    CHECK(profile.capacity == 2);
    CHECK(profile.name == profile.host + ":" + std::to_string(profile.process));
    CHECK(profile.since == scene.clock.now() - 1s);
    CHECK(workers[0].busy == 1);

    static_cast<void>(scene.push("resize", {.unique = Unique::off()}));
    const auto third = scene.push("resize", {.unique = Unique::off()});
    pool.run_for(39s);
    CHECK(text_of(scene, third) ==
          "all 2 slots of 1 worker are busy; the oldest job has run for 40 s");
    pool.close(60s);
    pool.run_for(1s);
    CHECK(text_of(scene, third) == "no worker serves its queue; the last one was heard of 1 s ago");
}

TEST_CASE("an explanation reports no missing handler for a pool with a catch-all handler") {
    JobScene scene;
    HandPool pool{scene};
    pool.pool.handle_others([](JobContext&) {});
    pool.run();
    const auto id = scene.push("resize", {.delay = 10s});
    CHECK(text_of(scene, id) == "it is not due yet for attempt 1 of 25");
    CHECK(only_profile(scene.memory, scene.clock).others == WorkerProfile::Others::handled);
}

TEST_CASE("an explanation counts HTTP workers, with their named handlers") {
    JobScene scene;
    HandLeases hand{scene};
    CHECK(jobs_in(hand.lease({.worker = "w1", .handlers = {"resize"}})) == 0);
    hand.run_for(1s);
    const auto id = scene.push("rotate");
    CHECK(text_of(scene, id) == "the worker of its queue has no handler for 'rotate'");
    CHECK(only_profile(scene.memory, scene.clock).handlers == std::vector<std::string>{"resize"});
    // A worker without a list of handlers gets the job, and may do other jobs too.
    const auto job = only_job(hand.lease({.worker = "w2"}));
    hand.run_for(1s);
    const auto next = scene.push("tilt");
    CHECK(text_of(scene, next) == "it is READY for attempt 1 of 25, and it is next");
    CHECK(hand.settle(job).value() == Settlement::settled);
    // A worker with a long job stays alive.
    const auto tilt = only_job(
        hand.lease({.worker = "w3", .lease_time = Duration{3'600'000}, .handlers = {"tilt"}}));
    hand.run_for(60s);
    const auto last = scene.push("rotate");
    CHECK(text_of(scene, last) == "the worker of its queue has no handler for 'rotate'");
    CHECK(only_profile(scene.memory, scene.clock).handlers == std::vector<std::string>{"tilt"});
    CHECK(hand.settle(tilt).value() == Settlement::settled);
    hand.run_for(20s);
    CHECK(
        text_of(scene, last).starts_with("no worker serves its queue; the last one was heard of"));
    CHECK(scene.jobs.explain(last).value()->reason() == JobExplanation::Reason::no_worker);
    const std::string long_name(profile_name_bytes_max + 1, 'x');
    for (const auto& names : {std::vector<std::string>{""}, std::vector<std::string>{long_name},
                              std::vector<std::string>(profile_names_max + 1, "a")}) {
        const auto answer = hand.lease({.handlers = names});
        REQUIRE(answer->has_value());
        CHECK((*answer)->error().context().starts_with("handlers: "));
    }
}

TEST_CASE("an explanation reports HTTP workers as busy while no client asks for more jobs") {
    JobScene scene;
    HandLeases hand{scene};
    static_cast<void>(scene.push("resize"));
    static_cast<void>(scene.push("crop"));
    const LeaseRequest patient{.worker = "w1", .limit = 2, .lease_time = Duration{3'600'000}};
    const auto taken = hand.lease(patient);
    REQUIRE(jobs_in(taken) == 2);
    hand.run_for(40s);
    const auto next = scene.push("tilt");
    CHECK(text_of(scene, next) ==
          "all 2 slots of 1 worker are busy; the oldest job has run for 40 s");
    CHECK(scene.jobs.explain(next).value()->reason() == JobExplanation::Reason::workers_busy);
    // The second job ends, and its slot with it.
    CHECK(hand.settle((*taken)->value()[1]).value() == Settlement::settled);
    hand.run_for(1s);
    CHECK(text_of(scene, next) ==
          "the only slot of 1 worker is busy; the oldest job has run for 41 s");
    const auto tilt = only_job(
        hand.lease({.worker = "w2", .wait = Duration{30'000}, .lease_time = Duration{3'600'000}}));
    // A waiting request is a free slot.
    const auto waiting = hand.lease({.worker = "w2", .wait = Duration{5'000}});
    hand.run_for(1s);
    CHECK(only_profile(scene.memory, scene.clock).capacity == 0);
    hand.run_for(5s);
    CHECK(jobs_in(waiting) == 0);
    // Between two requests, a client that polls is free.
    CHECK(jobs_in(hand.lease({.worker = "w2"})) == 0);
    hand.run_for(9s);
    CHECK(only_profile(scene.memory, scene.clock).capacity == 0);
    hand.run_for(2s);
    CHECK(only_profile(scene.memory, scene.clock).capacity == 2);
    // A client that got all jobs of its request is busy at once.
    CHECK(jobs_in(hand.lease({.worker = "w3"})) == 0);
    static_cast<void>(scene.push("spin"));
    CHECK(jobs_in(hand.lease({.worker = "w3", .lease_time = Duration{3'600'000}})) == 1);
    hand.run_for(1s);
    CHECK(only_profile(scene.memory, scene.clock).capacity == 3);
    CHECK(hand.settle(tilt).value() == Settlement::settled);
}

TEST_CASE(
    "the profile of a dispatcher has its callbacks, its capacity and its deliveries under way") {
    DeliveryScene scene{{.in_flight_max = 2, .worker_silence = 7s}};
    const auto began = scene.clock.now();
    scene.run();
    scene.subscribe("billing");
    scene.subscribe("audit");
    scene.publish();
    scene.run_for(1s);
    REQUIRE(scene.transport.under_way() == 2);
    const auto begun_at = scene.clock.now();
    scene.run_for(1s);
    const auto workers = JobWorkers{scene.store, scene.clock}.list().value();
    REQUIRE(workers.size() == 1);
    const auto& profile = workers[0].profile.value();
    CHECK(profile.queues == std::vector<std::string>{delivery_queue});
    CHECK(profile.handlers == std::vector<std::string>{"http"});
    CHECK(profile.capacity == 2);
    CHECK(profile.since == began);
    CHECK(profile.silence == 7s);
    CHECK(workers[0].busy == 2);
    const FindQueueWorkers for_urls{delivery_queue, "http"};
    const auto found = perform(scene.store, for_urls, scene.clock.now()).value();
    CHECK(found.full == 1);
    CHECK(found.capacity == 2);
    REQUIRE(found.busy_since.has_value());
    CHECK(*found.busy_since <= begun_at);
    CHECK(*found.busy_since >= begun_at - 1s);
}

TEST_CASE("the profile of a process of HTTP workers has its start time and its leases") {
    JobScene scene;
    HandLeases hand{scene};
    const auto began = scene.clock.now();
    static_cast<void>(scene.push("resize"));
    static_cast<void>(only_job(hand.lease({.worker = "w", .handlers = {"resize"}})));
    hand.run_for(5s);
    const auto workers = JobWorkers{scene.memory, scene.clock}.list().value();
    REQUIRE(workers.size() == 1);
    CHECK(workers[0].busy == 1);
    CHECK(workers[0].profile.value().since == began);
    CHECK(workers[0].profile.value().queues == std::vector<std::string>{"work"});
}

TEST_CASE(
    "an explanation of a batch reports that no worker delivers, or that none has the callback") {
    DeliveryScene scene;
    scene.subscribe("audit", {.callback = "local:audit"});
    scene.subscribe("billing");
    scene.publish();
    CHECK(text_of_batch(scene, "audit") == "no worker delivers");
    scene.run();
    CHECK(text_of_batch(scene, "billing") == "it is being delivered");
    CHECK(text_of_batch(scene, "audit") ==
          "no process that delivers has the callback 'local:audit' registered");
    scene.publish();
    const auto uid = scene.bus.subscriber("billing").batches().value().front().status.uid;
    CHECK(text_of_batch(scene, "billing") ==
          "batch " + std::string{uid.text()} + " of its subscriber is before it");
    scene.transport.answer(refusal());
    scene.run();
    const auto waits = scene.bus.subscriber("billing").explain(uid).value().value();
    CHECK(to_text(waits).starts_with(
        "it waits for its next attempt; the last attempt failed: HTTP 500"));
    scene.close(scene.clock.now());
    const auto left = text_of_batch(scene, "audit");
    CAPTURE(left);
    CHECK(left.ends_with("no worker delivers; the last one was heard of 0 s ago"));
    CHECK(!scene.bus.subscriber("billing").explain(Uid{1, 1}).value());
}

TEST_CASE("an explanation of a recurring job reports missing schedulers, and missing workers") {
    RecurringScene scene;
    scene.put("report", "@every 3600s");
    const auto text = [&] { return to_text(scene.recurring.explain("report").value().value()); };
    CHECK(text() == "its next tick is in 1 h; no scheduler runs; no worker serves queue 'work'");
    scene.run();
    CHECK(text() == "its next tick is in 1 h; no worker serves queue 'work'");
    const auto workers = JobWorkers{scene.store, scene.clock}.list().value();
    REQUIRE(workers.size() == 2);
    CHECK(workers[0].profile.value().queues == std::vector<std::string>{recurring_watch});
    CHECK(scene.recurring.pause("report").value());
    CHECK(text() == "it is paused");
    CHECK(scene.recurring.resume("report").value());
    for (auto* const scheduler : {&scene.first, &scene.second_one}) {
        scheduler->close(scene.clock.now() + 1s);
        CHECK(!scheduler->closed());
    }
    scene.first_runner.wake();
    scene.second_runner.wake();
    scene.run();
    CHECK(scene.first.closed());
    CHECK(JobWorkers{scene.store, scene.clock}.list().value().empty());
    scene.clock.advance(7'200s);
    CHECK(text() ==
          "its tick has been due for 1 h; no scheduler runs; the last one was heard of "
          "2 h ago; no worker serves queue 'work'");
    CHECK(!scene.recurring.explain("none").value());
}

TEST_CASE("schedulers send heartbeats while they run") {
    JobScene scene;
    RecurringScheduler scheduler{scene.memory, {.seed = 1}};
    HandRunner runner{scheduler};
    for (int second = 0; second < 60; ++second) {
        runner.run(scene.clock.now());
        const auto there =
            perform(scene.memory, FindQueueWorkers{recurring_watch}, scene.clock.now());
        CHECK(there.value().workers == 1);
        scene.clock.advance(1s);
    }
    scene.clock.advance(3s);
    const auto gone = perform(scene.memory, FindQueueWorkers{recurring_watch}, scene.clock.now());
    CHECK(gone.value().lack() == QueueWorkers::Lack::worker);
}

TEST_CASE("an explanation of a timer reports whether its namespace has a listener") {
    TimerScene scene;
    const auto id = scene.post("call", 10s, {.retries_max = 1});
    const auto text = [&] { return to_text(scene.calls.explain(id).value().value()); };
    CHECK(text() == "it is due in 10 s; no listener of its namespace asks for timers");
    scene.clock.advance(70s);
    CHECK(text() == "it has been due for 1 min, and no listener of its namespace asks for timers");
    HandListener listener{scene, {}, [&](TimerContext&) {
                              CHECK(text() == "a listener has it, and has 10 s left to confirm it");
                              throw Reject{"no such number"};
                          }};
    listener.run();
    CHECK(text() == "it was given up: no such number");
    const auto next = scene.post("later", 10s);
    CHECK(to_text(scene.calls.explain(next).value().value()) == "it is due in 10 s");
    CHECK(!scene.calls.explain("none").value());
}

TEST_CASE("a duration in an explanation is printed in its largest unit") {
    CHECK(to_words(Duration{-1}) == "0 s");
    CHECK(to_words(59'999ms) == "59 s");
    CHECK(to_words(60s) == "1 min");
    CHECK(to_words(59min + 59s) == "59 min");
    CHECK(to_words(23h + 59min) == "23 h");
    CHECK(to_words(49h) == "2 d");
}
