#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "limit_steps.hpp"
#include "routemaster/job_status.hpp"
#include "timer_steps.hpp"

namespace routemaster::testing {
namespace {

constexpr Duration second{1'000};
constexpr Duration minute{60'000};
constexpr Duration ahead{7'200'000};

/// Calls `act` while the clock is two hours ahead, and corrects the clock three seconds later.
template <class Act>
void while_ahead(Scenario& s, Act act) {
    s.advance(ahead);
    act();
    s.advance(3 * second);
    s.advance(-ahead);
}

void add_delivery_ahead_cases(StoreCases& add) {
    add("a batch that began while the clock was ahead is delivered when the clock is right",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"}, {.timeout = Duration{500}, .max_in_flight = 10});
            s.subscribe("slow", {"slow"}, {.timeout = subscription_timeout_max});
            s.publish("slow");
            while_ahead(s, [&] {
                s.drain();
                static_cast<void>(s.take_delivered("slow"));
                s.publish("orders", 2);
            });
            s.publish("slow");
            s.expect_delivered("billing", {{"orders 1", "orders 2"}});
            s.publish("orders");
            s.advance(Duration{500});
            s.expect_delivered("billing", {{"orders 3"}});
            // The longest timeout of a subscriber must not be taken for the due time of a clock
            // that was ahead.
            s.advance(subscription_timeout_max - Duration{501});
            s.expect_delivered("slow", {});
            s.advance(Duration{1});
            s.expect_delivered("slow", {{"slow 2"}});
        });

    add("a delivery that failed while the clock was ahead is retried when the clock is right",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
            while_ahead(s, [&] {
                s.publish("orders");
                const auto [lease, start] = s.begin_next();
                s.settle(lease, {.delivered = false, .health_change = -50});
            });
            const auto [lease, start] = s.begin_next();
            expect_equal(start.attempt, 2U, "attempt");
            expect_equal(start.health_points, 50, "health");
            expect_equal(s.settle(lease, {}), Settlement::settled,
                         "settlement of the second attempt");
            expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
        });

    add("a subscriber throttled while the clock was ahead is tried when the clock is right",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
            s.publish("orders");
            while_ahead(s, [&] {
                s.fail_next(-99);
                expect_equal(s.begin(s.take()).verdict, Verdict::throttled,
                             "verdict before the backoff is over");
            });
            s.begin_next();
        });
}

void add_job_ahead_cases(StoreCases& add) {
    add("a job delayed while the clock was ahead waits for its due time, or until kicked (started "
        "now)",
        [](Scenario& s) {
            JobId retried = 0;
            while_ahead(s, [&] {
                s.push("later", second);
                retried = s.push_with("retried", {});
                const auto lease = s.take_work();
                expect_equal(lease.id, retried, "id of the due job");
                s.perform(
                    FailJob{.lease = lease, .error = "broken", .run_at = s.now() + 2 * second});
            });
            s.expect_idle_until(s.now() + ahead - 2 * second, work_queue);
            const auto later = s.jobs(JobStatus::State::scheduled).front().id;
            for (const auto id : {later, retried}) {
                const KickJobs kick{.queue = work_queue, .id = id};
                expect_equal(s.perform(kick), Count{1}, "SCHEDULED jobs kicked by an id");
                expect_equal(s.perform(kick), Count{0}, "jobs kicked by the same id again");
            }
            expect_equal(s.job(retried).attempts, 1U, "attempts of the failed job");
            expect_equal(take_all(s), std::string{"laterretried"}, "jobs acquired after the kicks");
        });

    add("kicking a debounced job that was delayed while the clock was ahead runs its last push",
        [](Scenario& s) {
            const auto push = [&](const std::string& job) {
                PushJob step{work_queue, job, s.now() + second};
                step.options.key = {.text = "k", .scope = KeyScope::until_started};
                step.on_duplicate = OnDuplicate::debounce;
                return s.perform(std::move(step));
            };
            JobId id = 0;
            while_ahead(s, [&] { id = push("first").id; });
            expect_equal(push("last"), Pushed{PushOutcome::replaced, id},
                         "reply to the second push");
            s.advance(minute);
            expect_equal(take_all(s), std::string{}, "jobs acquired a minute later");
            expect_equal(s.perform(KickJobs{.queue = work_queue, .id = id}), Count{1},
                         "jobs kicked");
            expect_equal(take_all(s), std::string{"last"}, "jobs acquired after the kick");
        });

    add("a kick runs a SCHEDULED job of a group or with a priority in its order", [](Scenario& s) {
        JobOptions grouped = options_in("g", 1, 0);
        JobOptions urgent{.priority = 5};
        s.push_with("a", grouped);
        s.push("b");
        std::vector<JobId> ids;
        for (const auto& [name, options] : {std::pair{"c", grouped}, std::pair{"d", urgent}}) {
            ids.push_back(s.perform(PushJob{work_queue, name, s.now() + ahead, options}).id);
        }
        PushJob waiting{work_queue, "e", s.now() + ahead};
        waiting.after = {ids[0]};
        const auto waits = s.perform(waiting).id;
        expect_equal(s.perform(KickJobs{.queue = work_queue, .id = waits}), Count{0},
                     "kicked jobs that wait for a dependency");
        for (const auto id : ids) {
            expect_equal(s.perform(KickJobs{.queue = work_queue, .id = id}), Count{1},
                         "jobs kicked");
        }
        expect_equal(s.queue(work_queue).scheduled, 1U, "SCHEDULED jobs");
        expect_equal(take_all(s), std::string{"dab"}, "jobs acquired after the kicks");
    });

    add("a key with a time set while the clock was ahead ends by that clock", [](Scenario& s) {
        const auto push = [&] {
            PushJob step{work_queue, "a", s.now()};
            step.options.key = {
                .text = "k", .scope = KeyScope::for_time, .until = s.now() + minute};
            return s.perform(std::move(step)).outcome;
        };
        while_ahead(s, [&] {
            push();
            s.perform(AckJob{s.take_work()});
        });
        s.advance(minute);
        expect_equal(push(), PushOutcome::duplicate, "outcome of a push a minute later");
        s.advance(ahead);
        expect_equal(push(), PushOutcome::pushed, "outcome of a push after the key has expired");
    });

    add("after the clock was ahead, jobs wait for tokens no longer than after an empty rate limit",
        [](Scenario& s) {
            limit(s, {.queue = RateLimit{.jobs = 1, .per = second, .burst = 1},
                      .each_group = RateLimit{.jobs = 1, .per = 2 * second, .burst = 1}});
            while_ahead(s, [&] {
                push_limited(s, "a", "g");
                push_limited(s, "b", "g");
                s.push("c");
                expect_equal(take_all(s), std::string{"a"}, "jobs acquired first");
            });
            std::string taken;
            for (int i = 0; i < 4; ++i) {
                taken += take_all(s);
                s.advance(second);
            }
            taken += take_all(s);
            expect_equal(taken.size(), 2U, "number of jobs acquired in four seconds");
        });

    add("after the clock was ahead, leases of a dead worker end, and leases of a live worker stay",
        [](Scenario& s) {
            constexpr Duration worker_silence{30'000};
            const auto scrub = [&] { return s.perform(ScrubWorkers{worker_silence}); };
            s.push("a");
            s.push("b");
            s.take_work(1);
            s.take_work(2);
            scrub();
            while_ahead(s, [&] {
                s.perform(Heartbeat{Scenario::worker(1)});
                s.perform(Heartbeat{Scenario::worker(2)});
                expect_equal(scrub(), ReleasedJobs{0}, "jobs released while the clock is ahead");
            });
            for (int i = 0; i < 3; ++i) {
                s.perform(Heartbeat{Scenario::worker(1)});
                expect_equal(scrub(), ReleasedJobs{0}, "jobs released");
                s.advance(worker_silence / 3);
            }
            s.perform(Heartbeat{Scenario::worker(1)});
            expect_equal(scrub(), ReleasedJobs{1}, "jobs released from the dead worker");
        });

    add("a job that expires while the clock is ahead is deleted", [](Scenario& s) {
        s.push_with("a", {.expires_at = s.now() + minute});
        while_ahead(s, [&] { expect_equal(take_all(s), std::string{}, "jobs"); });
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs in the queue");
        expect_equal(s.counter({"jobs.expired", {{"queue", work_queue}}}),
                     std::optional<std::int64_t>{1}, "jobs.expired");
    });
}

void add_timer_ahead_cases(StoreCases& add) {
    add("timers posted or fired while the clock was ahead wait until their old or new due time",
        [](Scenario& s) {
            post(s, "before", ahead / 2);
            while_ahead(s, [&] {
                expect_equal(take_ids(s), Ids{"before"}, "ids taken while the clock is ahead");
                post(s, "posted", second);
                post(s, "fired", Duration{0}, 1);
                expect_equal(take_ids(s), Ids{"fired"}, "ids taken then");
            });
            s.advance(minute);
            expect_equal(take_ids(s), Ids{}, "ids taken a minute later");
            expect_equal(s.perform(PostponeTimer{timer_space, "posted", s.now()}), Count{1},
                         "number of postponed timers");
            expect_equal(s.perform(post_of(s, "fired", Duration{0}, 1)), TimerPosted::replaced,
                         "outcome of the second post");
            expect_equal(take_ids(s), Ids{"fired", "posted"}, "ids taken");
        });
}

constexpr Duration interval{60'000};

std::shared_ptr<const RecurringSettings> every_minute() {
    return std::make_shared<const RecurringSettings>(
        RecurringSettings{.schedule = "@every 1m", .queue = work_queue, .job = "tick"});
}

RecurringJob report_of(const Scenario& s) {
    const auto found = s.perform(FindRecurringJob{"report"});
    expect(found.has_value(), "the recurring job must exist");
    return *found;
}

RecurringRun run_tick(const Scenario& s) {
    const auto job = report_of(s);
    return s.perform(RunRecurringJob{.name = job.name,
                                     .revision = job.revision,
                                     .at = job.next_at,
                                     .until = s.now(),
                                     .next = s.now() + interval,
                                     .push = std::make_shared<const PushJob>(
                                         push_of(job.name, job.settings, s.now(), s.now()))});
}

void add_recurring_ahead_cases(StoreCases& add) {
    add("ticks that ran while the clock was ahead run again, also for paused recurring jobs",
        [](Scenario& s) {
            using Ran = RecurringRun::Outcome;
            s.perform(PutRecurringJob{"report", every_minute(), s.uid()});
            run_tick(s);
            while_ahead(
                s, [&] { expect_equal(run_tick(s).outcome, Ran::pushed, "outcome of a tick"); });
            s.perform(AckJob{s.take_work()});
            const auto before = report_of(s);
            expect(before.settled_until > s.now() + recurring_step_back_max,
                   "the tick must be settled far ahead of the clock");
            RunRecurringJob anew{.name = before.name,
                                 .revision = before.revision,
                                 .at = before.next_at,
                                 .until = s.now(),
                                 .next = s.now() + interval,
                                 .anew = true};
            auto with_push = anew;
            with_push.push = std::make_shared<const PushJob>(
                push_of(before.name, before.settings, s.now(), s.now()));
            s.expect_refused(with_push, "anew");
            auto other = anew;
            other.at = s.now();
            expect_equal(s.perform(other), RecurringRun{},
                         "reply to a step with an outdated due time");
            s.perform(PauseRecurringJob{"report", true});
            expect_equal(s.perform(anew).outcome, Ran::moved, "outcome of settling the ticks anew");
            expect_equal(s.perform(anew), RecurringRun{}, "reply to the repeated step");
            auto job = report_of(s);
            expect(job.paused, "the recurring job must stay paused");
            expect_equal(job.settled_until, s.now(), "time up to which ticks are settled");
            expect_equal(job.next_at, s.now() + interval, "due time of the next tick");
            expect_equal(job.runs, 1U, "runs");
            expect_equal(job.last_at, before.last_at, "last tick of the recurring job");
            s.perform(PauseRecurringJob{"report", false});
            s.advance(interval);
            expect_equal(run_tick(s).outcome, Ran::pushed, "outcome of the next tick");
            s.perform(AckJob{s.take_work()});
        });

    add("the newest tick that ran while the clock was ahead does not run again", [](Scenario& s) {
        using Ran = RecurringRun::Outcome;
        s.perform(PutRecurringJob{"report", every_minute(), s.uid()});
        run_tick(s);
        while_ahead(s, [&] { run_tick(s); });
        s.perform(AckJob{s.take_work()});
        const auto job = report_of(s);
        s.perform(RunRecurringJob{.name = job.name,
                                  .revision = job.revision,
                                  .at = job.next_at,
                                  .until = s.now(),
                                  .next = *job.last_at,
                                  .anew = true});
        s.advance(*job.last_at - s.now());
        expect_equal(run_tick(s).outcome, Ran::moved, "outcome of the tick that already ran");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs in the queue");
        s.advance(interval);
        expect_equal(run_tick(s).outcome, Ran::pushed, "outcome of the next tick");
    });
}

}  // namespace

void add_wrong_clock_cases(StoreCases& add) {
    add_delivery_ahead_cases(add);
    add_job_ahead_cases(add);
    add_timer_ahead_cases(add);
    add_recurring_ahead_cases(add);
}

}  // namespace routemaster::testing
