#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/delayer.hpp"
#include "support/recurring_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;
using namespace std::chrono_literals;

TEST_CASE("each tick posts its timer once and on time, even with two schedulers") {
    RecurringScene s;
    Delayer calls{s.store, "calls", s.clock};
    calls.every("call", 10s, "Ada", {.overlap = true, .retries_max = 2}).value();
    s.run_for(35s);
    const auto timers = calls.list(TimerState::pending).value();
    REQUIRE(timers.size() == 3);
    for (std::size_t i = 0; i < timers.size(); ++i) {
        const auto tick = s.begin + static_cast<std::int64_t>(i + 1) * 10s;
        CHECK(timers[i] ==
              TimerStatus{.id = "recurring:call:" + std::to_string(to_milliseconds(tick)),
                          .payload = "Ada",
                          .state = TimerState::pending,
                          .at = tick,
                          .retries = 0,
                          .retries_max = 2});
    }
    CHECK(s.first.status().pushed + s.second_one.status().pushed == 3);
    CHECK(s.job("call").runs == 3);
    CHECK(s.work.status().value() == QueueStatus{});
}

TEST_CASE("a timer at a fixed local time is posted once when daylight saving time begins or ends") {
    RecurringScene s;
    Delayer calls{s.store, "calls", s.clock};
    calls.cron("call", "30 2 * * *", "Ada", {.time_zone = "Europe/Berlin", .overlap = true})
        .value();
    s.run();
    const auto due_around = [&](std::int64_t begin, Duration span) {
        s.clock.set(from_milliseconds(begin * 1'000));
        // Runs and cancels the missed ticks so far.
        s.run();
        for (const auto& timer : calls.list(TimerState::pending).value()) {
            calls.cancel(timer.id).value();
        }
        s.run_for(span);
        std::vector<std::int64_t> due;
        for (const auto& timer : calls.list(TimerState::pending).value()) {
            due.push_back(to_milliseconds(timer.at) / 1'000);
        }
        return due;
    };
    // On 2024-03-31, 1:59:59 is followed by 3:00, at 01:00 UTC.
    CHECK(due_around(1'711'846'740, 2h) == Ticks{1'711'846'800});
    // On 2024-10-27, 2:30 occurs at 00:30 UTC, and again an hour later.
    CHECK(due_around(1'729'988'940, 2h) == Ticks{1'729'989'000});
}

TEST_CASE("each recurring timer sets the policy for ticks missed while no scheduler ran") {
    RecurringScene s;
    Delayer calls{s.store, "calls", s.clock};
    calls.cron("skip", "@every 5m", "a", {.catch_up = CatchUp::skip, .overlap = true}).value();
    calls.cron("once", "@every 10m", "b").value();
    calls.cron("all", "@every 20m", "c", {.catch_up = CatchUp::all, .overlap = true}).value();
    s.run();
    s.clock.advance(64min);
    s.run();
    Ticks due;
    for (const auto& timer : calls.list(TimerState::pending).value()) {
        due.push_back((timer.at - s.begin) / 1min);
    }
    CHECK(due == Ticks{20, 40, 60, 60});
    CHECK(s.job("skip").runs == 0);
    CHECK(s.job("once").runs == 1);
    CHECK(s.job("all").runs == 3);
    // Without overlap the next tick keeps a timer that no listener took.
    s.run_for(7min);
    CHECK(s.job("once").runs == 1);
    CHECK(s.job("once").kept == 1);
    CHECK(s.first.status().kept + s.second_one.status().kept == 1);
}

TEST_CASE("a lost reply neither repeats nor drops the timer of a tick") {
    RecurringScene s;
    Delayer calls{s.store, "calls", s.clock};
    calls.every("call", 10s, "Ada", {.overlap = true}).value();
    s.run();
    s.disturbed.lose_replies<RunRecurringJob>(2);
    s.run_for(15s);
    CHECK(calls.counts().value().pending == 1);
    CHECK(s.job("call").runs == 1);
}

TEST_CASE("a triggered recurring timer keeps the existing timer, unless timers overlap") {
    RecurringScene s;
    Delayer calls{s.store, "calls", s.clock};
    calls.cron("one", "@daily", "a").value();
    CHECK(s.recurring.trigger("one").value().value() == Pushed{PushOutcome::pushed, 0});
    s.clock.advance(1s);
    CHECK(s.recurring.trigger("one").value().value() == Pushed{PushOutcome::duplicate, 0});
    const auto timer = calls.peek("recurring:one").value();
    REQUIRE(timer);
    CHECK(timer->at == s.begin);
    calls.cron("many", "@daily", "b", {.overlap = true}).value();
    for (int i = 0; i < 2; ++i) {
        CHECK(s.recurring.trigger("many").value().value() == PushOutcome::pushed);
    }
    CHECK(calls.counts().value().pending == 3);
    CHECK(s.job("many").runs == 0);
    std::optional<Pushed> triggered;
    s.recurring.trigger("one",
                        [&](Result<std::optional<Pushed>> pushed) { triggered = pushed.value(); });
    CHECK(triggered == std::optional{Pushed{PushOutcome::duplicate, 0}});
}

TEST_CASE(
    "recurring timers are listed with recurring jobs, and refused with the name of the field") {
    RecurringScene s;
    Delayer calls{s.store, "calls", s.clock};
    calls
        .cron("call", "30 2 * * MON-FRI", "Ada",
              {.time_zone = "Europe/Berlin",
               .catch_up = CatchUp::skip,
               .retries_max = 3,
               .confirm_within = 5s})
        .value();
    s.put("ping", "@every 10s");
    const auto all = s.recurring.list().value();
    REQUIRE(all.size() == 2);
    CHECK(all[0].settings ==
          RecurringSettings{.schedule = "30 2 * * MON-FRI",
                            .time_zone = "Europe/Berlin",
                            .catch_up = CatchUp::skip,
                            .timer = RecurringTimer{.space = "calls",
                                                    .payload = encode(Value{"Ada"}),
                                                    .retries_max = 3,
                                                    .confirm_within = 5s}});
    CHECK_FALSE(all[1].settings.timer);
    CHECK(s.recurring.remove("call").value() == Removal::removed);
    const auto refused = [](const Result<void>& outcome, const std::string& field) {
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().code() == Errc::invalid);
        CHECK(outcome.error().context().starts_with(field));
    };
    refused(calls.every("a", 1500ms, "Ada"), "schedule:");
    refused(calls.cron("a b", "@daily", "Ada"), "name:");
    refused(calls.cron("a", "@daily", "\xff"), "timer: payload:");
    refused(calls.cron("a", "@daily", "Ada", {.catch_up = CatchUp::all}), "catch_up:");
    refused(Delayer{s.store, "a b", s.clock}.cron("a", "@daily", "Ada"), "timer: namespace:");
    std::optional<Result<void>> later;
    calls.every("b", 1s, "Ada", {}, [&](Result<void> outcome) { later = outcome; });
    REQUIRE(later);
    CHECK(*later);
    CHECK(s.recurring.list().value().size() == 2);
}
