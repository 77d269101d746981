/// @file
/// Action timers on a manual clock.

#include "routemaster/action_runner.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/action_timers.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job_batches.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "routemaster/recurring_scheduler.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "routemaster/timer_listener.hpp"
#include "support/disturbed_store.hpp"
#include "support/hand_runner.hpp"
#include "support/recorded_log.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

constexpr Duration a_minute{60'000};

const std::string actions_space{action_space};

TimerAction resizing(std::int64_t number = 42) {
    return PushAction{.queue = "images", .job = {"resize", {number}}};
}

Event order_changed(const std::string& topic = "orders") {
    return {.topic = topic, .type = EventType::update, .url = "https://shop.example/orders/1"};
}

/// A store with two subscribers, and a runner that does the actions of timers.
struct ActionScene {
    ActionScene() {
        for (const char* token : {"billing", "audit"}) {
            bus.subscriber(token)
                .subscribe({"refunds"}, {.callback = "https://receiver.example/"})
                .value();
        }
    }

    /// Lets time pass, and polls the runner when work is due.
    void run_for(Duration span) {
        const auto end = clock.now() + span;
        for (hand.run(clock.now()); hand.next() < end; hand.run(clock.now())) {
            clock.set(hand.next());
        }
        clock.set(end);
        hand.run(end);
    }

    [[nodiscard]] std::vector<JobStatus> pushed() {
        return images.list(JobStatus::State::ready, 0, 100).value().jobs;
    }
    [[nodiscard]] std::size_t events_of(const std::string& token) {
        return bus.subscriber(token).status().value()->events_queued;
    }
    [[nodiscard]] std::uint64_t timers() {
        const auto counts = actions.counts().value();
        return counts.pending + counts.fired + counts.dead;
    }

    testing::ManualClock clock;
    MemoryStore memory;
    DisturbedStore store{memory};
    RecordedLog log;
    ActionTimers actions{memory, clock};
    JobQueue images{memory, "images", clock};
    Bus bus{memory, {.clock = &clock}};
    ActionRunner runner{store, {.clock = &clock, .log = log.sink()}};
    HandRunner hand{runner};
};

/// The schedulers of two processes, which post the timers of recurring actions.
struct RecurringTicks {
    explicit RecurringTicks(ActionScene& with) : scene{with} {}

    /// Lets time pass, with a poll of the schedulers each second.
    void run_for_seconds(int seconds) {
        for (int i = 0; i < seconds; ++i) {
            scene.run_for(Duration{1'000});
            first_hand.run(scene.clock.now());
            second_hand.run(scene.clock.now());
        }
        scene.run_for(Duration{0});
    }

    ActionScene& scene;
    RecurringJobs recurring{scene.memory, scene.clock};
    RecurringScheduler first{scene.memory};
    RecurringScheduler second{scene.memory};
    HandRunner first_hand{first};
    HandRunner second_hand{second};
};

/// Pushes a job without a unique key.
TimerAction resizing_again() {
    return PushAction{
        .queue = "images", .job = {"resize", {}}, .options = {.unique = Unique::off()}};
}

/// Parses JSON as an action, and writes the action as JSON again.
std::string rewritten(const std::string& json) {
    const auto action = timer_action(parse_json(json).value());
    if (!action) return action.error().context();
    std::string text;
    append_json(text, to_value(*action));
    return text;
}

}  // namespace

TEST_CASE("a job action pushes its job when its timer fires, and not one millisecond sooner") {
    ActionScene scene;
    const auto posted = scene.actions.post(resizing(), a_minute, "later").value();
    CHECK(posted == PostedTimer{"later", TimerPosted::posted});
    scene.run_for(a_minute - Duration{1});
    CHECK(scene.pushed().empty());
    scene.run_for(Duration{1});
    REQUIRE(scene.pushed().size() == 1);
    CHECK(decode_job(scene.pushed().front().job).value() == Job{"resize", {42}});
    CHECK(scene.timers() == 0);
    CHECK(scene.runner.status().handled == 1);
    CHECK(scene.runner.status().failed == 0);
}

TEST_CASE("of many actions (timers that push or publish) due at once, each is done once") {
    ActionScene scene;
    for (std::int64_t i = 0; i < 250; ++i) scene.actions.post(resizing(i), Duration{5}).value();
    scene.run_for(Duration{5});
    CHECK(scene.images.status().value().ready == 250);
    CHECK(scene.timers() == 0);
}

TEST_CASE("an action can be cancelled, postponed, found and replaced like any timer") {
    ActionScene scene;
    scene.actions.post(resizing(1), a_minute, "a").value();
    CHECK(scene.actions.post(resizing(2), a_minute, "a").value().outcome == TimerPosted::replaced);
    const auto found = scene.actions.peek("a").value();
    REQUIRE(found);
    CHECK(found->payload == to_value(resizing(2)));
    CHECK(scene.actions.postpone("a", 2 * a_minute).value());
    scene.run_for(a_minute);
    CHECK(scene.pushed().empty());
    CHECK(scene.actions.cancel("a").value() == Removal::removed);
    scene.run_for(2 * a_minute);
    CHECK(scene.pushed().empty());
}

TEST_CASE("an event action publishes to a topic, or delivers to a single subscriber") {
    ActionScene scene;
    scene.actions.post(PublishAction{.event = order_changed("refunds")}, Duration{10}).value();
    scene.run_for(Duration{10});
    CHECK(scene.events_of("billing") == 1);
    CHECK(scene.events_of("audit") == 1);
    scene.actions
        .post(DeliverAction{"billing",
                            {.topic = "timers",
                             .type = EventType::noop,
                             .data = Value{Value::Map{{"order", 42}}}}},
              Duration{10})
        .value();
    scene.run_for(Duration{10});
    CHECK(scene.events_of("billing") == 2);
    CHECK(scene.events_of("audit") == 1);
    CHECK(scene.timers() == 0);
}

TEST_CASE(
    "an action for a missing subscriber is DEAD, and can be done once the subscriber is back") {
    ActionScene scene;
    scene.bus.subscriber("billing").remove().value();
    scene.actions.post(DeliverAction{"billing", order_changed()}, Duration{10}, "call").value();
    scene.run_for(a_minute);
    REQUIRE(scene.actions.dead().value().size() == 1);
    CHECK(scene.actions.dead().value().front().id == "call");
    CHECK(scene.actions.dead().value().front().reason.starts_with(
        "deliver: subscriber: does not exist"));
    CHECK(scene.log.count(LogLevel::warning,
                          "timer call of routemaster.actions failed, and it becomes DEAD: "
                          "deliver: subscriber: does not exist") == 1);
    scene.bus.subscriber("billing")
        .subscribe({"refunds"}, {.callback = "https://receiver.example/"})
        .value();
    CHECK(scene.actions.repost_dead("call").value() == 1);
    scene.run_for(Duration{10});
    CHECK(scene.events_of("billing") == 1);
    CHECK(scene.timers() == 0);
}

TEST_CASE("the publisher of an event action needs the right to publish when the action is due") {
    ActionScene scene;
    const auto post = [&](bool authenticate) {
        scene.actions
            .post(
                PublishAction{
                    .event = order_changed(), .publisher = "shop", .authenticate = authenticate},
                Duration{0})
            .value();
        scene.run_for(Duration{10});
    };
    post(true);
    CHECK(scene.actions.counts().value().dead == 1);
    CHECK(scene.log.count(LogLevel::warning, "publish: publisher: is not a valid token") == 1);
    perform(scene.memory, PutToken{"shop", "shop"}, scene.clock.now()).value();
    post(true);
    CHECK(scene.actions.counts().value().dead == 1);
    perform(scene.memory, RemoveToken{"shop"}, scene.clock.now()).value();
    post(false);
    CHECK(scene.actions.counts().value().dead == 1);
    CHECK(scene.bus.topics().value().front().publisher == "shop");
    // The topic belongs to a publisher now.
    scene.actions.post(PublishAction{.event = order_changed()}, Duration{0}).value();
    scene.run_for(Duration{10});
    CHECK(scene.actions.counts().value().dead == 2);
}

TEST_CASE("an action that pushes into a missing or ended batch is DEAD with the reason") {
    ActionScene scene;
    JobBatches batches{scene.memory, scene.clock};
    const auto ended = batches.create({.name = "import"}).value().id;
    batches.close(ended).value();
    for (const auto batch : {ended, ended + 1}) {
        scene.actions
            .post(PushAction{.queue = "images", .job = {"resize", {}}, .options = {.batch = batch}},
                  Duration{10}, std::to_string(batch))
            .value();
    }
    scene.run_for(a_minute);
    const auto dead = scene.actions.dead().value();
    REQUIRE(dead.size() == 2);
    CHECK(dead[0].reason.starts_with("push: batch: batch " + std::to_string(ended) + " has ended"));
    CHECK(
        dead[1].reason.starts_with("push: batch: there is no batch " + std::to_string(ended + 1)));
    CHECK(scene.pushed().empty());
}

TEST_CASE("an action that the store refused is done later, once") {
    ActionScene scene;
    scene.store.refuse<CompleteTimer>(1'000'000);
    scene.actions.post(resizing(), Duration{0}).value();
    scene.run_for(5 * a_minute);
    CHECK(scene.pushed().empty());
    CHECK(scene.timers() == 1);
    CHECK(scene.actions.counts().value().dead == 0);
    scene.store.accept<CompleteTimer>();
    scene.run_for(a_minute);
    CHECK(scene.images.status().value().ready == 1);
    CHECK(scene.timers() == 0);
}

TEST_CASE("an action whose reply is lost is done once") {
    ActionScene scene;
    scene.store.lose_replies<CompleteTimer>(1);
    scene.store.lose_replies<TakeTimers>(1);
    scene.actions
        .post(
            PushAction{
                .queue = "images", .job = {"resize", {}}, .options = {.unique = Unique::off()}},
            Duration{10})
        .value();
    scene.run_for(a_minute);
    CHECK(scene.images.status().value().ready == 1);
    CHECK(scene.timers() == 0);
}

TEST_CASE("an action is done once by another runner if its runner died") {
    ActionScene scene;
    scene.actions
        .post(
            PushAction{
                .queue = "images", .job = {"resize", {}}, .options = {.unique = Unique::off()}},
            Duration{0}, "a")
        .value();
    const auto taken =
        perform(scene.memory,
                TakeTimers{
                    .space = actions_space, .listener = "gone", .confirm_within = Duration{5'000}},
                scene.clock.now())
            .value();
    REQUIRE(taken.timers.size() == 1);
    scene.run_for(Duration{4'999});
    CHECK(scene.pushed().empty());
    scene.run_for(a_minute);
    CHECK(scene.images.status().value().ready == 1);
    // The listener that took the timer was only slow.
    CompleteTimer late{actions_space, "a", taken.timers[0].retries};
    late.firing = taken.timers[0].firing;
    late.pushes.push_back({"images", encode_job({"resize", {}}), scene.clock.now()});
    CHECK(perform(scene.memory, late, scene.clock.now()).value().confirmation ==
          TimerConfirmed::unknown);
    CHECK(scene.images.status().value().ready == 1);
}

TEST_CASE("an action that cannot become DEAD at once becomes DEAD when the store works again") {
    ActionScene scene;
    scene.store.refuse<GiveUpTimer>(3);
    scene.actions.post(DeliverAction{"nobody", order_changed()}, Duration{0}).value();
    scene.run_for(a_minute);
    CHECK(scene.actions.counts().value().dead == 1);
}

TEST_CASE("a recurring action is done once at each tick, even if two schedulers run") {
    ActionScene scene;
    RecurringTicks ticks{scene};
    scene.actions.every("resize", Duration{10'000}, resizing_again()).value();
    ticks.run_for_seconds(35);
    CHECK(scene.images.status().value().ready == 3);
    CHECK(scene.timers() == 0);
    CHECK(ticks.recurring.find("resize").value()->runs == 3);
}

TEST_CASE("the pending action of a tick delays the next ticks, unless overlap is allowed") {
    ActionScene scene;
    RecurringTicks ticks{scene};
    scene.store.refuse<CompleteTimer>(1'000'000);
    scene.actions.cron("one", "@every 10s", resizing_again()).value();
    scene.actions.every("each", Duration{10'000}, resizing_again(), {.overlap = true}).value();
    ticks.run_for_seconds(35);
    CHECK(scene.pushed().empty());
    CHECK(ticks.recurring.find("one").value()->kept == 2);
    CHECK(ticks.recurring.find("each").value()->runs == 3);
    scene.store.accept<CompleteTimer>();
    scene.run_for(a_minute);
    CHECK(scene.images.status().value().ready == 4);
    CHECK(scene.timers() == 0);
}

TEST_CASE("a recurring action can be triggered, and changed by the next put") {
    ActionScene scene;
    RecurringJobs recurring{scene.memory, scene.clock};
    scene.actions.cron("resize", "@daily", resizing(1)).value();
    std::optional<Result<void>> later;
    scene.actions.cron("resize", "@daily", resizing(2), {},
                       [&](const Result<void>& put) { later = put; });
    REQUIRE(later);
    CHECK(*later);
    CHECK(recurring.trigger("resize").value().value() == PushOutcome::pushed);
    scene.run_for(Duration{0});
    REQUIRE(scene.pushed().size() == 1);
    CHECK(decode_job(scene.pushed().front().job).value() == Job{"resize", {2}});
}

TEST_CASE("option effects: a recurring action is put with all its options") {
    ActionScene scene;
    RecurringJobs recurring{scene.memory, scene.clock};
    scene.actions
        .cron("cron", "@daily", resizing(1),
              {.time_zone = "Europe/Berlin", .catch_up = CatchUp::all, .overlap = true})
        .value();
    scene.actions
        .every("every", Duration{60'000}, resizing(1), {.catch_up = CatchUp::all, .overlap = true})
        .value();
    CHECK(recurring.find("cron").value().value().settings.time_zone == "Europe/Berlin");
    for (const char* name : {"cron", "every"}) {
        const auto put = recurring.find(name).value().value().settings;
        CHECK(put.catch_up == CatchUp::all);
        CHECK(put.overlap);
    }
}

TEST_CASE("an invalid recurring action is refused when it is put") {
    ActionScene scene;
    RecurringJobs recurring{scene.memory, scene.clock};
    const auto refused = [](const Result<void>& put) {
        return put ? std::string{"put"} : put.error().context();
    };
    const TimerAction bad = PushAction{.queue = "main", .job = {"x", {}}};
    CHECK(refused(scene.actions.cron("a", "@daily", bad)).starts_with("push: queue:"));
    CHECK(refused(scene.actions.every("a", a_minute, bad)).starts_with("push: queue:"));
    std::string later;
    scene.actions.every("a", a_minute, bad, {},
                        [&](const Result<void>& put) { later = refused(put); });
    CHECK(later.starts_with("push: queue:"));
    const TimerAction large =
        PushAction{.queue = "images", .job = {"x", {std::string(70'000, 'x')}}};
    CHECK(refused(scene.actions.cron("a", "@daily", large)) ==
          "action: must have at most 65536 bytes");
    CHECK(refused(scene.actions.cron("a", "61 * * * *", resizing())).starts_with("schedule:"));
    CHECK(refused(scene.actions.cron("a", "@daily", resizing(), {.catch_up = CatchUp::all}))
              .starts_with("catch_up:"));
    Delayer plain{scene.memory, actions_space, scene.clock};
    CHECK(refused(plain.cron("a", "@daily", "x", {.retries_max = 1}))
              .starts_with("payload: action:"));
    CHECK(recurring.list().value().empty());
}

TEST_CASE("a closed runner leaves its actions to other runners") {
    ActionScene scene;
    scene.hand.run(scene.clock.now());
    CHECK(scene.actions.counts().value().listeners == 1);
    scene.runner.close(scene.clock.now());
    scene.hand.wake();
    scene.hand.run(scene.clock.now());
    CHECK(scene.runner.closed());
    CHECK(scene.actions.counts().value().listeners == 0);
    CHECK(!scene.runner.trouble());
}

TEST_CASE("an invalid action is refused when it is posted") {
    ActionScene scene;
    const auto refused = [&](const TimerAction& action) {
        const auto posted = scene.actions.post(action, a_minute);
        return posted ? std::string{"posted"} : posted.error().context();
    };
    CHECK(refused(PushAction{.queue = "main", .job = {"x", {}}}).starts_with("push: queue:"));
    CHECK(refused(PushAction{.queue = "no queue", .job = {"x", {}}}).starts_with("push: queue:"));
    CHECK(refused(PushAction{.queue = "images", .job = {"x", {}}, .options = {.after = {1}}})
              .starts_with("push: after:"));
    CHECK(
        refused(PublishAction{.event = order_changed("No Topic")}).starts_with("publish: topic:"));
    CHECK(refused(DeliverAction{"No Token", order_changed()}).starts_with("deliver: subscriber:"));
    CHECK(refused(PushAction{.queue = "images", .job = {"x", {std::string(70'000, 'x')}}}) ==
          "action: must have at most 65536 bytes");
    CHECK(scene.timers() == 0);
}

TEST_CASE("the namespace of actions accepts only actions, and only the runner's own listener") {
    ActionScene scene;
    Delayer plain{scene.memory, actions_space, scene.clock};
    CHECK(plain.post("x", a_minute).error().context().starts_with("payload: action:"));
    CHECK(plain.post(to_value(resizing()), a_minute).error().context().starts_with("retries_max:"));
    CHECK(plain.post(to_value(resizing()), a_minute, {.retries_max = 1}));
    CHECK_THROWS_AS(TimerListener(scene.memory, actions_space, TimerHandler{[](const Timer&) {}}),
                    Failure);
}

TEST_CASE("printing a parsed action returns the text without default settings") {
    for (const std::string json :
         {R"({"push":{"queue":"q","name":"n"}})", R"({"push":{"queue":"q","name":"n","run_at":6}})",
          R"({"push":{"queue":"q","name":"n","arguments":[1,"a",null],"delay":5,)"
          R"("attempts_max":0,"priority":-7,"timeout":8,"expires":9,)"
          R"("unique":{"key":"k","scope":"for_time","time":10,"on_duplicate":"keep"},)"
          R"("metadata":{"a":"b"},"group":"g","concurrency":2,"batch":11}})",
          R"({"push":{"queue":"q","name":"n","unique":false}})",
          R"({"publish":{"topic":"t","type":"delete","url":"https://a.example/","timestamp":1,)"
          R"("data":{"a":1},"publisher":"p","authenticate":true,"topics_max":3}})",
          R"({"deliver":{"subscriber":"s","topic":"t","type":"create","data":{}}})"}) {
        CHECK(rewritten(json) == json);
    }
    CHECK(rewritten(R"({"deliver":{"subscriber":"s"}})") ==
          R"({"deliver":{"subscriber":"s","topic":"timers","type":"noop"}})");
}

TEST_CASE("an error about an action names the field") {
    CHECK(rewritten("[]").starts_with("action:"));
    CHECK(rewritten("{}").starts_with("action:"));
    CHECK(rewritten(R"({"pull":{}})").starts_with("action:"));
    CHECK(rewritten(R"({"push":{"queue":"q","name":"n"},"publish":{}})").starts_with("action:"));
    CHECK(rewritten(R"({"push":7})") == "push: must be an object");
    CHECK(rewritten(R"({"push":{"name":"n"}})") == "push: queue: is missing");
    CHECK(rewritten(R"({"push":{"queue":1,"name":"n"}})") == "push: queue: requires a string");
    CHECK(rewritten(R"({"push":{"queue":"q","name":"n","arguments":{}}})") ==
          "push: arguments: must be an array");
    CHECK(rewritten(R"({"push":{"queue":"q","name":"n","priority":101}})")
              .starts_with("push: priority: must be an integer from -100 to 100"));
    CHECK(rewritten(R"({"push":{"queue":"q","name":"n","unique":{"key":"k","scope":"ever"}}})")
              .starts_with("push: unique.scope:"));
    CHECK(rewritten(R"({"push":{"queue":"q","name":"n","metadata":{"a":1}}})")
              .starts_with("push: metadata:"));
    CHECK(rewritten(R"({"push":{"queue":"q","name":"n","after":[1]}})") ==
          "push: after: is not allowed in an action");
    CHECK(rewritten(R"({"push":{"queue":"q","name":"n","often":1}})") ==
          R"(push: unknown field "often")");
    CHECK(rewritten(R"({"push":{"queue":"q","name":"n","unique":{"key":"k","often":1}}})") ==
          R"(push: unique: unknown field "often")");
    CHECK(rewritten(R"({"push":{"queue":"q","name":"n","run_at":9007199254740992}})") ==
          "push: run_at: must be an integer from 0 to 9007199254740991");
    CHECK(rewritten(R"({"push":{"queue":"q","name":"n","delay":31536000000001}})") ==
          "push: delay: must be an integer from 0 to 31536000000000");
    CHECK(rewritten(R"({"publish":{"topic":"t"}})") == "publish: type: is missing");
    CHECK(rewritten(R"({"publish":{"topic":"t","type":"new"}})")
              .starts_with("publish: type: must be create"));
    CHECK(rewritten(R"({"publish":{"topic":"t","type":"noop","authenticate":1}})") ==
          "publish: authenticate: must be true or false");
    CHECK(rewritten(R"({"deliver":{}})") == "deliver: subscriber: is missing");
}
