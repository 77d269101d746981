#include "routemaster/recurring_scheduler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/job_schedule.hpp"
#include "routemaster/perform.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "support/disturbed_store.hpp"
#include "support/hand_runner.hpp"
#include "support/recorded_log.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

constexpr Duration second{1'000};
constexpr Duration minute{60 * second};
constexpr Duration hour{60 * minute};

/// A store, and two schedulers that share it. The clock begins at a full hour.
struct RecurringScene {
    void run() {
        first_runner.run(clock.now());
        second_runner.run(clock.now());
    }

    /// Lets time pass, and the schedulers run when they asked for it.
    void run_for(Duration span) {
        const auto end = clock.now() + span;
        run();
        while (std::min(first_runner.next(), second_runner.next()) <= end) {
            clock.set(std::max(clock.now(), std::min(first_runner.next(), second_runner.next())));
            run();
        }
        clock.set(end);
    }

    /// Adds one that has a job of its own for each tick.
    void put(const std::string& name, const std::string& schedule,
             CatchUp catch_up = CatchUp::once) {
        RecurringOptions options{.catch_up = catch_up, .overlap = true};
        recurring.cron(name, schedule, "work", Job{name, {}}, options).value();
    }

    [[nodiscard]] RecurringJob job(const std::string& name) {
        return recurring.find(name).value().value();
    }

    /// The ticks whose jobs wait, in seconds since the scene began, in order; they are removed.
    std::vector<std::int64_t> take_ticks() {
        std::vector<std::int64_t> ticks;
        for (const auto& one : work.list(JobStatus::State::ready, 0, 1'000).value().jobs) {
            const auto tick = std::stoll(one.options.metadata.at("tick"));
            ticks.push_back((tick - to_milliseconds(begin)) / 1'000);
            work.remove(one.id).value();
        }
        std::sort(ticks.begin(), ticks.end());
        return ticks;
    }

    const TimePoint begin = from_milliseconds(1'699'999'200'000);
    testing::ManualClock clock{begin};
    MemoryStore store;
    DisturbedStore disturbed{store};
    RecurringJobs recurring{store, clock};
    JobQueue work{store, "work", clock};
    RecordedLog log;
    RecurringScheduler first{disturbed, {.poll_interval = hour, .log = log.sink()}};
    RecurringScheduler second_one{disturbed, {.poll_interval = hour, .log = log.sink()}};
    HandRunner first_runner{first};
    HandRunner second_runner{second_one};
};

using Ticks = std::vector<std::int64_t>;

/// A store as it looks where the zones of some recurring jobs are not known.
class ForeignZones final : public Store {
public:
    explicit ForeignZones(Store& store) : store_{store} {}

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        store_.submit(steps, now, [done = std::move(done)](std::span<Outcome> outcomes) {
            for (auto& outcome : outcomes) {
                auto* due = outcome ? std::get_if<DueRecurring>(&*outcome) : nullptr;
                if (due == nullptr) continue;
                for (auto& job : due->jobs) {
                    if (job.name.starts_with("foreign")) job.settings.time_zone = "Not/Here";
                }
            }
            done(outcomes);
        });
    }
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override {
        return store_.watch(queue, std::move(wake));
    }

private:
    Store& store_;
};

}  // namespace

TEST_CASE("each tick pushes its job once and on time, though two schedulers run") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.run_for(35 * second);
    CHECK(s.take_ticks() == Ticks{10, 20, 30});
    CHECK(s.first.status().pushed + s.second_one.status().pushed == 3);
    CHECK(s.job("ping").runs == 3);
    CHECK(s.job("ping").last_at == s.begin + 30 * second);
    CHECK(s.job("ping").next_at == s.begin + 40 * second);
    // They sleep until then.
    CHECK(s.first_runner.next() == s.begin + 40 * second);
    CHECK(s.disturbed.times_of<DueRecurringJobs>().size() <= 20);
}

TEST_CASE("schedulers that look at the same time run a tick once") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.run();
    s.clock.advance(10 * second);
    // Both learn that it is due before either of them runs it.
    s.disturbed.delay<DueRecurringJobs>();
    s.run();
    s.disturbed.release();
    s.run();
    CHECK(s.take_ticks() == Ticks{10});
    CHECK(s.first.status().pushed + s.second_one.status().pushed == 1);
    CHECK(s.first.status().stale + s.second_one.status().stale >= 1);
}

TEST_CASE("a scheduler is woken by a put, and begins with the first tick after it") {
    RecurringScene s;
    s.run();
    CHECK(s.first_runner.next() > s.begin + 30 * minute);
    s.clock.advance(5 * second);
    s.put("ping", "@every 10s");
    CHECK(s.job("ping").next_at == s.begin + 10 * second);
    s.run();
    CHECK(s.take_ticks().empty());
    CHECK(s.first_runner.next() == s.begin + 10 * second);
    s.run_for(5 * second);
    CHECK(s.take_ticks() == Ticks{10});
}

TEST_CASE("what becomes of missed ticks is up to each recurring job") {
    RecurringScene s;
    s.put("skip", "@every 5m", CatchUp::skip);
    s.put("once", "@every 10m", CatchUp::once);
    s.put("all", "@every 20m", CatchUp::all);
    s.run();
    s.clock.advance(64 * minute);
    s.run();
    // The last tick of skip was four minutes ago.
    CHECK(s.take_ticks() == Ticks{20 * 60, 40 * 60, 60 * 60, 60 * 60});
    CHECK(s.job("skip").runs == 0);
    CHECK(s.job("once").runs == 1);
    CHECK(s.job("all").runs == 3);
    s.run_for(17 * minute);
    CHECK(s.job("skip").runs == 4);
    CHECK(s.job("once").runs == 3);
    CHECK(s.job("all").runs == 4);
}

TEST_CASE("a tick that is less than a minute late is not skipped") {
    RecurringScene s;
    s.put("skip", "@every 1h", CatchUp::skip);
    s.run();
    s.clock.advance(hour + minute - Duration{1});
    s.run();
    CHECK(s.take_ticks() == Ticks{3'600});
    s.clock.advance(hour + Duration{1});
    s.run();
    CHECK(s.take_ticks().empty());
    s.run_for(hour);
    CHECK(s.take_ticks() == Ticks{3 * 3'600});
}

TEST_CASE("of very many missed ticks the last 1,000 are run") {
    RecurringScene s;
    s.put("all", "@every 1s", CatchUp::all);
    s.run();
    s.clock.advance(5'000 * second);
    s.run();
    const auto ticks = s.take_ticks();
    CHECK(ticks.size() == 1'000);
    CHECK(ticks.front() == 4'001);
    CHECK(ticks.back() == 5'000);
}

TEST_CASE("no tick runs twice when the clock is set back") {
    RecurringScene s;
    for (const auto catch_up : {CatchUp::skip, CatchUp::once, CatchUp::all}) {
        s.put("ping" + std::to_string(static_cast<int>(catch_up)), "@every 10s", catch_up);
    }
    s.run_for(65 * second);
    CHECK(s.take_ticks().size() == 18);
    s.clock.advance(-60 * second);
    s.run_for(60 * second);
    CHECK(s.take_ticks().empty());
    // Nor when their schedule changes meanwhile, and changes back.
    s.clock.advance(-60 * second);
    s.put("ping1", "@every 5s");
    s.run_for(second);
    s.put("ping1", "@every 10s");
    s.run_for(59 * second);
    CHECK(s.take_ticks().empty());
    s.run_for(10 * second);
    CHECK(s.take_ticks() == Ticks{70, 70, 70});
}

TEST_CASE("a clock that is set forward leaves missed ticks") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.run_for(second);
    s.clock.advance(hour);
    s.run();
    CHECK(s.take_ticks() == Ticks{3'600});
}

TEST_CASE("another schedule begins anew, and runs no past tick") {
    RecurringScene s;
    s.put("ping", "@every 10s", CatchUp::all);
    s.run_for(25 * second);
    CHECK(s.take_ticks() == Ticks{10, 20});
    s.put("ping", "@every 5s", CatchUp::all);
    s.run_for(10 * second);
    CHECK(s.take_ticks() == Ticks{30, 35});
    // The same one, put again at the next start, catches up.
    s.clock.advance(15 * second);
    s.put("ping", "@every 5s", CatchUp::all);
    s.run();
    CHECK(s.take_ticks() == Ticks{40, 45, 50});
}

TEST_CASE("ticks that pass while a recurring job is paused do not run") {
    RecurringScene s;
    s.put("ping", "@every 10s", CatchUp::all);
    s.run_for(15 * second);
    CHECK(s.take_ticks() == Ticks{10});
    CHECK(s.recurring.pause("ping").value());
    s.run_for(30 * second);
    CHECK(s.take_ticks().empty());
    CHECK(s.recurring.resume("ping").value());
    CHECK(s.job("ping").next_at == s.begin + 50 * second);
    s.run_for(10 * second);
    CHECK(s.take_ticks() == Ticks{50});
    CHECK_FALSE(s.recurring.pause("nothing").value());
}

TEST_CASE("a reply that is lost neither repeats a tick nor drops it") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.run();
    s.disturbed.lose_replies<RunRecurringJob>(2);
    s.run_for(15 * second);
    CHECK(s.take_ticks() == Ticks{10});
    s.disturbed.lose_replies<DueRecurringJobs>(10);
    s.run_for(10 * second);
    CHECK(s.take_ticks() == Ticks{20});
}

TEST_CASE("a tick that the store refused runs when it takes steps again") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.run();
    s.disturbed.refuse<RunRecurringJob>(4);
    s.disturbed.refuse<DueRecurringJobs>(4);
    s.run_for(19 * second);
    CHECK(s.take_ticks() == Ticks{10});
    CHECK(s.disturbed.times_of<RunRecurringJob>().size() < 10);
}

TEST_CASE("the job of a former tick is kept, and kicked when it is BURIED") {
    RecurringScene s;
    s.recurring.every("ping", 10 * second, "work", Job{"ping", {}}).value();
    s.run_for(35 * second);
    CHECK(s.work.status().value().ready == 1);
    CHECK(s.job("ping").runs == 1);
    CHECK(s.job("ping").kept == 2);
    const AcquireJobs acquire{.queue = "work", .worker = Uid{1, 1}};
    const auto lease = perform(s.store, acquire, s.clock.now()).value().leases.at(0);
    const FailJob fail{.lease = lease, .error = "broken", .run_at = s.clock.now(), .bury = true};
    CHECK(perform(s.store, fail, s.clock.now()).value() == Settlement::buried);
    s.run_for(10 * second);
    CHECK(s.work.status().value() == QueueStatus{.ready = 1});
    CHECK(s.work.find(lease.id).value()->errors.size() == 1);
}

TEST_CASE("a recurring job is triggered, though it is paused, and stays due when it was") {
    RecurringScene s;
    s.put("report", "@daily");
    s.recurring.pause("report").value();
    s.run();
    const auto before = s.job("report");
    const auto pushed = s.recurring.trigger("report").value();
    REQUIRE(pushed);
    CHECK(*pushed == PushOutcome::pushed);
    CHECK(s.recurring.trigger("report").value().value() == PushOutcome::pushed);
    CHECK(s.work.status().value().ready == 2);
    CHECK(s.job("report") == before);
    CHECK_FALSE(s.recurring.trigger("nothing").value());
    // Without overlap an equal job excludes it.
    s.recurring.cron("once", "@daily", "work", Job{"once", {}}).value();
    CHECK(s.recurring.trigger("once").value().value() == PushOutcome::pushed);
    CHECK(s.recurring.trigger("once").value().value() == PushOutcome::duplicate);
}

TEST_CASE("what is triggered at the instant of a tick is told from the job of that tick") {
    RecurringScene s;
    s.put("report", "@every 10s");
    s.run_for(10 * second);
    REQUIRE(to_milliseconds(s.clock.now()) % 10'000 == 0);
    s.recurring.trigger("report").value();
    s.run();
    std::set<std::string> ticks;
    for (const auto& one : s.work.list(JobStatus::State::ready, 0, 10).value().jobs) {
        ticks.insert(one.options.metadata.at("tick"));
    }
    const auto tick = to_milliseconds(s.clock.now());
    CHECK(ticks == std::set<std::string>{std::to_string(tick), std::to_string(tick + 1)});
    // Between ticks it is the instant.
    s.clock.advance(Duration{7});
    s.recurring.trigger("report").value();
    CHECK(s.work.list(JobStatus::State::ready, 0, 10)
              .value()
              .jobs.back()
              .options.metadata.at("tick") == std::to_string(tick + 7));
}

TEST_CASE("a put while a tick is due runs that tick as it is then, or with another schedule not") {
    RecurringScene s;
    const auto put = [&](const std::string& schedule, const std::string& job) {
        s.recurring.cron("report", schedule, "work", Job{job, {}}, {.overlap = true}).value();
    };
    const auto pushed = [&] {
        std::vector<std::string> names;
        for (const auto& one : s.work.list(JobStatus::State::ready, 0, 10).value().jobs) {
            names.push_back(decode_job(one.job).value().name);
        }
        return names;
    };
    put("@every 10s", "old");
    s.run();
    s.clock.advance(10 * second);
    put("@every 10s", "new");
    s.run();
    CHECK(pushed() == std::vector<std::string>{"new"});
    s.clock.advance(10 * second);
    // It begins with its first tick from now on, though this instant is one of both schedules.
    put("@every 5s", "another");
    s.run();
    CHECK(pushed().size() == 1);
    s.run_for(5 * second);
    CHECK(pushed() == std::vector<std::string>{"new", "another"});
}

TEST_CASE("recurring jobs that cannot be run here do not keep the others from running") {
    RecurringScene s;
    for (int n = 0; n < 150; ++n) s.put("foreign" + std::to_string(n), "@every 10s");
    s.put("known", "@every 10s");
    ForeignZones foreign{s.store};
    RecurringScheduler scheduler{foreign, {.poll_interval = second, .log = s.log.sink()}};
    HandRunner runner{scheduler};
    const auto end = s.begin + 15 * second;
    runner.run(s.clock.now());
    while (runner.next() <= end) {
        s.clock.set(std::max(s.clock.now(), runner.next()));
        runner.run(s.clock.now());
    }
    CHECK(s.job("known").runs == 1);
    CHECK(s.job("foreign0").runs == 0);
}

TEST_CASE("recurring jobs are listed, changed and removed") {
    RecurringScene s;
    s.recurring
        .cron("report", "30 2 * * MON-FRI", "work", Job{"report", {"sales"}},
              {.time_zone = "Europe/Berlin", .catch_up = CatchUp::skip, .attempts_max = 3})
        .value();
    s.recurring.every("ping", 90 * second, "work", Job{"ping", {}}).value();
    const auto all = s.recurring.list().value();
    REQUIRE(all.size() == 2);
    CHECK(all[0].name == "ping");
    CHECK(all[0].settings.schedule == "@every 90s");
    CHECK(all[1].settings.time_zone == "Europe/Berlin");
    CHECK(decode_job(all[1].settings.job).value() == Job{"report", {"sales"}});
    CHECK(all[1].next_at ==
          JobSchedule::parse("30 2 * * MON-FRI", "Europe/Berlin").value().next(s.begin));
    CHECK(s.recurring.list({.after = "ping", .limit = 1}).value().at(0).name == "report");
    CHECK(s.recurring.remove("ping").value() == Removal::removed);
    CHECK(s.recurring.remove("ping").value() == Removal::unknown);
    CHECK_FALSE(s.recurring.find("ping").value());

    CHECK(s.recurring.every("a", Duration{1'500}, "work", Job{"a", {}}).error().code() ==
          Errc::invalid);
    CHECK(s.recurring.cron("a", "@daily", "main", Job{"a", {}})
              .error()
              .context()
              .starts_with("queue:"));
    CHECK(s.recurring.cron("a", "@daily", "work", Job{"", {}})
              .error()
              .context()
              .starts_with("job: name:"));
    RecurringSettings settings{.schedule = "@daily", .queue = "work", .job = "no job"};
    CHECK(s.recurring.put("a", settings).error().context().starts_with("job:"));
    CHECK(s.recurring.list().value().size() == 1);
}

TEST_CASE("a recurring job is refused when its ticks would be no jobs") {
    RecurringScene s;
    const auto refused = [&s](const Job& job, const std::string& field) {
        const auto outcome = s.recurring.cron("a", "@daily", "work", job);
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().code() == Errc::invalid);
        CHECK(outcome.error().context().starts_with(field));
    };
    refused({std::string{"a\0b", 3}, {}}, "job: name:");
    refused({"\xff", {}}, "job: name:");
    refused({"a", {Value{std::nan("")}}}, "job: arguments:");
    refused({"a", {Value{"\xff"}}}, "job: arguments:");
    refused({"a", {Value{Value::Map{{"k", Value{1}}, {"k", Value{2}}}}}}, "job: arguments:");
    const std::string twice = std::string{"\x92\xa1"} + "a\x91\x82\xa1k\x01\xa1k\x02";
    RecurringSettings settings{.schedule = "@daily", .queue = "work", .job = twice};
    CHECK(s.recurring.put("a", settings).error().context().starts_with("job:"));
    CHECK(s.recurring.cron("a", "@daily", "work", Job{"a", {}}, {.priority = priority_max + 1})
              .error()
              .context()
              .starts_with("priority:"));
    CHECK(s.recurring.list().value().empty());
}

TEST_CASE("each tick posts its timer once and on time, though two schedulers run") {
    RecurringScene s;
    Delayer calls{s.store, "calls", s.clock};
    calls.every("call", 10 * second, "Ada", {.overlap = true, .retries_max = 2}).value();
    s.run_for(35 * second);
    const auto timers = calls.list(TimerState::pending).value();
    REQUIRE(timers.size() == 3);
    for (std::size_t i = 0; i < timers.size(); ++i) {
        const auto tick = s.begin + static_cast<std::int64_t>(i + 1) * 10 * second;
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

TEST_CASE("a timer of a fixed time is posted once where the clock steps, and due at that tick") {
    RecurringScene s;
    Delayer calls{s.store, "calls", s.clock};
    calls.cron("call", "30 2 * * *", "Ada", {.time_zone = "Europe/Berlin", .overlap = true})
        .value();
    s.run();
    const auto due_around = [&](std::int64_t begin, Duration span) {
        s.clock.set(from_milliseconds(begin * 1'000));
        // What was missed until then.
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
    // On 2024-03-31 it is 3:00 after 1:59:59, at 01:00 UTC.
    CHECK(due_around(1'711'846'740, 2 * hour) == Ticks{1'711'846'800});
    // On 2024-10-27 it is 2:30 at 00:30 UTC, and again an hour later.
    CHECK(due_around(1'729'988'940, 2 * hour) == Ticks{1'729'989'000});
}

TEST_CASE("what becomes of missed ticks is up to each recurring timer") {
    RecurringScene s;
    Delayer calls{s.store, "calls", s.clock};
    calls.cron("skip", "@every 5m", "a", {.catch_up = CatchUp::skip, .overlap = true}).value();
    calls.cron("once", "@every 10m", "b").value();
    calls.cron("all", "@every 20m", "c", {.catch_up = CatchUp::all, .overlap = true}).value();
    s.run();
    s.clock.advance(64 * minute);
    s.run();
    Ticks due;
    for (const auto& timer : calls.list(TimerState::pending).value()) {
        due.push_back((timer.at - s.begin) / minute);
    }
    CHECK(due == Ticks{20, 40, 60, 60});
    CHECK(s.job("skip").runs == 0);
    CHECK(s.job("once").runs == 1);
    CHECK(s.job("all").runs == 3);
    // Without overlap the next tick keeps what nobody took.
    s.run_for(7 * minute);
    CHECK(s.job("once").runs == 1);
    CHECK(s.job("once").kept == 1);
    CHECK(s.first.status().kept + s.second_one.status().kept == 1);
}

TEST_CASE("a reply that is lost neither repeats the timer of a tick nor drops it") {
    RecurringScene s;
    Delayer calls{s.store, "calls", s.clock};
    calls.every("call", 10 * second, "Ada", {.overlap = true}).value();
    s.run();
    s.disturbed.lose_replies<RunRecurringJob>(2);
    s.run_for(15 * second);
    CHECK(calls.counts().value().pending == 1);
    CHECK(s.job("call").runs == 1);
}

TEST_CASE("a recurring timer is triggered, and keeps the one that is there unless they overlap") {
    RecurringScene s;
    Delayer calls{s.store, "calls", s.clock};
    calls.cron("one", "@daily", "a").value();
    CHECK(s.recurring.trigger("one").value().value() == Pushed{PushOutcome::pushed, 0});
    s.clock.advance(second);
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

TEST_CASE("recurring timers are listed with the recurring jobs, and refused with a field") {
    RecurringScene s;
    Delayer calls{s.store, "calls", s.clock};
    calls
        .cron("call", "30 2 * * MON-FRI", "Ada",
              {.time_zone = "Europe/Berlin",
               .catch_up = CatchUp::skip,
               .retries_max = 3,
               .confirm_within = 5 * second})
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
                                                    .confirm_within = 5 * second}});
    CHECK_FALSE(all[1].settings.timer);
    CHECK(s.recurring.remove("call").value() == Removal::removed);
    const auto refused = [](const Result<void>& outcome, const std::string& field) {
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().code() == Errc::invalid);
        CHECK(outcome.error().context().starts_with(field));
    };
    refused(calls.every("a", Duration{1'500}, "Ada"), "schedule:");
    refused(calls.cron("a b", "@daily", "Ada"), "name:");
    refused(calls.cron("a", "@daily", "\xff"), "timer: payload:");
    refused(calls.cron("a", "@daily", "Ada", {.catch_up = CatchUp::all}), "catch_up:");
    refused(Delayer{s.store, "a b", s.clock}.cron("a", "@daily", "Ada"), "timer: namespace:");
    std::optional<Result<void>> later;
    calls.every("b", second, "Ada", {}, [&](Result<void> outcome) { later = outcome; });
    REQUIRE(later);
    CHECK(*later);
    CHECK(s.recurring.list().value().size() == 2);
}

TEST_CASE("a scheduler that is closed runs no further tick") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.run();
    for (auto* one : {&s.first, &s.second_one}) {
        CHECK_FALSE(one->closed());
        one->close(s.clock.now());
        CHECK(one->poll(s.clock.now()) == never);
        CHECK(one->closed());
    }
    s.clock.advance(20 * second);
    for (auto* one : {&s.first, &s.second_one}) one->poll(s.clock.now());
    CHECK(s.take_ticks().empty());
}
