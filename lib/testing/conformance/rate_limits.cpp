#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"
#include "limit_steps.hpp"
#include "routemaster/job_explanation.hpp"
#include "threads.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

void add_queue_limit_cases(StoreCases& add) {
    add("no more jobs begin than the rate limit of the queue has tokens", [](Scenario& s) {
        push_all(s, "abcdefgh");
        limit_queue(s, {.jobs = 2, .per = one_second, .burst = 3});
        expect_equal(take_all(s, 2), std::string{"ab"}, "jobs acquired by the first worker");
        const auto more = s.acquire({.worker = 2, .limit = 1, .queue = work_queue});
        expect_equal(more.leases.size(), 1U, "jobs acquired by another worker");
        expect_equal(more.next_due, s.now() + one_second / 2, "time of the next token");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 5, .pending = 3}, "jobs");
        expect_wait(s, one_second / 2);
        s.advance(one_second / 2 - Duration{1});
        expect_wait(s, Duration{1});
        s.advance(Duration{1});
        expect_equal(take_all(s), std::string{"d"}, "jobs acquired with one token");
        expect_wait(s, one_second / 2);
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"ef"}, "jobs acquired with two tokens");
        s.advance(Duration{3'600'000});
        expect_equal(take_all(s), std::string{"gh"}, "jobs acquired an hour later");
        s.expect_idle_until(never, work_queue);
    });

    add("the tokens of a rate limit never exceed its burst", [](Scenario& s) {
        limit_queue(s, {.jobs = 4, .per = one_second});
        push_all(s, "abcdefghijkl");
        expect_equal(take_all(s), std::string{"abcd"}, "jobs acquired with the default burst");
        // A clock that was set forward by a year has the same effect as a year.
        s.advance(Duration{std::int64_t{365} * 86'400'000});
        expect_equal(take_all(s), std::string{"efgh"}, "jobs acquired a year later");
        expect_wait(s, one_second / 4);
    });

    add("tokens arrive at equal intervals, and no token is lost over a long time", [](Scenario& s) {
        limit_queue(s, {.jobs = 7, .per = one_second, .burst = 1});
        const auto begin = s.now();
        for (int n = 0; n < 70; ++n) {
            s.push("job " + std::to_string(n));
            const auto acquired = s.acquire({.queue = work_queue});
            expect_equal(acquired.leases.size(), 1U, "jobs acquired with one token");
            s.push("next");
            const auto next = s.acquire({.queue = work_queue});
            expect_equal(next.leases.size(), 0U, "jobs acquired without a token");
            const Duration passed{((n + 1) * 1'000 + 6) / 7};
            expect_equal(next.next_due, begin + passed, "time of the next token");
            s.perform(DeleteJob{work_queue, s.jobs(State::ready).front().id});
            s.advance(next.next_due - s.now());
        }
        expect_equal(s.now(), begin + 10 * one_second, "time after 70 tokens");
    });

    add("setting the clock back does not lengthen the wait of queues for their tokens",
        [](Scenario& s) {
            limit(s, {.queue = RateLimit{.jobs = 1, .per = one_second, .burst = 2},
                      .each_group = RateLimit{.jobs = 1, .per = 2 * one_second, .burst = 1}});
            push_all(s, "abc");
            push_limited(s, "g", "g");
            expect_equal(take_all(s), std::string{"ab"}, "jobs acquired first");
            s.advance(Duration{-3'600'000});
            expect_wait(s, one_second);
            s.advance(one_second);
            expect_equal(take_all(s), std::string{"c"}, "jobs acquired a second later");
            s.advance(one_second);
            expect_equal(take_all(s), std::string{"g"}, "jobs acquired from a group with a token");
            push_limited(s, "h", "g");
            s.advance(Duration{-3'600'000});
            expect_wait(s, one_second);
            s.advance(one_second);
            expect_wait(s, 2 * one_second);
            s.advance(2 * one_second);
            expect_equal(take_all(s), std::string{"h"},
                         "jobs acquired from a group that had no token");
        });

    add("a step with a late timestamp does not refill tokens twice", [](Scenario& s) {
        limit(s, {.queue = RateLimit{.jobs = 4, .per = one_second, .burst = 1},
                  .each_group = RateLimit{.jobs = 4, .per = one_second, .burst = 1}});
        push_limited(s, "a", "g");
        for (const char* job : {"b", "c", "d", "e", "f"}) push_limited(s, job, "g");
        expect_equal(take_all(s), std::string{"a"}, "jobs acquired first");
        // The steps of another process arrive a little later than they were sent.
        std::string taken;
        for (int i = 0; i < 50; ++i) {
            s.advance(Duration{-90});
            taken += take_all(s);
            s.advance(Duration{100});
            taken += take_all(s);
        }
        expect_equal(taken, std::string{"bc"}, "jobs acquired in half a second");
    });

    add("a rate limit with all its tokens keeps them when the clock is set back", [](Scenario& s) {
        const RateLimit slow{.jobs = 1, .per = 60 * one_second, .burst = 1};
        limit(s, {.queue = slow, .each_group = slow});
        expect_equal(take_all(s), std::string{}, "jobs acquired from an empty queue");
        s.advance(Duration{-3'600'000});
        push_limited(s, "a", "g");
        expect_equal(take_all(s), std::string{"a"}, "jobs acquired after the clock was set back");
        push_limited(s, "b", "h");
        expect_wait(s, 60 * one_second);
    });

    add("each attempt takes a token, which is never returned", [](Scenario& s) {
        limit_queue(s, {.jobs = 1, .per = one_second});
        s.push("a");
        const auto at_once = [&](auto end, Where at = Where::here()) {
            const auto leases = lease_what_may(s);
            expect_equal(leases.size(), 1U, "jobs acquired with one token", at);
            end(leases.front());
            expect_wait(s, one_second, at);
            s.advance(one_second);
        };
        at_once([&](const Lease& lease) { s.perform(NackJob{lease, s.now()}); });
        at_once([&](const Lease& lease) { s.perform(ReleaseJob{lease, s.now()}); });
        at_once([&](const Lease& lease) { s.perform(FailJob{lease, "broken", s.now()}); });
        at_once([&](const Lease& lease) { s.perform(RetireWorker{lease.worker}); });
        at_once([&](const Lease& lease) {
            s.push("b");
            s.perform(AckJob{lease});
        });
        // Reporting a lease again, after a lost reply, consumes no further token.
        const auto leases = lease_what_may(s);
        const AcquireJobs again{work_queue, Scenario::worker(1), 1, 0};
        expect_equal(s.perform(again).leases, leases,
                     "leases returned by the repeated acquisition");
        s.advance(one_second);
        s.push("c");
        expect_equal(take_all(s), std::string{"c"}, "jobs acquired with the next token");
    });

    add("a job that is deleted or expires before an attempt takes no token", [](Scenario& s) {
        limit(s, {.queue = RateLimit{.jobs = 1, .per = one_second},
                  .each_group = RateLimit{.jobs = 1, .per = one_second}});
        s.push_with("a", {.expires_at = s.now() + Duration{5}});
        auto options = options_in("g", 10, 0);
        options.expires_at = s.now() + Duration{5};
        s.push_with("b", options);
        push_limited(s, "c", "g");
        s.advance(Duration{5});
        expect_equal(take_all(s), std::string{"c"}, "jobs acquired that have not expired");
    });

    add("a job that becomes due in a queue without tokens waits for a token", [](Scenario& s) {
        limit_queue(s, {.jobs = 1, .per = one_second});
        push_all(s, "a");
        s.push("d", one_second / 2);
        s.push("e", 3 * one_second);
        expect_equal(take_all(s), std::string{"a"}, "jobs acquired first");
        expect_wait(s, one_second);
        s.advance(one_second / 2);
        expect_wait(s, one_second / 2);
        s.advance(one_second / 2);
        expect_equal(take_all(s), std::string{"d"}, "jobs acquired with the next token");
        expect_wait(s, 2 * one_second);
    });

    add("a paused queue gives out no jobs, and its tokens are still refilled", [](Scenario& s) {
        limit_queue(s, {.jobs = 2, .per = one_second});
        push_all(s, "abcd");
        expect_equal(take_all(s), std::string{"ab"}, "jobs acquired first");
        s.perform(PauseQueue{work_queue, true});
        s.advance(one_second);
        s.expect_idle_until(never, work_queue);
        s.perform(PauseQueue{work_queue, false});
        expect_equal(take_all(s), std::string{"cd"}, "jobs acquired after the pause");
    });
}

void add_change_cases(StoreCases& add) {
    add("rate limits are listed, and stay set before the first job and after the last", [](Scenario&
                                                                                               s) {
        const RateLimits both{.queue = RateLimit{.jobs = 5, .per = one_second, .burst = 7},
                              .each_group = RateLimit{.jobs = 1, .per = Duration{60'000}}};
        limit(s, both);
        limit(s, both);
        expect_equal(limits_of(s), both, "limits of a queue without jobs");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs in the queue");
        push_limited(s, "a", "g");
        s.perform(AckJob{s.take_work()});
        s.perform(PushJob{"other", "o", s.now()});
        s.perform(AckJob{s.take({.queue = "other"})});
        expect_equal(limits_of(s), both, "limits after the last job");
        push_limited(s, "b", "g");
        expect_wait(s, Duration{60'000});
        const RateLimits one{.queue = both.queue};
        limit(s, one);
        expect_equal(limits_of(s), one, "limits after a change");
        limit(s, {});
        expect_equal(take_all(s), std::string{"b"}, "jobs acquired without limits");
        expect_equal(limits_of(s), RateLimits{}, "limits after their removal");
        s.perform(AckJob{s.perform(AcquireJobs{work_queue, Scenario::worker(1), 1, 0}).leases[0]});
        expect_equal(s.perform(ListQueues{}), ListQueues::Reply{}, "queues");
    });

    add("a changed rate limit begins with all tokens, and a repeated equal limit keeps the tokens",
        [](Scenario& s) {
            limit_queue(s, {.jobs = 2, .per = one_second});
            push_all(s, "abcdefghij");
            expect_equal(take_all(s), std::string{"ab"}, "jobs");
            limit_queue(s, {.jobs = 2, .per = one_second});
            expect_wait(s, one_second / 2);
            limit_queue(s, {.jobs = 3, .per = one_second});
            expect_equal(take_all(s), std::string{"cde"}, "jobs acquired with other limits");
            limit_queue(s, {.jobs = 2, .per = one_second});
            expect_equal(take_all(s), std::string{"fg"}, "jobs acquired with the first limits");
            expect_wait(s, one_second / 2);
        });

    add("removing or raising limits releases all jobs that waited for tokens", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = Duration{86'400'000}});
        std::string expected;
        for (const char* group : {"g", "h"}) {
            for (const char* job : {"1", "2", "3", "4"}) {
                push_limited(s, std::string{group} + job, group);
            }
        }
        expect_equal(take_all(s), std::string{"g1h1"}, "jobs acquired first");
        expect_wait(s, Duration{86'400'000});
        limit_groups(s, {.jobs = 2, .per = Duration{86'400'000}});
        expect_equal(take_all(s), std::string{"g2g3h2h3"}, "jobs acquired with higher limits");
        expect_wait(s, Duration{43'200'000});
        limit(s, {});
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .pending = 6}, "jobs");
        expect_equal(take_all(s), std::string{"g4h4"}, "jobs acquired without limits");
        s.expect_idle_until(never, work_queue);
    });

    add("removing rate limits releases thousands of waiting jobs, a thousand in each step",
        [](Scenario& s) {
            limit_groups(s, {.jobs = 1, .per = Duration{86'400'000}});
            std::vector<Step> pushes;
            constexpr std::size_t jobs = 2'500;
            for (std::size_t n = 0; n < jobs; ++n) {
                const auto group = n % 2 == 0 ? "large" : "small " + std::to_string(n % 100);
                pushes.emplace_back(PushJob{work_queue, "job " + std::to_string(n), s.now(),
                                            options_in(group, 1'000, 0)});
            }
            static_cast<void>(perform_all(s.store(), pushes, s.now()));
            std::size_t began = 0;
            const auto take = [&] {
                for (int n = 0; n < 20; ++n) {
                    const auto acquired = s.acquire({.limit = 5'000, .queue = work_queue});
                    began += acquired.leases.size();
                    if (acquired.next_due > s.now()) return;
                }
                fail("the acquisitions must reach an end", Where::here());
            };
            take();
            expect_equal(began, std::size_t{51}, "jobs acquired, one from each group");
            limit(s, {});
            take();
            expect_equal(began, std::size_t{1'000 + 1'250}, "jobs acquired without limits");
        });

    add("changing the rate limits of a queue wakes its workers", [](Scenario& s) {
        limit_queue(s, {.jobs = 1, .per = Duration{86'400'000}});
        Signal signal;
        const auto watch = s.store().watch(work_queue, [&] { signal.raise(); });
        push_all(s, "ab");
        expect_equal(take_all(s), std::string{"a"}, "jobs");
        expect_wait(s, Duration{86'400'000});
        const auto seen = signal.count();
        limit(s, {});
        expect(signal.wait_beyond(seen, s.traits().timeout),
               "a change of limits must wake a worker");
    });

    add("a push into a queue with rate limits wakes an idle worker", [](Scenario& s) {
        limit(s, {.queue = RateLimit{.jobs = 2, .per = one_second},
                  .each_group = RateLimit{.jobs = 1, .per = one_second}});
        Signal signal;
        const auto watch = s.store().watch(work_queue, [&] { signal.raise(); });
        push_limited(s, "a", "g");
        push_limited(s, "b", "g");
        expect_equal(take_all(s), std::string{"a"}, "jobs");
        const auto seen = signal.count();
        s.push("x");
        expect(signal.wait_beyond(seen, s.traits().timeout), "a push must wake a worker");
    });

    add("bad rate limits, and limits for Ruby's queues, are refused", [](Scenario& s) {
        const auto refused = [&](const RateLimit& one, const std::string& part) {
            s.expect_refused(LimitQueue{work_queue, {.queue = one}}, "queue." + part);
            s.expect_refused(LimitQueue{work_queue, {.each_group = one}}, "each_group." + part);
        };
        refused({.jobs = 0}, "jobs");
        refused({.jobs = rate_limit_jobs_max + 1}, "jobs");
        refused({.per = Duration{0}}, "per");
        refused({.per = rate_limit_per_max + Duration{1}}, "per");
        refused({.burst = rate_limit_jobs_max + 1}, "burst");
        for (const char* name : {delivery_queue, "aux", "", "a queue"}) {
            s.expect_refused(LimitQueue{name, {.queue = RateLimit{}}}, "queue");
        }
        const RateLimit largest{
            .jobs = rate_limit_jobs_max, .per = rate_limit_per_max, .burst = rate_limit_jobs_max};
        limit(s, {.queue = largest, .each_group = largest});
        push_limited(s, "a", "g");
        s.push("b");
        expect_equal(take_all(s), std::string{"ab"}, "jobs acquired with the largest limits");
    });
}

void add_explanation_cases_of_limits(StoreCases& add) {
    using Reason = JobExplanation::Reason;

    add("a job that waits for a token shows when the token will be available", [](Scenario& s) {
        limit(s, {.queue = RateLimit{.jobs = 2, .per = one_second},
                  .each_group = RateLimit{.jobs = 1, .per = 4 * one_second}});
        push_limited(s, "a", "g");
        const auto b = push_limited(s, "b", "g");
        const auto x = s.push_with("x", {});
        const auto y = s.push_with("y", {});
        const auto later = s.perform(PushJob{work_queue, "l", s.now() + one_second}).id;
        s.perform(Heartbeat{Scenario::worker(9)});
        const auto explain = [&](JobId id) { return *s.perform(ExplainJob{work_queue, id}); };
        expect_equal(to_string(explain(b).reason()), to_string(Reason::awaits_worker),
                     "reason before the limit is reached");
        expect_equal(take_all(s), std::string{"ax"}, "jobs");
        auto found = explain(y);
        expect_equal(to_string(found.reason()), to_string(Reason::rate_limited),
                     "reason for a job without a group");
        expect_equal(to_text(found), "the rate limit of its queue is used up",
                     "text for a job without a group");
        expect(found.queue_limited_until == s.now() + one_second / 2,
               "the explanation must name the time of the next token of the queue");
        expect(!found.group_limited_until,
               "a job without a group must not wait for a token of a group");
        found = explain(b);
        expect_equal(to_text(found), "the rate limits of its queue and its group 'g' are used up",
                     "text for a job that waits for two tokens");
        expect(found.group_limited_until == s.now() + 4 * one_second,
               "the explanation must name the time of the next token of the group");
        expect_equal(to_string(explain(x).reason()), to_string(Reason::leased),
                     "reason for a leased job");
        expect_equal(to_string(explain(later).reason()), to_string(Reason::not_due),
                     "reason for a job that is not due");
        s.advance(one_second);
        expect_equal(to_string(explain(later).reason()), to_string(Reason::awaits_worker),
                     "reason for a job that is due");
        found = explain(b);
        expect_equal(to_text(found), "the rate limit of its group 'g' is used up",
                     "text for a job that waits for a token of its group");
        expect(!found.queue_limited_until, "the job must not wait for a token of the queue");
        expect(found.group_limited_until == s.now() + 3 * one_second,
               "the explanation must name the time of the next token of the group");
        expect_equal(take_all(s), std::string{"yl"}, "jobs");
        s.advance(3 * one_second);
        expect_equal(to_string(explain(b).reason()), to_string(Reason::awaits_worker),
                     "reason for the job when its group has a token");
        expect_equal(take_all(s), std::string{"b"}, "jobs");
    });
}

}  // namespace

void add_rate_limit_cases(StoreCases& add) {
    add_queue_limit_cases(add);
    add_change_cases(add);
    add_explanation_cases_of_limits(add);
}

}  // namespace routemaster::testing
