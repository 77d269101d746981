#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"
#include "limit_steps.hpp"
#include "threads.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

void add_group_limit_cases(StoreCases& add) {
    add("each group has its own rate limit, and a group without tokens does not delay other groups",
        [](Scenario& s) {
            limit_groups(s, {.jobs = 1, .per = one_second});
            for (const char* job : {"a", "b", "c"}) push_limited(s, job, "noisy");
            push_limited(s, "x", "quiet");
            push_all(s, "yz");
            expect_equal(take_all(s), std::string{"axyz"}, "jobs acquired first");
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .pending = 4}, "jobs");
            expect_wait(s, one_second);
            push_limited(s, "d", "noisy");
            push_limited(s, "e", "late");
            expect_equal(take_all(s), std::string{"e"}, "jobs acquired from another group");
            s.advance(one_second / 2);
            push_limited(s, "w", "late");
            expect_wait(s, one_second / 2);
            s.advance(one_second / 2);
            expect_equal(take_all(s), std::string{"wb"}, "jobs acquired with the next tokens");
            s.advance(one_second);
            expect_equal(take_all(s), std::string{"c"}, "jobs acquired with the next token");
            s.advance(one_second);
            expect_equal(take_all(s), std::string{"d"}, "jobs acquired with the last token");
            s.expect_idle_until(never, work_queue);
            expect_equal(s.queue(work_queue), QueueStatus{.pending = 9}, "jobs");
        });

    add("a group that ran out of jobs gets no new tokens when it has jobs again", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        for (int n = 0; n < 3; ++n) {
            push_limited(s, "a", "g");
            const auto leases = lease_what_may(s);
            expect_equal(leases.size(), 1U, "jobs acquired with one token");
            s.perform(AckJob{leases.front()});
            push_limited(s, "b", "g");
            expect_wait(s, one_second);
            s.perform(DeleteJob{work_queue, s.jobs(State::ready).front().id});
            s.advance(one_second);
        }
    });

    add("jobs that wait for tokens of their group keep the order of the group", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        for (const char* job : {"a", "b", "c", "d"}) push_limited(s, job, "g", 3);
        auto first = lease_what_may(s);
        expect_equal(first.size(), 1U, "jobs acquired with one token");
        // A nacked job retains its position before the waiting jobs of its group.
        s.perform(NackJob{first.front(), s.now()});
        s.advance(one_second);
        first = lease_what_may(s);
        expect_equal(first.at(0).job, std::string{"a"}, "first job of the group");
        s.perform(AckJob{first.front()});
        for (const char* job : {"b", "c", "d"}) {
            expect_wait(s, one_second);
            s.advance(one_second);
            expect_equal(take_all(s), std::string{job}, "next job of the group");
        }
    });

    add("a group with a burst of tokens takes turns with further groups", [](Scenario& s) {
        limit_groups(s, {.jobs = 3, .per = 3 * one_second, .burst = 3});
        for (const char* job : {"a", "b", "c", "d", "e"}) push_limited(s, job, "g", 1);
        push_limited(s, "x", "h", 1);
        push_limited(s, "y", "h", 1);
        std::string all;
        for (auto next = lease_what_may(s, 1); !next.empty(); next = lease_what_may(s, 1)) {
            all += next.front().job;
            s.perform(AckJob{next.front()});
        }
        expect_equal(all, std::string{"axbyc"}, "jobs");
        s.advance(2 * one_second);
        all.clear();
        for (auto next = lease_what_may(s, 1); !next.empty(); next = lease_what_may(s, 1)) {
            all += next.front().job;
            s.perform(AckJob{next.front()});
        }
        expect_equal(all, std::string{"de"}, "jobs acquired after two seconds");
    });

    add("the limits of its queue and of its group both apply to a job", [](Scenario& s) {
        limit(s, {.queue = RateLimit{.jobs = 2, .per = one_second, .burst = 2},
                  .each_group = RateLimit{.jobs = 1, .per = 4 * one_second}});
        for (const char* job : {"a", "b"}) push_limited(s, job, "g");
        push_all(s, "xyz");
        expect_equal(take_all(s), std::string{"ax"}, "jobs acquired first");
        expect_wait(s, one_second / 2);
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"yz"}, "jobs acquired with tokens of the queue");
        expect_wait(s, 3 * one_second);
        s.advance(3 * one_second);
        expect_equal(take_all(s), std::string{"b"}, "jobs acquired with a token of the group");
    });

    add("jobs with a priority wait for tokens of their group, too", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        push_limited(s, "a", "g", 3, 1);
        push_limited(s, "b", "g", 3, 2);
        push_limited(s, "c", "g", 3, 1);
        s.push("x");
        // `c` is behind `a` in its group. Of the jobs that may begin, the highest priority comes
        // first.
        expect_equal(take_all(s), std::string{"bx"}, "jobs acquired first");
        expect_wait(s, one_second);
        s.push("y");
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"ay"}, "jobs acquired a second later");
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"c"}, "jobs acquired two seconds later");
    });

    add("jobs that wait for a token can be deleted, cancelled and replaced", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        push_limited(s, "a", "g");
        const auto b = push_limited(s, "b", "g");
        const auto c = push_limited(s, "c", "g");
        auto keyed = options_in("g", 10, 0);
        keyed.key.text = "k";
        PushJob push{work_queue, "d", s.now(), keyed, OnDuplicate::replace};
        s.perform(push);
        push_limited(s, "e", "g");
        expect_equal(take_all(s), std::string{"a"}, "jobs acquired first");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 4, .pending = 1}, "jobs");
        expect_equal(s.perform(DeleteJob{work_queue, b}), Deletion::deleted,
                     "reply to the deletion");
        expect_equal(s.perform(CancelJob{work_queue, c}), Cancellation::cancelled,
                     "reply to the cancellation");
        push.job = "D";
        expect_equal(s.perform(push), PushOutcome::replaced, "reply to the replacing push");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .pending = 1}, "jobs");
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"D"}, "jobs acquired with the next token");
        expect_wait(s, one_second);
        // The group to which the job moves has a token.
        push_limited(s, "f", "g");
        push.options.key.text = "other";
        push.job = "x";
        s.perform(push);
        expect_wait(s, one_second);
        push.options.group = "h";
        expect_equal(s.perform(push), PushOutcome::replaced, "reply to the replacing push");
        expect_equal(take_all(s), std::string{"x"}, "jobs acquired from the other group");
        s.advance(2 * one_second);
        expect_equal(take_all(s), std::string{"e"}, "jobs acquired after two more seconds");
    });

    add("lowering the rate limit of a group makes its jobs wait for tokens again", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        for (const char* job : {"a", "b", "c", "d"}) push_limited(s, job, "g", 4);
        auto leases = lease_what_may(s);
        push_limited(s, "e", "g", 2);
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 4, .pending = 1}, "jobs");
        s.advance(one_second);
        const auto second_one = lease_what_may(s);
        expect_equal(second_one.at(0).job, std::string{"b"}, "jobs acquired with the next token");
        s.advance(10 * one_second);
        s.expect_idle_until(never, work_queue);
        s.perform(AckJob{leases.front()});
        expect_equal(take_all(s), std::string{"c"}, "jobs acquired after the first job is done");
        s.perform(AckJob{second_one.front()});
        expect_wait(s, one_second);
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"d"}, "jobs acquired with the last token");
    });
}

void add_opening_cases(StoreCases& add) {
    add("a job that waited for a token of its group runs before later jobs", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        push_limited(s, "a", "g");
        push_limited(s, "b", "g");
        expect_equal(take_all(s), std::string{"a"}, "jobs acquired first");
        s.advance(one_second / 2);
        push_limited(s, "c", "g");
        s.push("x");
        s.advance(one_second / 2);
        expect_equal(take_all(s, 1), std::string{"b"},
                     "jobs acquired with the next token of the group");
        expect_equal(take_all(s), std::string{"x"}, "jobs acquired without a group");
        push_limited(s, "d", "g");
        expect_wait(s, one_second);
        s.advance(one_second);
        const auto last = s.acquire({.limit = 1, .queue = work_queue});
        expect_equal(last.leases.at(0).job, std::string{"c"}, "job acquired with a further token");
        expect_equal(last.next_due, s.now() + one_second, "time of the next token");
    });

    add("among groups with a token, the group that has waited longest runs first", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        for (const char* job : {"a", "b", "c"}) push_limited(s, job, "g");
        push_limited(s, "h", "h");
        push_limited(s, "i", "h");
        expect_equal(take_all(s), std::string{"ah"}, "jobs acquired first");
        s.advance(one_second);
        expect_equal(take_all(s, 1), std::string{"b"},
                     "first job acquired when both groups have a token");
        s.advance(one_second);
        push_limited(s, "j", "j");
        expect_equal(take_all(s, 1), std::string{"i"}, "first job acquired a second later");
        expect_equal(take_all(s), std::string{"cj"}, "jobs acquired then");
        s.expect_idle_until(never, work_queue);
    });

    add("waiting for a token counts as age, which raises a job's priority", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        push_limited(s, "a", "g", 10, 1);
        push_limited(s, "b", "g", 10, 1);
        expect_equal(take_all(s), std::string{"a"}, "jobs acquired first");
        s.advance(one_second / 2);
        s.push_with("p", {.priority = 2});
        s.push_with("q", {.priority = 1});
        s.push("x");
        s.advance(one_second / 2);
        for (const char* job : {"p", "b", "q", "x"}) {
            expect_equal(take_all(s, 1), std::string{job}, "next job acquired");
        }
        push_limited(s, "c", "g");
        push_limited(s, "d", "g");
        expect_wait(s, one_second);
        s.advance(one_second / 2);
        s.push_with("r", {.priority = 1});
        s.push("y");
        s.advance(one_second / 2);
        for (const char* job : {"r", "c", "y"}) {
            expect_equal(take_all(s, 1), std::string{job}, "next job acquired");
        }
        // The priority of `e` brings its group forward, but `d` is the first of the group.
        push_limited(s, "e", "g", 10, 9);
        s.advance(one_second);
        expect_equal(take_all(s, 1), std::string{"d"}, "next job acquired of the group");
        s.advance(one_second);
        expect_equal(take_all(s, 1), std::string{"e"}, "last job acquired of the group");
    });

    add("when a job that waits for a token is BURIED or expires, the next job of its group gets "
        "the token",
        [](Scenario& s) {
            limit_groups(s, {.jobs = 1, .per = one_second});
            auto options = options_in("g", 10, 0);
            options.attempts_max = 1;
            s.push_with("a", options);
            options = options_in("g", 10, 0);
            options.expires_at = s.now() + one_second;
            s.push_with("b", options);
            s.push_with("c", options);
            for (const char* job : {"d", "e", "f"}) push_limited(s, job, "g");
            const auto leases = lease_what_may(s);
            expect_equal(leases.size(), 1U, "jobs acquired first");
            s.perform(NackJob{leases.front(), s.now()});
            expect_wait(s, one_second);
            s.advance(one_second);
            expect_equal(take_all(s), std::string{"d"}, "jobs acquired with the next token");
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .pending = 1, .buried = 1},
                         "jobs");
            expect_wait(s, one_second);
            s.advance(one_second);
            expect_equal(take_all(s), std::string{"e"}, "jobs acquired with a further token");
            s.advance(one_second);
            expect_equal(take_all(s), std::string{"f"}, "jobs acquired with the last token");
            s.expect_idle_until(never, work_queue);
        });

    add("a job that is deleted when its group has a token leaves the token to the next job",
        [](Scenario& s) {
            limit_groups(s, {.jobs = 1, .per = one_second});
            push_limited(s, "a", "g");
            push_limited(s, "b", "g");
            push_limited(s, "h", "h");
            const auto i = push_limited(s, "i", "h");
            const auto j = push_limited(s, "j", "h");
            push_limited(s, "k", "h");
            expect_equal(take_all(s), std::string{"ah"}, "jobs acquired first");
            s.advance(one_second);
            expect_equal(take_all(s, 1), std::string{"b"},
                         "next job acquired when both groups have a token");
            expect_equal(s.perform(DeleteJob{work_queue, i}), Deletion::deleted,
                         "reply to the deletion");
            expect_equal(s.perform(CancelJob{work_queue, j}), Cancellation::cancelled,
                         "reply to the cancellation");
            expect_equal(take_all(s), std::string{"k"}, "jobs acquired after the deletions");
        });

    add("a queue shows how long its jobs wait for tokens", [](Scenario& s) {
        const auto expect_due = [&](std::optional<TimePoint> since, const char* when,
                                    Where at = Where::here()) {
            for (const auto& queue : s.perform(ListQueues{})) {
                if (queue.name == work_queue) expect_equal(queue.due_since, since, when, at);
            }
        };
        limit_groups(s, {.jobs = 1, .per = 60 * one_second});
        const auto began = s.now();
        push_limited(s, "a", "g");
        push_limited(s, "b", "g");
        expect_equal(take_all(s), std::string{"a"}, "jobs acquired first");
        s.advance(one_second);
        push_limited(s, "c", "g");
        push_limited(s, "d", "h");
        expect_due(began, "start of the longest wait while one job is READY");
        expect_equal(take_all(s), std::string{"d"}, "jobs acquired a second later");
        expect_due(began, "start of the longest wait while all jobs wait for tokens");
        s.advance(60 * one_second);
        expect_equal(take_all(s), std::string{"b"}, "jobs acquired with the next token");
        expect_due(began + one_second, "start of the longest wait after the oldest job began");
        s.advance(60 * one_second);
        expect_equal(take_all(s), std::string{"c"}, "jobs acquired with the last token");
        expect_due({}, "start of the longest wait in an empty queue");
    });

    add("a group is removed when its last waiting job is deleted", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        push_limited(s, "a", "g");
        const auto b = push_limited(s, "b", "g");
        const auto c = push_limited(s, "c", "g");
        expect_equal(take_all(s), std::string{"a"}, "jobs acquired first");
        s.perform(DeleteJob{work_queue, b});
        expect_wait(s, one_second);
        s.perform(CancelJob{work_queue, c});
        s.expect_idle_until(never, work_queue);
        push_limited(s, "d", "g");
        expect_wait(s, one_second);
        // The new limits release `d`. Afterwards no job is throttled.
        limit_groups(s, {.jobs = 1, .per = 2 * one_second});
        expect_equal(take_all(s), std::string{"d"}, "jobs acquired with other limits");
        s.expect_idle_until(never, work_queue);
    });

    add("setting the clock back does not lengthen the wait for a group's token", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        for (const char* job : {"a", "b", "c"}) push_limited(s, job, "g");
        push_limited(s, "h", "h");
        push_limited(s, "i", "h");
        expect_equal(take_all(s), std::string{"ah"}, "jobs acquired first");
        s.advance(Duration{-3'600'000});
        expect_wait(s, one_second);
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"bi"}, "jobs acquired a second later");
        expect_wait(s, one_second);
        // A throttled job begins even if other jobs arrive all the time.
        s.push("x");
        s.advance(one_second);
        for (const char* job : {"y", "z"}) {
            s.advance(Duration{1});
            s.push(job);
        }
        for (const char* job : {"x", "c", "y", "z"}) {
            expect_equal(take_all(s, 1), std::string{job}, "next job acquired");
        }
    });

    add("a group with a token wakes an idle worker while another is busy", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        for (const char* group : {"g", "h"}) {
            push_limited(s, std::string{group} + "1", group);
            push_limited(s, std::string{group} + "2", group);
        }
        expect_equal(take_all(s), std::string{"g1h1"}, "jobs acquired first");
        Signal signal;
        const auto watch = s.store().watch(work_queue, [&] { signal.raise(); });
        s.advance(one_second);
        const auto seen = signal.count();
        expect_equal(take_all(s, 1), std::string{"g2"}, "job acquired by the first worker");
        expect(signal.wait_beyond(seen, s.traits().timeout),
               "the READY job must wake the idle worker");
        expect_equal(take_all(s, 1), std::string{"h2"}, "job acquired by the other worker");
    });
}

}  // namespace

void add_group_rate_limit_cases(StoreCases& add) {
    add_group_limit_cases(add);
    add_opening_cases(add);
}

}  // namespace routemaster::testing
