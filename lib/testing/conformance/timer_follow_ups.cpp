#include "routemaster/store/step/completion.hpp"

#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/timer.hpp"
#include "threads.hpp"
#include "timer_steps.hpp"

namespace routemaster::testing {
namespace {

PostTimer follow_up(const Scenario& s, const std::string& id, Duration delay = Duration{0}) {
    return post_of(s, id, delay, 2);
}

FiredTimer fire(const Scenario& s, const std::string& id, Where at = Where::here()) {
    s.perform(follow_up(s, id), at);
    auto taken = s.perform(TakeTimers{.space = timer_space, .listener = "ear", .limit = 1}, at);
    expect_equal(taken.timers.size(), 1U, "timers taken by the listener", at);
    return std::move(taken.timers.front());
}

CompleteTimer completion(const FiredTimer& timer, std::vector<PushJob> pushes = {},
                         std::vector<PublishEvent> publications = {},
                         std::vector<PostTimer> timers = {}) {
    return {timer_space,      timer.id, timer.retries, std::move(pushes), std::move(publications),
            std::move(timers)};
}

PushJob push_of(const Scenario& s, const std::string& job) { return {work_queue, job, s.now()}; }

void add_job_cases(StoreCases& add) {
    add("the follow-up timers of a job are posted in the step that ends the job", [](Scenario& s) {
        s.perform(follow_up(s, "known", Duration{5'000}));
        s.push("a");
        const auto lease = s.take_work();
        const auto completed = s.perform(
            CompleteJob{lease,
                        {push_of(s, "b")},
                        {},
                        {follow_up(s, "new", Duration{1'000}), follow_up(s, "known", Duration{10}),
                         follow_up(s, "known", Duration{20})}});
        const std::vector<TimerPosted> posted{TimerPosted::posted, TimerPosted::replaced,
                                              TimerPosted::replaced};
        expect_equal(completed.settlement, Settlement::settled, "settlement of the completed job");
        expect(completed.posted == posted, "outcomes of the posts");
        const auto found = s.perform(FindTimer{timer_space, "known"});
        expect(found && found->at == s.now() + Duration{20},
               "the last post of an id must set the due time");
        expect_equal(s.perform(CountTimers{timer_space}).pending, 2U, "timers");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 1}, "jobs");
    });

    add("a completion with a lost lease or refused event posts no timer", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders");
        s.push("a");
        const auto lease = s.take_work();
        s.expect_forbidden(CompleteJob{lease,
                                       {},
                                       {s.publication("orders", "event", {.publisher = "other"})},
                                       {follow_up(s, "a")}},
                           "publications[0]");
        s.perform(AckJob{lease});
        const auto lost = s.perform(CompleteJob{lease, {}, {}, {follow_up(s, "a")}});
        expect_equal(lost.settlement, Settlement::lease_lost, "settlement with a lost lease");
        expect(lost.posted.empty() && !exists(s, "a"), "the step must post no timer");
    });

    add("a follow-up timer of a job wakes the listener of the timer", [](Scenario& s) {
        s.push("a");
        const auto lease = s.take_work();
        Signal signal;
        const auto watch =
            s.store().watch(timer_watch(timer_space, "ear"), [&] { signal.raise(); });
        s.perform(TakeTimers{.space = timer_space, .listener = "ear"});
        const auto seen = signal.count();
        s.perform(CompleteJob{lease, {}, {}, {follow_up(s, "b")}});
        expect(signal.wait_beyond(seen, s.traits().timeout),
               "the posted timer must wake the listener");
    });

    add("a completion of a job with an invalid timer is refused", [](Scenario& s) {
        s.push("a");
        const auto lease = s.take_work();
        auto bad = follow_up(s, "");
        s.expect_refused(CompleteJob{lease, {push_of(s, "b")}, {}, {follow_up(s, "a"), bad}},
                         "timers[1]");
        const std::vector<PostTimer> many(follow_ups_max, follow_up(s, "a"));
        s.expect_refused(CompleteJob{lease, {push_of(s, "b")}, {}, many}, "follow-ups");
        expect_equal(s.perform(AckJob{lease}), Settlement::settled,
                     "settlement of the valid lease");
    });
}

void add_timer_cases_together(StoreCases& add) {
    add("the step that confirms a timer adds its follow-up jobs and events", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        const auto timer = fire(s, "a");
        const auto completed = s.perform(completion(timer, {push_of(s, "b"), push_of(s, "b")},
                                                    {s.publication("orders", "event")},
                                                    {follow_up(s, "next", Duration{1'000})}));
        expect_equal(completed.confirmation, TimerConfirmed::confirmed,
                     "outcome of the confirmation");
        expect_equal(completed.pushed.size(), 2U, "replies to the pushes");
        expect_equal(completed.pushed[1], Pushed{PushOutcome::duplicate, completed.pushed[0].id},
                     "reply to the second push");
        expect_equal(completed.posted.size(), 1U, "replies to the posts");
        expect(!exists(s, "a"), "the confirmed timer must not exist");
        expect(exists(s, "next"), "the posted timer must exist");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 1}, "jobs");
        s.expect_delivered("billing", {{"event"}});
    });

    add("a completion without follow-up jobs or events confirms the timer", [](Scenario& s) {
        const auto timer = fire(s, "a");
        expect_equal(s.perform(completion(timer)), CompletedTimer{}, "reply to the completion");
        expect(!exists(s, "a"), "the confirmed timer must not exist");
    });

    add("a completion of an outdated firing adds no follow-up jobs and events", [](Scenario& s) {
        const auto expect_unknown = [&](const CompleteTimer& step, Where at = Where::here()) {
            const auto before = s.snapshot();
            const auto completed = s.perform(step, at);
            expect_equal(completed.confirmation, TimerConfirmed::unknown,
                         "outcome of the confirmation", at);
            expect(completed.pushed.empty() && completed.posted.empty(),
                   "the reply must have no outcomes", at);
            expect_unchanged(s.snapshot(), before, at);
        };
        const auto with_follow_ups = [&](const FiredTimer& timer) {
            return completion(timer, {push_of(s, "b")}, {s.publication("orders", "event")},
                              {follow_up(s, "next")});
        };
        s.subscribe("billing", {"orders"});
        // The firing was confirmed before.
        auto timer = fire(s, "a");
        const auto step = with_follow_ups(timer);
        s.perform(step);
        expect_unknown(step);
        s.perform(CancelTimer{timer_space, "next"});
        // The timer was replaced.
        timer = fire(s, "a");
        s.perform(follow_up(s, "a", Duration{60'000}));
        expect_unknown(with_follow_ups(timer));
        // The timer never existed.
        timer.id = "none";
        expect_unknown(with_follow_ups(timer));
        // The timer fired again meanwhile.
        s.perform(CancelTimer{timer_space, "a"});
        timer = fire(s, "a");
        s.advance(Duration{10'000});
        s.perform(TakeTimers{.space = timer_space, .listener = "ear", .limit = 1});
        expect_unknown(with_follow_ups(timer));
    });

    add("a timer stays unconfirmed when a follow-up job is refused", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders");
        const auto timer = fire(s, "a");
        s.expect_forbidden(completion(timer, {push_of(s, "b")},
                                      {s.publication("orders", "event", {.publisher = "other"})},
                                      {follow_up(s, "next")}),
                           "publications[0]");
        expect_equal(s.perform(ConfirmTimer{timer_space, "a", timer.retries}),
                     TimerConfirmed::confirmed, "outcome of the confirmation");
    });

    add("a follow-up event of a timer for one subscriber is refused if the subscriber is missing",
        [](Scenario& s) {
            s.subscribe("billing", {"refunds"}, {.timeout = Duration{0}});
            s.subscribe("audit", {"orders"}, {.timeout = Duration{0}});
            const auto timer = fire(s, "a");
            auto event = s.publication("orders", "event", {.publisher = {}});
            event.subscriber = "nobody";
            s.expect_refused(completion(timer, {push_of(s, "b")}, {event}), "publications[0]");
            event.subscriber = "billing";
            expect_equal(s.perform(completion(timer, {}, {event})).confirmation,
                         TimerConfirmed::confirmed, "outcome of the confirmation");
            s.expect_delivered("billing", {{"event"}});
            s.expect_delivered("audit", {});
        });

    add("a timer may be posted again in the step that confirms it", [](Scenario& s) {
        auto timer = fire(s, "tick");
        for (int i = 0; i < 3; ++i) {
            const auto completed =
                s.perform(completion(timer, {}, {}, {follow_up(s, "tick", Duration{100})}));
            expect_equal(completed.confirmation, TimerConfirmed::confirmed,
                         "outcome of the confirmation");
            expect(completed.posted == std::vector<TimerPosted>{TimerPosted::posted},
                   "the post must not replace the confirmed timer");
            s.advance(Duration{100});
            auto taken = s.perform(TakeTimers{.space = timer_space, .listener = "ear", .limit = 1});
            expect_equal(taken.timers.size(), 1U, "timers taken at the next due time");
            timer = std::move(taken.timers.front());
            expect_equal(timer.retries, 0U, "retries of the next firing");
        }
    });

    add("an invalid completion of a timer is refused and changes nothing", [](Scenario& s) {
        const auto timer = fire(s, "a");
        s.expect_refused(completion(timer, {push_of(s, "")}), "pushes[0]");
        s.expect_refused(completion(timer, {{delivery_queue, "b", s.now()}}), "pushes[0]");
        s.expect_refused(completion(timer, {}, {s.publication("No Topic", "event")}),
                         "publications[0]");
        s.expect_refused(completion(timer, {}, {}, {follow_up(s, "")}), "timers[0]");
        auto nowhere = completion(timer);
        nowhere.space = "no space";
        s.expect_refused(nowhere, "namespace");
        expect_equal(s.perform(completion(timer)).confirmation, TimerConfirmed::confirmed,
                     "outcome of the confirmation");
    });
}

}  // namespace

void add_timer_follow_up_cases(StoreCases& add) {
    add_job_cases(add);
    add_timer_cases_together(add);
}

}  // namespace routemaster::testing
