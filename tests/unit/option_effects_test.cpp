/// @file
/// Options that an object passes on to its parts. Each test uses a value that differs from the
/// default.

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>

#include "routemaster/action_runner.hpp"
#include "routemaster/admission_control.hpp"
#include "routemaster/autodrop.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/job_batches.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/timer_listener.hpp"
#include "routemaster/timer_requests.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/hand_leases.hpp"
#include "support/hand_runner.hpp"
#include "support/observed_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

constexpr Duration an_hour{3'600'000};

/// Checks the limit on useless wake-ups: an object follows a few, and then ignores wake-ups for 500
/// ms.
void check_grace_of_500_ms(ObservedScene& scene, Active& active) {
    HandRunner runner{active};
    const auto follows = [&] {
        const auto before = scene.store.asked;
        scene.store.wake();
        runner.run(scene.clock.now());
        return scene.store.asked > before;
    };
    runner.run(scene.clock.now());
    int followed = 0;
    for (; followed < 100 && follows(); ++followed) scene.clock.advance(Duration{1});
    CHECK(followed < 100);
    scene.clock.advance(Duration{100});
    CHECK(!follows());
    scene.clock.advance(Duration{400});
    CHECK(follows());
}

/// Checks an object that asks every 2 s and sends heartbeats every 2.5 s.
void check_intervals(ObservedScene& scene, Active& active) {
    scene.run(active, Duration{10'000});
    CHECK(scene.store.asked >= 5);
    CHECK(scene.store.asked <= 6);
    CHECK(scene.store.heartbeats >= 4);
    CHECK(scene.store.heartbeats <= 5);
    CHECK(scene.store.silences == std::set{Duration{9'000}});
    CHECK(scene.store.own_silences == std::set{Duration{9'000}});
}

}  // namespace

TEST_CASE("option effects: useless wake-ups are ignored for as long as the options say") {
    ObservedScene scene;
    SUBCASE("a pool is woken") {
        WorkerPool pool{scene.store,
                        {.queues = {{"work"}},
                         .threads = 0,
                         .heartbeat_interval = an_hour,
                         .worker_silence = 2 * an_hour,
                         .poll_interval = an_hour,
                         .wake_grace = Duration{500},
                         .seed = 1,
                         .clock = &scene.clock}};
        check_grace_of_500_ms(scene, pool);
    }
    SUBCASE("leases for HTTP workers are woken") {
        JobLeases leases{scene.store,
                         {.heartbeat_interval = an_hour,
                          .worker_silence = 2 * an_hour,
                          .poll_interval = an_hour,
                          .wake_grace = Duration{500},
                          .seed = 1}};
        leases.lease({.queue = "work", .wait = Duration{20'000}}, [](const auto&) {});
        check_grace_of_500_ms(scene, leases);
    }
    SUBCASE("a dispatcher is woken") {
        Dispatcher dispatcher{scene.store,
                              {.transports = {&scene.transport},
                               .heartbeat_interval = an_hour,
                               .worker_silence = 2 * an_hour,
                               .poll_interval = an_hour,
                               .wake_grace = Duration{500},
                               .seed = 1}};
        check_grace_of_500_ms(scene, dispatcher);
    }
}

TEST_CASE("option effects: a worker acquires and sends heartbeats as often as its options say") {
    ObservedScene scene;
    SUBCASE("the worker is a pool") {
        WorkerPool pool{scene.store,
                        {.queues = {{"work"}},
                         .threads = 0,
                         .heartbeat_interval = Duration{2'500},
                         .worker_silence = Duration{9'000},
                         .poll_interval = Duration{2'000},
                         .seed = 1,
                         .clock = &scene.clock}};
        check_intervals(scene, pool);
    }
    SUBCASE("the worker is the leases for HTTP workers") {
        JobLeases leases{scene.store,
                         {.heartbeat_interval = Duration{2'500},
                          .worker_silence = Duration{9'000},
                          .poll_interval = Duration{2'000},
                          .seed = 1}};
        leases.lease({.queue = "work", .wait = Duration{20'000}}, [](const auto&) {});
        check_intervals(scene, leases);
    }
    SUBCASE("the worker is a dispatcher") {
        Dispatcher dispatcher{scene.store,
                              {.transports = {&scene.transport},
                               .heartbeat_interval = Duration{2'500},
                               .worker_silence = Duration{9'000},
                               .poll_interval = Duration{2'000},
                               .seed = 1}};
        check_intervals(scene, dispatcher);
    }
}

TEST_CASE("option effects: a listener takes as many timers, and as often, as its options say") {
    ObservedScene scene;
    SUBCASE("the listener is a TimerListener") {
        TimerListener listener{scene.store,
                               "calls",
                               [](TimerContext&) {},
                               {.threads = 0,
                                .concurrency = 20,
                                .batch_max = 7,
                                .confirm_within = Duration{3'000},
                                .poll_interval = Duration{2'000},
                                .clock = &scene.clock}};
        scene.run(listener, Duration{10'000});
        CHECK(scene.store.limit == 7);
    }
    SUBCASE("the listener is a runner of actions") {
        ActionRunner runner{scene.store,
                            {.confirm_within = Duration{3'000},
                             .poll_interval = Duration{2'000},
                             .clock = &scene.clock}};
        scene.run(runner, Duration{10'000});
    }
    SUBCASE("the listener serves requests for timers") {
        TimerRequests requests{scene.store, {.poll_interval = Duration{2'000}}};
        requests.take(
            {.space = "calls", .wait = Duration{20'000}, .confirm_within = Duration{3'000}},
            [](const auto&) {});
        scene.run(requests, Duration{10'000});
    }
    CHECK(scene.store.asked >= 5);
    CHECK(scene.store.asked <= 6);
    CHECK(scene.store.confirm_within == std::set{Duration{3'000}});
}

TEST_CASE(
    "option effects: after idle_max without requests, a process stops serving a queue or "
    "namespace") {
    const auto check_left = [](auto& scene, auto ask) {
        CHECK(ask("first"));
        CHECK(!ask("second"));
        scene.run_for(Duration{2'900});
        CHECK(!ask("second"));
        scene.run_for(Duration{1'100});
        CHECK(ask("second"));
    };
    SUBCASE("a queue has no requests") {
        JobScene scene;
        HandLeases hand{scene, {.idle_max = Duration{3'000}, .queues_max = 1}};
        check_left(hand, [&](const char* queue) {
            return hand.lease({.queue = queue})->value().has_value();
        });
    }
    SUBCASE("a timer namespace has no requests") {
        ObservedScene scene;
        TimerRequests requests{scene.store, {.idle_max = Duration{3'000}, .spaces_max = 1}};
        HandRunner runner{requests};
        struct {
            ObservedScene& scene;
            HandRunner& runner;
            void run_for(Duration span) {
                const auto end = scene.clock.now() + span;
                for (runner.run(scene.clock.now()); runner.next() < end;
                     runner.run(scene.clock.now())) {
                    scene.clock.set(runner.next());
                }
                scene.clock.set(end);
                runner.run(end);
            }
        } hand{scene, runner};
        check_left(hand, [&](const char* space) {
            bool taken = false;
            requests.take({.space = space}, [&](const auto& result) { taken = bool{result}; });
            runner.run(scene.clock.now());
            return taken;
        });
    }
}

TEST_CASE("option effects: memory use is measured as often as the options say") {
    ObservedScene scene;
    SUBCASE("the oldest batches are dropped above a limit") {
        Autodrop autodrop{scene.store, {.interval = Duration{3'000}}};
        scene.run(autodrop, Duration{10'000});
    }
    SUBCASE("new events are refused above a limit") {
        AdmissionControl control{scene.store, {.interval = Duration{3'000}}};
        scene.run(control, Duration{10'000});
    }
    CHECK(scene.store.measured == 4);
}

TEST_CASE("option effects: a push, a callback, a tick and a subscription keep all options") {
    ObservedScene scene;
    JobQueue jobs{scene.memory, "work", scene.clock};
    const JobMetadata metadata{{"trace", "a"}};
    const auto batch = JobBatches{scene.memory, scene.clock}.create({.name = "b"}).value().id;
    const auto now = scene.clock.now();
    const AttemptOptions of_attempt{
        .timeout = Duration{5'000}, .metadata = metadata, .batch = batch};
    for (const auto& unique : {Unique{}, Unique::by_key("k")}) {
        const auto pushed = jobs.push(Job{"a"}, {.attempts_max = 3,
                                                 .priority = 4,
                                                 .timeout = Duration{5'000},
                                                 .expires = Duration{7'000},
                                                 .unique = unique,
                                                 .metadata = metadata,
                                                 .group = "g",
                                                 .concurrency = 6,
                                                 .batch = batch});
        const auto kept = jobs.find(pushed.value().id).value().value().options;
        CHECK(kept == JobOptions{.attempts_max = 3,
                                 .priority = 4,
                                 .timeout = Duration{5'000},
                                 .expires_at = now + Duration{7'000},
                                 .key = {.text = unique.key},
                                 .metadata = metadata,
                                 .group = "g",
                                 .concurrency = 6,
                                 .batch = batch});
        const auto leased = perform(scene.memory, AcquireJobs{"work", Uid{1, 2}}, now).value();
        REQUIRE(leased.leases.size() == 1);
        CHECK(*leased.leases[0].options == of_attempt);
    }

    const auto callback = batch_callback(
        "work", Job{"a"},
        {.attempts_max = 3, .priority = 4, .timeout = Duration{5'000}, .metadata = metadata});
    CHECK(callback.attempts_max == 3);
    CHECK(callback.priority == 4);
    CHECK(callback.timeout == Duration{5'000});
    CHECK(callback.metadata == metadata);

    RecurringJobs recurring{scene.memory, scene.clock};
    recurring
        .every("tick", Duration{60'000}, "work", Job{"a"},
               {.attempts_max = 3,
                .priority = 4,
                .timeout = Duration{5'000},
                .expires = Duration{7'000},
                .metadata = metadata})
        .value();
    const auto tick = recurring.find("tick").value().value().settings;
    CHECK(tick.attempts_max == 3);
    CHECK(tick.priority == 4);
    CHECK(tick.timeout == Duration{5'000});
    CHECK(tick.expires == Duration{7'000});
    CHECK(tick.metadata == metadata);

    Bus bus{scene.memory, {.clock = &scene.clock}};
    bus.subscriber("billing")
        .subscribe({"orders"}, [](const Batch&) {},
                   {.timeout = Duration{1'500},
                    .max_events = 2,
                    .max_in_flight = 3,
                    .attempts_max = 4,
                    .age_max = Duration{50'000},
                    .dead_max = 6})
        .value();
    const auto wants =
        perform(scene.memory, FindSubscriber{"billing"}, scene.clock.now()).value()->subscription;
    CHECK(wants.timeout == Duration{1'500});
    CHECK(wants.max_events == 2);
    CHECK(wants.max_in_flight == 3);
    CHECK(wants.attempts_max == 4);
    CHECK(wants.age_max == Duration{50'000});
    CHECK(wants.dead_max == 6);
}

TEST_CASE(
    "option effects: pushes with one idempotency key differ by each part of their uniqueness") {
    const Unique first{
        .by = Unique::By::key, .key = "a", .scope = KeyScope::for_time, .time = Duration{1'000}};
    auto other_key = first;
    other_key.key = "b";
    auto other_time = first;
    other_time.time = Duration{2'000};
    auto other_duplicate = first;
    other_duplicate.on_duplicate = OnDuplicate::replace;
    const auto done = Unique::by_key("a");
    const auto started = Unique::by_key("a", KeyScope::until_started);
    for (const auto& [one, other] : {std::pair{first, other_key}, std::pair{first, other_time},
                                     std::pair{first, other_duplicate}, std::pair{done, started}}) {
        ObservedScene scene;
        JobQueue jobs{scene.memory, "work", scene.clock};
        CHECK(jobs.push(Job{"a"}, {.unique = one, .idempotency_key = "k"}));
        CHECK(jobs.push(Job{"a"}, {.unique = one, .idempotency_key = "k"}));
        CHECK(!jobs.push(Job{"a"}, {.unique = other, .idempotency_key = "k"}));
    }
}
