#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cases.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/timer.hpp"
#include "threads.hpp"
#include "timer_steps.hpp"

namespace routemaster::testing {
namespace {

using Tick = RecurringRun::Outcome;

constexpr Duration tick_interval{60'000};

/// Without `overlap`, the id of the timer that each tick posts.
const std::string tick_timer = "recurring:call";

/// The settings of a recurring timer with one retry. Its time limit for confirmation is longer than
/// the interval.
RecurringSettings timed() {
    return {.schedule = "@every 1m",
            .timer = RecurringTimer{.space = timer_space,
                                    .payload = encode(Value{"Ada"}),
                                    .retries_max = 1,
                                    .confirm_within = 3 * tick_interval}};
}

RecurringSettings timed_with_overlap() {
    auto settings = timed();
    settings.overlap = true;
    return settings;
}

RecurringJob recurring_timer(const Scenario& s, Where at = Where::here()) {
    auto job = s.perform(FindRecurringJob{"call"}, at);
    expect(job.has_value(), "the recurring timer must exist", at);
    return *std::move(job);
}

RunRecurringJob tick_step(const Scenario& s, TimePoint tick) {
    const auto job = recurring_timer(s);
    return {.name = job.name,
            .revision = job.revision,
            .at = job.next_at,
            .until = tick,
            .next = tick + tick_interval,
            .push = {},
            .post = std::make_shared<const PostTimer>(post_of(job.name, job.settings, tick))};
}

RecurringRun run_tick(const Scenario& s, Where at = Where::here()) {
    return s.perform(tick_step(s, s.now()), at);
}

void put_timer(Scenario& s, RecurringSettings settings = timed(), Where at = Where::here()) {
    s.perform(
        PutRecurringJob{"call", std::make_shared<const RecurringSettings>(std::move(settings)),
                        s.uid()},
        at);
}

/// Puts the recurring timer, and runs it at once, as a scheduler would.
void begin_ticks(Scenario& s, RecurringSettings settings = timed(), Where at = Where::here()) {
    put_timer(s, std::move(settings), at);
    expect_equal(s.perform(DueRecurringJobs{}, at).jobs.size(), std::size_t{1},
                 "number of due recurring timers", at);
    // The put has settled the tick of this instant.
    expect_equal(run_tick(s, at).outcome, Tick::moved, "outcome of a run before the first tick",
                 at);
    expect_equal(s.perform(CountTimers{timer_space}, at), TimerCounts{},
                 "timers before the first tick", at);
}

TakenTimers take_tick(const Scenario& s, Where at = Where::here()) {
    return s.perform(TakeTimers{.space = timer_space, .listener = "ear"}, at);
}

void add_posting_cases(StoreCases& add) {
    add("each tick posts one timer, due at the tick, whichever scheduler runs the tick",
        [](Scenario& s) {
            begin_ticks(s);
            expect(recurring_timer(s).settings == timed(),
                   "the recurring timer must have the settings of the put");
            for (std::uint64_t tick = 1; tick <= 3; ++tick) {
                s.advance(tick_interval);
                const auto at = s.now();
                const auto step = tick_step(s, at);
                s.advance(Duration{700});
                expect_equal(s.perform(step), RecurringRun{Tick::pushed, 0},
                             "reply to the first scheduler");
                expect_equal(s.perform(step), RecurringRun{}, "reply to the second scheduler");
                const auto timer = s.perform(FindTimer{timer_space, tick_timer});
                expect_equal(timer,
                             std::optional{TimerStatus{.id = tick_timer,
                                                       .payload = Value{"Ada"},
                                                       .state = TimerState::pending,
                                                       .at = at,
                                                       .retries = 0,
                                                       .retries_max = 1}},
                             "timer of the tick");
                const auto taken = take_tick(s);
                expect_equal(taken.timers.size(), std::size_t{1}, "timers taken by the listener");
                expect_equal(taken.timers.front().due_at, at, "due time of the taken timer");
                expect_equal(taken.timers.front().confirm_by, s.now() + 3 * tick_interval,
                             "time limit for the confirmation");
                expect_equal(s.perform(ConfirmTimer{timer_space, tick_timer}),
                             TimerConfirmed::confirmed, "outcome of the confirmation");
                expect_equal(s.perform(step), RecurringRun{},
                             "reply to a repeated run after the confirmation");
                expect(!exists(s, tick_timer), "the confirmed timer must not exist");
                const auto job = recurring_timer(s);
                expect_equal(job.runs, tick, "runs");
                expect_equal(job.last_at, std::optional{at}, "last tick of the recurring timer");
                expect_equal(job.settled_until, at, "time up to which ticks are settled");
            }
        });

    add("only one of eight concurrent schedulers posts the timer of a tick", [](Scenario& s) {
        begin_ticks(s, timed_with_overlap());
        for (std::uint64_t tick = 1; tick <= 10; ++tick) {
            s.advance(tick_interval);
            const auto step = tick_step(s, s.now());
            std::atomic<int> ran = 0;
            in_threads(8, [&](unsigned) {
                if (s.perform(step).outcome == Tick::pushed) ++ran;
            });
            expect_equal(ran.load(), 1, "schedulers that ran the tick");
            expect_equal(s.perform(CountTimers{timer_space}).pending, tick, "timers");
        }
    });

    add("the timer of a tick wakes the next listener in turn", [](Scenario& s) {
        begin_ticks(s);
        Signal woken;
        const auto watch = s.store().watch(timer_watch(timer_space, "ear"), [&] { woken.raise(); });
        s.advance(tick_interval);
        take_tick(s);
        const auto seen = woken.count();
        run_tick(s);
        expect(woken.wait_beyond(seen, s.traits().timeout), "no listener was woken by a tick");
    });
}

void add_keeping_cases(StoreCases& add) {
    add("a tick keeps the PENDING or FIRED timer of an earlier tick", [](Scenario& s) {
        begin_ticks(s);
        s.advance(tick_interval);
        expect_equal(run_tick(s).outcome, Tick::pushed, "outcome of the first tick");
        const auto first = s.now();
        s.advance(tick_interval);
        expect_equal(run_tick(s), RecurringRun{Tick::kept, 0},
                     "reply to a tick while the timer is PENDING");
        expect_equal(s.perform(FindTimer{timer_space, tick_timer})->at, first,
                     "due time of the kept timer");
        const auto fired = take_tick(s).timers.at(0);
        s.advance(tick_interval);
        expect_equal(run_tick(s), RecurringRun{Tick::kept, 0},
                     "reply to a tick while the timer is FIRED");
        const auto job = recurring_timer(s);
        expect_equal(job.runs, 1U, "runs");
        expect_equal(job.kept, 2U, "ticks that kept an existing timer");
        expect_equal(job.settled_until, s.now(), "time up to which ticks are settled");
        expect_equal(s.perform(ConfirmTimer{timer_space, tick_timer, fired.retries, fired.firing}),
                     TimerConfirmed::confirmed, "outcome of the confirmation of the kept timer");
        s.advance(tick_interval);
        expect_equal(run_tick(s).outcome, Tick::pushed, "outcome of a tick after the confirmation");
    });

    add("a tick replaces the DEAD timer of an earlier tick", [](Scenario& s) {
        begin_ticks(s);
        s.advance(tick_interval);
        run_tick(s);
        for (int firing = 0; firing < 3; ++firing) {
            take_tick(s);
            s.advance(3 * tick_interval);
        }
        expect_equal(s.perform(CountTimers{timer_space}).dead, 1U, "DEAD timers before the tick");
        expect_equal(run_tick(s).outcome, Tick::pushed,
                     "outcome of a tick while the timer is DEAD");
        const auto counts = s.perform(CountTimers{timer_space});
        expect_equal(counts.dead, 0U, "DEAD timers after the tick");
        expect_equal(counts.pending, 1U, "PENDING timers after the tick");
    });

    add("with overlap=true, each tick posts a separate timer", [](Scenario& s) {
        begin_ticks(s, timed_with_overlap());
        for (std::uint64_t tick = 1; tick <= 3; ++tick) {
            s.advance(tick_interval);
            expect_equal(run_tick(s).outcome, Tick::pushed, "outcome of the tick");
            expect(exists(s, tick_timer + ":" + std::to_string(to_milliseconds(s.now()))),
                   "the id of the timer must contain the time of the tick");
            expect_equal(s.perform(CountTimers{timer_space}).pending, tick, "timers");
        }
        expect_equal(recurring_timer(s).kept, 0U, "ticks that kept an existing timer");
    });
}

void add_timer_entity_cases(StoreCases& add) {
    add("a paused recurring timer posts nothing, and does not catch up afterwards",
        [](Scenario& s) {
            begin_ticks(s);
            s.advance(tick_interval);
            const auto step = tick_step(s, s.now());
            expect_equal(s.perform(PauseRecurringJob{"call", true}), Count{1},
                         "recurring timers paused");
            expect_equal(s.perform(step), RecurringRun{}, "reply to a run during the pause");
            expect_equal(s.perform(PauseRecurringJob{"call", false}), Count{1},
                         "recurring timers resumed");
            expect_equal(run_tick(s).outcome, Tick::moved, "outcome of a tick from the pause");
            expect(!exists(s, tick_timer), "a tick from the pause must post no timer");
            s.advance(tick_interval);
            expect_equal(run_tick(s).outcome, Tick::pushed, "outcome of the next tick");
        });

    add("a recurring job that becomes a recurring timer keeps its due time", [](Scenario& s) {
        begin_ticks(s);
        const auto before = recurring_timer(s);
        const auto step = tick_step(s, s.now() + tick_interval);
        auto other = timed();
        other.timer->payload = encode(Value{"Grace"});
        put_timer(s, other);
        s.advance(tick_interval);
        expect_equal(s.perform(step), RecurringRun{}, "reply to a run with the old payload");
        put_timer(s, {.schedule = "@every 1m", .queue = work_queue, .job = "tick"});
        put_timer(s, other);
        expect_equal(recurring_timer(s).next_at, before.next_at, "due time after both changes");
        expect_equal(run_tick(s).outcome, Tick::pushed, "outcome of the tick");
        expect(s.perform(FindTimer{timer_space, tick_timer})->payload == Value{"Grace"},
               "the timer must have the new payload");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs in the queue");
        expect_equal(s.perform(RemoveRecurringJob{"call"}), Removal::removed,
                     "removal of the recurring timer");
        expect(exists(s, tick_timer), "the posted timer must remain");
    });
}

void add_bad_recurring_timer_cases(StoreCases& add) {
    add("an invalid recurring timer is refused, names the field, changes nothing", [](Scenario& s) {
        const auto refuse = [&](std::string_view field,
                                const std::function<void(RecurringSettings&)>& change,
                                Where at = Where::here()) {
            auto settings = timed();
            change(settings);
            s.expect_refused(
                PutRecurringJob{"call",
                                std::make_shared<const RecurringSettings>(std::move(settings)),
                                s.uid()},
                field, at);
        };
        refuse("schedule", [](auto& all) { all.schedule = "61 * * * *"; });
        refuse("catch_up", [](auto& all) { all.catch_up = CatchUp::all; });
        refuse("timer: namespace", [](auto& all) { all.timer->space.clear(); });
        refuse("timer: namespace", [](auto& all) { all.timer->space = "a b"; });
        refuse("timer: payload", [](auto& all) { all.timer->payload.clear(); });
        refuse("timer: payload", [](auto& all) { all.timer->payload = encode(Value{"\xff"}); });
        refuse("timer: payload",
               [](auto& all) { all.timer->payload.assign(timer_bytes_max + 1, '\xc0'); });
        refuse("timer: retries_max",
               [](auto& all) { all.timer->retries_max = timer_retries_max + 1; });
        refuse("timer: confirm_within",
               [](auto& all) { all.timer->confirm_within = Duration{-1}; });
        refuse("timer: confirm_within", [](auto& all) { all.timer->retries_max = 0; });
        refuse("queue", [](auto& all) { all.queue = work_queue; });
        refuse("job", [](auto& all) { all.job = "tick"; });
        refuse("attempts_max", [](auto& all) { all.attempts_max = 3; });
        refuse("priority", [](auto& all) { all.priority = 1; });
        refuse("timeout", [](auto& all) { all.timeout = Duration{1}; });
        refuse("expires", [](auto& all) { all.expires = Duration{1}; });
        refuse("metadata", [](auto& all) { all.metadata = {{"tenant", "shop"}}; });
    });

    add("an invalid run of a recurring timer is refused and changes nothing", [](Scenario& s) {
        begin_ticks(s);
        s.advance(tick_interval);
        const auto with = [&](const std::function<void(PostTimer&)>& change) {
            auto step = tick_step(s, s.now());
            auto post = *step.post;
            change(post);
            step.post = std::make_shared<const PostTimer>(std::move(post));
            return step;
        };
        s.expect_refused(with([](auto& post) { post.space = "a b"; }), "namespace");
        s.expect_refused(with([](auto& post) { post.due_at += Duration{1}; }), "due_at");
        auto both = tick_step(s, s.now());
        both.push = std::make_shared<const PushJob>(PushJob{work_queue, "tick", s.now()});
        s.expect_refused(both, "post");
        expect_equal(run_tick(s).outcome, Tick::pushed, "outcome of the valid run");
    });
}

}  // namespace

void add_recurring_timer_cases(StoreCases& add) {
    add_posting_cases(add);
    add_keeping_cases(add);
    add_timer_entity_cases(add);
    add_bad_recurring_timer_cases(add);
}

}  // namespace routemaster::testing
