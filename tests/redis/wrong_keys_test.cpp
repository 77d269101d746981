// Keys of wrong types: a step that uses such a key is refused, and moves nothing.

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "busy_scene.hpp"

using namespace routemaster;
using test::BusyScene;
using test::recurring_settings;

namespace {

/// A kind of step, created after the bus was prepared.
struct KeyKind {
    std::string name;
    std::function<Step(const BusyScene&)> make;
    Duration later{0};  ///< The time of the step after the preparation.
};

std::function<Step(const BusyScene&)> run_recurring(bool with_key) {
    return [with_key](const BusyScene& s) -> Step {
        const auto next = s.now + Duration{60'000};
        auto settings = *recurring_settings("tick");
        settings.overlap = with_key;
        return RunRecurringJob{
            .name = "report",
            .revision = Uid{1, 1},
            .at = s.recurring_at,
            .until = next,
            .next = next + Duration{1},
            .push = std::make_shared<const PushJob>(push_of("report", settings, next, next))};
    };
}

/// A tick that posts a timer: a new timer, or an existing one, which must not change.
std::function<Step(const BusyScene&)> run_recurring_timer(const char* id) {
    return [id](const BusyScene& s) -> Step {
        const auto next = s.now + Duration{60'000};
        auto post = s.post_timer(id, Duration{60'000}, 1);
        post.keep = true;
        return RunRecurringJob{.name = "report",
                               .revision = Uid{1, 1},
                               .at = s.recurring_at,
                               .until = next,
                               .next = next + Duration{1},
                               .push = {},
                               .post = std::make_shared<const PostTimer>(std::move(post))};
    };
}

std::vector<KeyKind> kinds() {
    const auto settle = [](bool delivered, bool permanent = false) {
        return [delivered, permanent](const BusyScene& s) -> Step {
            return SettleDelivery{.lease = s.deliveries.at(0),
                                  .delivered = delivered,
                                  .begun_at = s.now,
                                  .retry_at = s.now + Duration{100},
                                  .permanent = permanent};
        };
    };
    return {
        {"PublishEvent",
         [](const BusyScene& s) -> Step {
             return PublishEvent{.topic = "cats",
                                 .publisher = "pub--secret",
                                 .message = s.message(),
                                 .timestamp = s.now,
                                 .uid = *Uid::parse("BATCHBATCHBATCHBZAAA")};
         }},
        {"PublishEvent, in a new topic",
         [](const BusyScene& s) -> Step {
             return PublishEvent{.topic = "dogs",
                                 .publisher = "pub--secret",
                                 .message = s.message(),
                                 .timestamp = s.now,
                                 .uid = *Uid::parse("BATCHBATCHBATCHBZAAA")};
         }},
        {"PublishEvent, long ago",
         [](const BusyScene& s) -> Step {
             return PublishEvent{.topic = "cats",
                                 .publisher = "pub--secret",
                                 .message = s.message(),
                                 .timestamp = s.now - Duration{60'000},
                                 .uid = *Uid::parse("BATCHBATCHBATCHBZAAA")};
         }},
        {"PublishEvent, authenticated",
         [](const BusyScene& s) -> Step {
             return PublishEvent{.topic = "cats",
                                 .publisher = "pub--secret",
                                 .message = s.message(),
                                 .timestamp = s.now,
                                 .uid = *Uid::parse("BATCHBATCHBATCHBZAAA"),
                                 .authenticate = true};
         }},
        {"PublishEvent, for one subscriber",
         [](const BusyScene& s) -> Step {
             return PublishEvent{.topic = "cats",
                                 .publisher = {},
                                 .message = s.message(),
                                 .timestamp = s.now,
                                 .uid = *Uid::parse("BATCHBATCHBATCHBZAAA"),
                                 .subscriber = "billing"};
         }},
        {"PostTimer", [](const BusyScene& s) -> Step { return s.post_timer("new", {}, 0); }},
        {"PostTimer, in the place of a FIRED one",
         [](const BusyScene& s) -> Step { return s.post_timer("back", {}, 1); }},
        {"PostTimer, in the place of a DEAD one",
         [](const BusyScene& s) -> Step { return s.post_timer("dead", {}, 1); }},
        {"CancelTimer",
         [](const BusyScene&) -> Step {
             return CancelTimer{"dt", "due"};
         }},
        {"PostponeTimer",
         [](const BusyScene& s) -> Step {
             return PostponeTimer{"dt", "due", s.now + Duration{9}};
         }},
        {"ConfirmTimer",
         [](const BusyScene&) -> Step {
             return ConfirmTimer{"dt", "back", 0};
         }},
        {"GiveUpTimer",
         [](const BusyScene&) -> Step {
             return GiveUpTimer{"dt", "back", 0};
         }},
        {"TakeTimers",
         [](const BusyScene&) -> Step { return TakeTimers{.space = "dt", .listener = "ours"}; }},
        {"TakeTimers, of another listener",
         [](const BusyScene&) -> Step { return TakeTimers{.space = "dt", .listener = "other"}; }},
        {"TakeTimers, of a busy listener",
         [](const BusyScene&) -> Step {
             return TakeTimers{.space = "dt", .listener = "ours", .limit = 0};
         }},
        {"LeaveTimers",
         [](const BusyScene&) -> Step {
             return LeaveTimers{"dt", "ours"};
         }},
        {"RepostDeadTimers",
         [](const BusyScene& s) -> Step {
             return RepostDeadTimers{"dt", {}, s.now};
         }},
        {"DropDeadTimers", [](const BusyScene&) -> Step { return DropDeadTimers{"dt"}; }},
        {"RemoveTopic",
         [](const BusyScene&) -> Step {
             return RemoveTopic{"cats", std::nullopt};
         }},
        {"Subscribe",
         [](const BusyScene&) -> Step {
             return Subscribe{.token = "billing",
                              .topics = {"dogs", "fish"},
                              .options = {.callback = "https://example.com/", .max_in_flight = 1}};
         }},
        {"Unsubscribe",
         [](const BusyScene&) -> Step {
             return Unsubscribe{"billing", "cats"};
         }},
        {"RemoveSubscriber", [](const BusyScene&) -> Step { return RemoveSubscriber{"billing"}; }},
        {"RemoveToken", [](const BusyScene&) -> Step { return RemoveToken{"billing"}; }},
        {"PushJob",
         [](const BusyScene& s) -> Step {
             return PushJob{"work", "new", s.now};
         }},
        {"PushJob, later",
         [](const BusyScene& s) -> Step {
             return PushJob{"work", "new", s.now + Duration{9}};
         }},
        {"PushJob, with a priority",
         [](const BusyScene& s) -> Step {
             return PushJob{"work", "new", s.now, {.priority = 1}};
         }},
        {"PushJob, with a priority, later",
         [](const BusyScene& s) -> Step {
             return PushJob{"work", "new", s.now + Duration{9}, {.priority = 1}};
         }},
        {"PushJob, with a group", [](const BusyScene& s) -> Step { return s.push_grouped("new"); }},
        {"PushJob, with a group, later",
         [](const BusyScene& s) -> Step { return s.push_grouped("new", Duration{9}); }},
        {"AckJob, with a group",
         [](const BusyScene& s) -> Step { return AckJob{s.grouped.at(0)}; }},
        {"NackJob, with a group",
         [](const BusyScene& s) -> Step {
             return NackJob{s.grouped.at(0), s.now};
         }},
        {"FailJob, with a group",
         [](const BusyScene& s) -> Step {
             return FailJob{
                 .lease = s.grouped.at(0), .error = "broken", .run_at = s.now, .bury = true};
         }},
        {"DeleteJob, with a group",
         [](const BusyScene& s) -> Step {
             return DeleteJob{"grouped", s.grouped.at(0).id + 1};
         }},
        {"PushJob, after others",
         [](const BusyScene& s) -> Step {
             PushJob step{"work", "new", s.now};
             step.after = {s.first, s.low};
             return step;
         }},
        {"PushJob, with a key, after others",
         [](const BusyScene& s) -> Step {
             PushJob step{"work", "new", s.now, {.key = {.text = "new"}}};
             step.after = {s.first, s.low};
             return step;
         }},
        {"AcquireJobs, with a priority",
         [](const BusyScene& s) -> Step {
             return AcquireJobs{.queue = "work", .worker = s.worker, .limit = 100};
         },
         Duration{60'000}},
        {"DeleteJob, with a priority",
         [](const BusyScene& s) -> Step {
             return DeleteJob{"work", s.low};
         }},
        {"AcquireJobs",
         [](const BusyScene& s) -> Step {
             return AcquireJobs{.queue = "main", .worker = s.worker, .limit = 100};
         },
         Duration{10'000}},
        {"AcquireJobs, for a callback",
         [](const BusyScene& s) -> Step {
             return AcquireJobs{.queue = "main",
                                .worker = s.worker,
                                .limit = 100,
                                .destinations = {{"search", ""}}};
         },
         Duration{10'000}},
        {"Subscribe, from a callback to a URL",
         [](const BusyScene&) -> Step {
             return Subscribe{.token = "search",
                              .topics = {"fish"},
                              .options = {.callback = "https://example.com/"}};
         }},
        {"Subscribe, from a URL to a callback",
         [](const BusyScene&) -> Step {
             return Subscribe{
                 .token = "billing", .topics = {"fish"}, .options = {.callback = "local:search"}};
         }},
        {"RemoveSubscriber, with a callback",
         [](const BusyScene&) -> Step { return RemoveSubscriber{"search"}; }},
        {"NackJob, of a callback",
         [](const BusyScene& s) -> Step {
             return NackJob{s.called.at(0), s.now};
         }},
        {"BeginDelivery, to a callback",
         [](const BusyScene& s) -> Step {
             return BeginDelivery{s.called.at(0), Duration{60'000}, 0};
         }},
        {"SettleDelivery, to a callback",
         [](const BusyScene& s) -> Step {
             return SettleDelivery{.lease = s.called.at(0), .delivered = true, .begun_at = s.now};
         }},
        {"PushJob, a delivery job",
         [](const BusyScene& s) -> Step {
             return PushJob{"main", s.job("BATCHBATCHBATCHBZAAA"), s.now};
         }},
        {"Heartbeat", [](const BusyScene& s) -> Step { return Heartbeat{s.worker}; }},
        {"PutToken",
         [](const BusyScene&) -> Step {
             return PutToken{"audit", "shop"};
         }},
        {"AddToCounters",
         [](const BusyScene&) -> Step {
             return AddToCounters{{{{"visits", {}}, 3}, {{"visitors", {}}, 1}}};
         }},
        {"PushJob, with a key",
         [](const BusyScene& s) -> Step {
             PushJob step{"keyed", "new", s.now};
             step.options.key.text = "3";
             return step;
         }},
        {"PushJob, in place of another",
         [](const BusyScene& s) -> Step {
             PushJob step{"keyed", "new", s.now + Duration{9}};
             step.options.key.text = "2";
             step.on_duplicate = OnDuplicate::replace;
             return step;
         }},
        {"PushJob, with an idempotency key",
         [](const BusyScene& s) -> Step {
             PushJob step{"keyed", "new", s.now};
             step.options.key.text = "4";
             step.idempotency_key = {.text = "push", .fingerprint = 1, .time = Duration{1'000}};
             return step;
         }},
        {"AcquireJobs, with a key",
         [](const BusyScene& s) -> Step {
             return AcquireJobs{.queue = "keyed", .worker = s.worker};
         }},
        {"AckJob, with a key", [](const BusyScene& s) -> Step { return AckJob{s.keyed.at(0)}; }},
        {"CancelJob",
         [](const BusyScene& s) -> Step {
             return CancelJob{"work", s.work.at(0).id};
         }},
        {"CancelJob, with a key",
         [](const BusyScene& s) -> Step {
             return CancelJob{"keyed", s.keyed.at(0).id + 1};
         }},
        {"PauseQueue",
         [](const BusyScene&) -> Step {
             return PauseQueue{"work", true};
         }},
        {"PauseQueue, to resume it",
         [](const BusyScene&) -> Step {
             return PauseQueue{"paused", false};
         }},
        {"PutRecurringJob",
         [](const BusyScene&) -> Step {
             return PutRecurringJob{"report", recurring_settings("new"), Uid{1, 1}};
         }},
        {"PauseRecurringJob",
         [](const BusyScene&) -> Step {
             return PauseRecurringJob{"report", true};
         }},
        {"RemoveRecurringJob",
         [](const BusyScene&) -> Step { return RemoveRecurringJob{"report"}; }},
        {"RunRecurringJob", run_recurring(false), Duration{60'000}},
        {"RunRecurringJob, with a key", run_recurring(true), Duration{60'000}},
        {"RunRecurringJob, with a timer", run_recurring_timer("new"), Duration{60'000}},
        {"RunRecurringJob, with a timer that died", run_recurring_timer("dead"), Duration{60'000}},
        {"RunRecurringJob, with a timer that is kept", run_recurring_timer("later"),
         Duration{60'000}},
        {"CreateJobBatch",
         [](const BusyScene&) -> Step { return BusyScene::create_batch("another"); }},
        {"CloseJobBatch", [](const BusyScene& s) -> Step { return CloseJobBatch{s.batch}; }},
        {"RemoveJobBatch", [](const BusyScene& s) -> Step { return RemoveJobBatch{s.batch}; }},
        {"PushJob, into a batch", [](const BusyScene& s) -> Step { return s.push_batched("new"); }},
        {"AckJob, of a batch", [](const BusyScene& s) -> Step { return AckJob{s.batched.at(1)}; }},
        {"AckJob, of a batch, with a key",
         [](const BusyScene& s) -> Step { return AckJob{s.batched.at(0)}; }},
        {"AcquireJobs, of a batch",
         [](const BusyScene& s) -> Step {
             return AcquireJobs{.queue = "batched", .worker = s.worker};
         }},
        {"CompleteJob, of a batch",
         [](const BusyScene& s) -> Step {
             return CompleteJob{s.batched.at(1), {s.push_batched("new")}};
         }},
        {"FailJob, with a key",
         [](const BusyScene& s) -> Step {
             return FailJob{.lease = s.keyed.at(0), .error = "broken", .run_at = s.now};
         }},
        {"AckJob", [](const BusyScene& s) -> Step { return AckJob{s.work.at(0)}; }},
        {"CompleteJob",
         [](const BusyScene& s) -> Step {
             CompleteJob step{s.work.at(0)};
             for (const char* queue : {"work", "keyed", "aux"}) {
                 if (s.mixed && std::string_view{queue} == "aux") continue;
                 step.pushes.push_back({queue, "new", s.now});
                 step.pushes.push_back({queue, "later", s.now + Duration{9}});
             }
             step.pushes.push_back({"keyed", "new", s.now});
             step.pushes.back().options.key.text = "3";
             return step;
         }},
        {"CompleteJob, with events",
         [](const BusyScene& s) -> Step {
             CompleteJob step{s.keyed.at(0)};
             for (const char* topic : {"cats", "dogs", "cats", "dogs", "cats"}) {
                 step.publications.push_back({.topic = topic,
                                              .publisher = "pub--secret",
                                              .message = s.message(),
                                              .timestamp = s.now,
                                              .uid = *Uid::parse("BATCHBATCHBATCHBZAAA"),
                                              .authenticate = true});
             }
             return step;
         }},
        {"NackJob",
         [](const BusyScene& s) -> Step {
             return NackJob{s.work.at(0), s.now};
         }},
        {"RetireWorker", [](const BusyScene& s) -> Step { return RetireWorker{s.worker}; }},
        {"ScrubWorkers", [](const BusyScene&) -> Step { return ScrubWorkers{Duration{0}}; }},
        {"BeginDelivery",
         [](const BusyScene& s) -> Step {
             return BeginDelivery{s.deliveries.at(1), Duration{60'000}, 0};
         }},
        {"SettleDelivery, delivered", settle(true)},
        {"SettleDelivery, failed", settle(false)},
        {"SettleDelivery, failed for good", settle(false, true)},
        {"DeliverBatch",
         [](const BusyScene&) -> Step {
             return DeliverBatch{"billing", *Uid::parse("BATCHBATCHBATCHBGAAB")};
         }},
        {"DropBatch",
         [](const BusyScene&) -> Step {
             return DropBatch{"billing", *Uid::parse("BATCHBATCHBATCHBGAAB")};
         }},
        {"RedeliverDeadBatches",
         [](const BusyScene&) -> Step { return RedeliverDeadBatches{"billing"}; }},
        {"DropDeadBatches", [](const BusyScene&) -> Step { return DropDeadBatches{"billing"}; }},
        {"DropOldestBatches",
         [](const BusyScene&) -> Step { return DropOldestBatches{.limit = 4}; }},
    };
}

/// Performs a step on a bus with one wrong key. Returns whether the step was refused. An accepted
/// step must leave the key alone.
bool refused(BusyScene& s, const KeyKind& kind, const std::string& key, bool is_wrong_type) {
    CAPTURE(kind.name);
    CAPTURE(key);
    const auto before = s.fingerprint();
    const auto planted = s.content(key);
    auto step = kind.make(s);
    const auto outcome = std::move(perform_all(s.store, {&step, 1}, s.now + kind.later).at(0));
    // A changed text of a publisher means a different publisher.
    if (outcome || outcome.error().code() == Errc::forbidden) {
        // The waiting workers are always recorded again.
        const bool waits = key.starts_with("routemaster:waiting:");
        if (is_wrong_type && !waits) CHECK(s.content(key) == planted);
        return false;
    }
    CAPTURE(outcome.error().message());
    CHECK(outcome.error().code() == Errc::corrupted);
    if (is_wrong_type) CHECK(outcome.error().context().starts_with("WRONGTYPE "));
    CHECK(s.fingerprint() == before);
    return true;
}

}  // namespace

TEST_CASE("redis: a step that meets a key of the wrong type changes nothing") {
    bool mixed = false;
    SUBCASE("there are no Ruby workers") {}
    SUBCASE("the deployment is mixed") { mixed = true; }
    BusyScene scene{mixed};
    const auto names = scene.possible_names();
    REQUIRE(names.size() > 70);
    for (const auto& kind : kinds()) {
        int refusals = 0;
        for (const auto& key : names) {
            scene.reset();
            scene.exchange(key);
            refusals += refused(scene, kind, key, true) ? 1 : 0;
        }
        CAPTURE(kind.name);
        CHECK(refusals > 0);
    }
}

TEST_CASE("redis: a step that meets text in place of a number changes nothing, or works") {
    BusyScene scene;
    const auto names = scene.names();
    for (const auto& kind : kinds()) {
        for (const auto& key : names) {
            scene.reset();
            scene.garble(key);
            refused(scene, kind, key, false);
        }
    }
}

TEST_CASE("redis: the error about a key of the wrong type names the key, but no token") {
    BusyScene scene;
    scene.exchange("jobs:scheduled:main");
    const auto lease = scene.deliveries.at(0);
    auto outcome =
        scene.try_to(SettleDelivery{.lease = lease, .delivered = true, .begun_at = scene.now});
    CHECK(outcome.error().context().starts_with("WRONGTYPE jobs:scheduled:main: "));
    scene.reset();
    scene.exchange("routemaster:group:billing");
    outcome =
        scene.try_to(SettleDelivery{.lease = lease, .delivered = true, .begun_at = scene.now});
    const auto other = scene.try_to(
        SettleDelivery{.lease = scene.deliveries.at(1), .delivered = true, .begun_at = scene.now});
    const auto& text = outcome ? other.error().context() : outcome.error().context();
    CHECK(text.starts_with("WRONGTYPE routemaster:group:bill..."));
}

TEST_CASE("redis: an ordering group whose clean-up fails blocks no job") {
    BusyScene scene;
    scene.other({"SADD", "routemaster:untidy", "billing"});
    scene.exchange("routemaster:group:billing");
    const AcquireJobs acquire{.queue = "main", .worker = scene.worker, .limit = 100};
    CHECK(scene.perform(acquire).leases.size() > 1);
    CHECK(scene.other({"EXISTS", "routemaster:untidy"}).number == 0);
}
