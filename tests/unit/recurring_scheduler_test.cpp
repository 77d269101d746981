#include "routemaster/recurring_scheduler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/store/perform.hpp"
#include "support/disturbed_store.hpp"
#include "support/hand_runner.hpp"
#include "support/recurring_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;
using namespace std::chrono_literals;

namespace {

/// A store as seen by a process that lacks the time zones of some recurring jobs.
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

TEST_CASE("each tick pushes its job once and on time, even with two schedulers") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.run_for(35s);
    CHECK(s.take_ticks() == Ticks{10, 20, 30});
    CHECK(s.first.status().pushed + s.second_one.status().pushed == 3);
    CHECK(s.job("ping").runs == 3);
    CHECK(s.job("ping").last_at == s.begin + 30s);
    CHECK(s.job("ping").next_at == s.begin + 40s);
    // Both schedulers sleep between ticks.
    CHECK(s.first_runner.next() == s.begin + 40s);
    CHECK(s.disturbed.times_of<DueRecurringJobs>().size() <= 20);
}

TEST_CASE("concurrent schedulers run each tick once") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.run();
    s.clock.advance(10s);
    // Both schedulers learn about the tick before either of them runs it.
    s.disturbed.delay<DueRecurringJobs>();
    s.run();
    s.disturbed.release();
    s.run();
    CHECK(s.take_ticks() == Ticks{10});
    CHECK(s.first.status().pushed + s.second_one.status().pushed == 1);
    CHECK(s.first.status().stale + s.second_one.status().stale >= 1);
}

TEST_CASE("putting a recurring job wakes a scheduler, and the first tick is after the put") {
    RecurringScene s;
    s.run();
    CHECK(s.first_runner.next() > s.begin + 30min);
    s.clock.advance(5s);
    s.put("ping", "@every 10s");
    CHECK(s.job("ping").next_at == s.begin + 10s);
    s.run();
    CHECK(s.take_ticks().empty());
    CHECK(s.first_runner.next() == s.begin + 10s);
    s.run_for(5s);
    CHECK(s.take_ticks() == Ticks{10});
}

TEST_CASE("each recurring job sets the policy for ticks missed while no scheduler ran") {
    RecurringScene s;
    s.put("skip", "@every 5m", CatchUp::skip);
    s.put("once", "@every 10m", CatchUp::once);
    s.put("all", "@every 20m", CatchUp::all);
    s.run();
    s.clock.advance(64min);
    s.run();
    // The last tick of `skip` was four minutes ago.
    CHECK(s.take_ticks() == Ticks{20 * 60, 40 * 60, 60 * 60, 60 * 60});
    CHECK(s.job("skip").runs == 0);
    CHECK(s.job("once").runs == 1);
    CHECK(s.job("all").runs == 3);
    s.run_for(17min);
    CHECK(s.job("skip").runs == 4);
    CHECK(s.job("once").runs == 3);
    CHECK(s.job("all").runs == 4);
}

TEST_CASE("a tick less than a minute late is not skipped") {
    RecurringScene s;
    s.put("skip", "@every 1h", CatchUp::skip);
    s.run();
    s.clock.advance(1h + 1min - 1ms);
    s.run();
    CHECK(s.take_ticks() == Ticks{3'600});
    s.clock.advance(1h + 1ms);
    s.run();
    CHECK(s.take_ticks().empty());
    s.run_for(1h);
    CHECK(s.take_ticks() == Ticks{3 * 3'600});
}

TEST_CASE("the job of a late tick expires after its push, not after its tick") {
    RecurringScene s;
    const RecurringOptions options{.catch_up = CatchUp::all, .overlap = true, .expires = 15min};
    s.recurring.every("ping", 10min, "work", Job{"ping", {}}, options).value();
    s.run();
    s.clock.advance(34min);
    s.run();
    const auto waiting = s.work.list(JobStatus::State::ready, 0, 10).value().jobs;
    CHECK(waiting.size() == 3);
    for (const auto& job : waiting) CHECK(job.options.expires_at == s.begin + 49min);
    s.clock.advance(15min - 1ms);
    CHECK(s.take_ticks() == Ticks{10 * 60, 20 * 60, 30 * 60});
}

TEST_CASE("only the last 1,000 of very many missed ticks run") {
    RecurringScene s;
    s.put("all", "@every 1s", CatchUp::all);
    s.run();
    s.clock.advance(5'000s);
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
    s.run_for(65s);
    CHECK(s.take_ticks().size() == 18);
    s.clock.advance(-60s);
    s.run_for(60s);
    CHECK(s.take_ticks().empty());
    // The same is true if the schedule changes meanwhile, and changes back.
    s.clock.advance(-60s);
    s.put("ping1", "@every 5s");
    s.run_for(1s);
    s.put("ping1", "@every 10s");
    s.run_for(59s);
    CHECK(s.take_ticks().empty());
    s.run_for(10s);
    CHECK(s.take_ticks() == Ticks{70, 70, 70});
}

TEST_CASE("after a clock that ran ahead is corrected, every recurring job runs again") {
    RecurringScene s;
    s.put("skip", "@every 10s", CatchUp::skip);
    s.put("once", "@every 10s", CatchUp::once);
    s.put("all", "@every 10s", CatchUp::all);
    s.put("daily", "0 23 * * *");
    s.put("paused", "@every 10s");
    s.run_for(5s);
    s.clock.advance(10 * 365 * 24h);
    s.run_for(3s);
    s.recurring.pause("paused").value();
    CHECK(s.job("once").next_at > s.begin + 9 * 365 * 24h);
    while (!s.take_ticks().empty()) {
    }
    s.set_back(10 * 365 * 24h);
    s.run_for(1s);
    s.recurring.resume("paused").value();
    s.run_for(13s);
    CHECK(s.take_ticks() == Ticks{10, 10, 10, 10, 20, 20, 20, 20});
    CHECK(s.job("daily").next_at < s.begin + 24h);
    CHECK(s.job("once").settled_until == s.begin + 20s);
    CHECK(s.first.status().rescheduled + s.second_one.status().rescheduled == 5);
    CHECK(s.log.count(LogLevel::warning,
                      "the clock was ahead: the due time of recurring job daily was "
                      "2033-11-11T23:00:00Z, and is now 2023-11-14T23:00:00Z") == 1);
    const auto counters = perform(s.store, ListCounters{}, s.clock.now()).value();
    const Counter rescheduled{{"recurring.rescheduled", {}}, 5};
    CHECK(std::find(counters.begin(), counters.end(), rescheduled) != counters.end());
}

TEST_CASE("a tick that ran two hours early is not run again at its time") {
    RecurringScene s;
    // The scene begins at 22:00.
    s.put("daily", "30 23 * * *", CatchUp::all);
    s.put("ping", "@every 10s");
    s.run_for(1s);
    s.clock.advance(2h);
    s.run_for(3s);
    CHECK(s.job("daily").runs == 1);
    s.set_back(2h);
    s.run_for(1s);
    s.take_ticks();
    CHECK(s.job("daily").next_at == s.begin + 25h + 30min);
    s.run_for(2h);
    CHECK(s.job("daily").runs == 1);
    CHECK(s.take_ticks().size() == 720);
    s.run_for(24h);
    CHECK(s.job("daily").runs == 2);
}

TEST_CASE("setting the clock back ten minutes repeats no tick, and setting it back further does") {
    for (const auto& [back, ticks] : {std::pair{600s, 0U}, std::pair{601s, 60U}}) {
        RecurringScene s;
        s.put("ping", "@every 10s");
        s.run_for(1h);
        s.take_ticks();
        s.set_back(back);
        s.run_for(600s);
        CHECK(s.take_ticks().size() == ticks);
    }
}

TEST_CASE("a clock corrected while no scheduler ran is noticed at the next start of a scheduler") {
    RecurringScene s;
    for (int n = 0; n < 250; ++n) s.put("ping" + std::to_string(n), "@every 10s");
    s.clock.advance(2h);
    s.run();
    s.set_back(2h);
    s.take_ticks();
    RecurringScheduler restarted{s.disturbed, {.poll_interval = 1h, .log = s.log.sink()}};
    HandRunner runner{restarted};
    s.disturbed.refuse<ListRecurringJobs>(2);
    s.disturbed.lose_replies<RunRecurringJob>(10);
    const auto end = s.clock.now() + 15s;
    for (runner.run(s.clock.now()); runner.next() <= end; runner.run(s.clock.now())) {
        s.clock.set(std::max(s.clock.now(), runner.next()));
    }
    CHECK(s.job("ping0").last_at == s.begin + 10s);
    CHECK(s.job("ping249").last_at == s.begin + 10s);
    CHECK(restarted.status().pushed >= 240);
}

TEST_CASE("a changed schedule that is put after the clock ran ahead begins at the present time") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.clock.advance(2h);
    s.run_for(3s);
    s.take_ticks();
    s.set_back(2h);
    s.put("ping", "@every 5s");
    s.run_for(7s);
    CHECK(s.take_ticks() == Ticks{5, 10});
}

TEST_CASE("ticks skipped by setting the clock forward count as missed ticks") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.run_for(1s);
    s.clock.advance(1h);
    s.run();
    CHECK(s.take_ticks() == Ticks{3'600});
}

TEST_CASE("a changed schedule begins anew, and runs no past tick") {
    RecurringScene s;
    s.put("ping", "@every 10s", CatchUp::all);
    s.run_for(25s);
    CHECK(s.take_ticks() == Ticks{10, 20});
    s.put("ping", "@every 5s", CatchUp::all);
    s.run_for(10s);
    CHECK(s.take_ticks() == Ticks{30, 35});
    // Putting the same schedule again, as at the next start, does not lose missed ticks.
    s.clock.advance(15s);
    s.put("ping", "@every 5s", CatchUp::all);
    s.run();
    CHECK(s.take_ticks() == Ticks{40, 45, 50});
}

TEST_CASE("ticks during the pause of a recurring job are skipped") {
    RecurringScene s;
    s.put("ping", "@every 10s", CatchUp::all);
    s.run_for(15s);
    CHECK(s.take_ticks() == Ticks{10});
    CHECK(s.recurring.pause("ping").value());
    s.run_for(30s);
    CHECK(s.take_ticks().empty());
    CHECK(s.recurring.resume("ping").value());
    CHECK(s.job("ping").next_at == s.begin + 50s);
    s.run_for(10s);
    CHECK(s.take_ticks() == Ticks{50});
    CHECK_FALSE(s.recurring.pause("nothing").value());
}

TEST_CASE("a lost reply neither repeats a tick nor drops a tick") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.run();
    s.disturbed.lose_replies<RunRecurringJob>(2);
    s.run_for(15s);
    CHECK(s.take_ticks() == Ticks{10});
    s.disturbed.lose_replies<DueRecurringJobs>(10);
    s.run_for(10s);
    CHECK(s.take_ticks() == Ticks{20});
}

TEST_CASE("a tick refused by the store runs when the store accepts steps again") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.run();
    s.disturbed.refuse<RunRecurringJob>(4);
    s.disturbed.refuse<DueRecurringJobs>(4);
    s.run_for(19s);
    CHECK(s.take_ticks() == Ticks{10});
    CHECK(s.disturbed.times_of<RunRecurringJob>().size() < 10);
}

TEST_CASE(
    "a tick keeps the job of an earlier tick, and kicks the job (starts it again) if BURIED") {
    RecurringScene s;
    s.recurring.every("ping", 10s, "work", Job{"ping", {}}).value();
    s.run_for(35s);
    CHECK(s.work.status().value().ready == 1);
    CHECK(s.job("ping").runs == 1);
    CHECK(s.job("ping").kept == 2);
    const AcquireJobs acquire{.queue = "work", .worker = Uid{1, 1}};
    const auto lease = perform(s.store, acquire, s.clock.now()).value().leases.at(0);
    const FailJob fail{.lease = lease, .error = "broken", .run_at = s.clock.now(), .bury = true};
    CHECK(perform(s.store, fail, s.clock.now()).value() == Settlement::buried);
    s.run_for(10s);
    CHECK(s.work.status().value() == QueueStatus{.ready = 1});
    CHECK(s.work.find(lease.id).value()->errors.size() == 1);
}

TEST_CASE("a paused recurring job can be triggered, and keeps its due time") {
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
    // Without overlap an equal job excludes the next one.
    s.recurring.cron("once", "@daily", "work", Job{"once", {}}).value();
    CHECK(s.recurring.trigger("once").value().value() == PushOutcome::pushed);
    CHECK(s.recurring.trigger("once").value().value() == PushOutcome::duplicate);
}

TEST_CASE("a job triggered at the instant of a tick differs from the job of the tick") {
    RecurringScene s;
    s.put("report", "@every 10s");
    s.run_for(10s);
    REQUIRE(to_milliseconds(s.clock.now()) % 10'000 == 0);
    s.recurring.trigger("report").value();
    s.run();
    std::set<std::string> ticks;
    for (const auto& one : s.work.list(JobStatus::State::ready, 0, 10).value().jobs) {
        ticks.insert(one.options.metadata.at("tick"));
    }
    const auto tick = to_milliseconds(s.clock.now());
    CHECK(ticks == std::set<std::string>{std::to_string(tick), std::to_string(tick + 1)});
    // Between ticks, the tick of a trigger is its own instant.
    s.clock.advance(7ms);
    s.recurring.trigger("report").value();
    CHECK(s.work.list(JobStatus::State::ready, 0, 10)
              .value()
              .jobs.back()
              .options.metadata.at("tick") == std::to_string(tick + 7));
}

TEST_CASE(
    "putting a recurring job while a tick is due runs the tick, unless the schedule changes") {
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
    s.clock.advance(10s);
    put("@every 10s", "new");
    s.run();
    CHECK(pushed() == std::vector<std::string>{"new"});
    s.clock.advance(10s);
    // The new schedule begins with its first tick after now, although now is a tick of both
    // schedules.
    put("@every 5s", "another");
    s.run();
    CHECK(pushed().size() == 1);
    s.run_for(5s);
    CHECK(pushed() == std::vector<std::string>{"new", "another"});
}

TEST_CASE("a recurring job that cannot run in this process does not block other recurring jobs") {
    RecurringScene s;
    for (int n = 0; n < 150; ++n) s.put("foreign" + std::to_string(n), "@every 10s");
    s.put("known", "@every 10s");
    ForeignZones foreign{s.store};
    RecurringScheduler scheduler{foreign, {.poll_interval = 1s, .log = s.log.sink()}};
    HandRunner runner{scheduler};
    const auto end = s.begin + 15s;
    runner.run(s.clock.now());
    while (runner.next() <= end) {
        s.clock.set(std::max(s.clock.now(), runner.next()));
        runner.run(s.clock.now());
    }
    CHECK(s.job("known").runs == 1);
    CHECK(s.job("foreign0").runs == 0);
}

TEST_CASE("a closed scheduler runs no further tick") {
    RecurringScene s;
    s.put("ping", "@every 10s");
    s.run();
    for (auto* one : {&s.first, &s.second_one}) {
        CHECK_FALSE(one->closed());
        one->close(s.clock.now());
        CHECK(one->poll(s.clock.now()) == never);
        CHECK(one->closed());
    }
    s.clock.advance(20s);
    for (auto* one : {&s.first, &s.second_one}) one->poll(s.clock.now());
    CHECK(s.take_ticks().empty());
}
