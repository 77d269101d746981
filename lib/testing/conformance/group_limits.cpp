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
            expect_equal(take_all(s), std::string{"axyz"}, "jobs at first");
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .pending = 4}, "jobs");
            expect_wait(s, one_second);
            push_limited(s, "d", "noisy");
            push_limited(s, "e", "late");
            expect_equal(take_all(s), std::string{"e"}, "of another group");
            s.advance(one_second / 2);
            push_limited(s, "w", "late");
            expect_wait(s, one_second / 2);
            s.advance(one_second / 2);
            expect_equal(take_all(s), std::string{"wb"}, "for the next tokens");
            s.advance(one_second);
            expect_equal(take_all(s), std::string{"c"}, "one after the other");
            s.advance(one_second);
            expect_equal(take_all(s), std::string{"d"}, "one after the other");
            s.expect_idle_until(never, work_queue);
            expect_equal(s.queue(work_queue), QueueStatus{.pending = 9}, "jobs");
        });

    add("a group that ran out of jobs gets no new tokens when it has jobs again", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        for (int n = 0; n < 3; ++n) {
            push_limited(s, "a", "g");
            const auto leases = lease_what_may(s);
            expect_equal(leases.size(), 1U, "jobs for a token");
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
        expect_equal(first.size(), 1U, "jobs for a token");
        // A nacked job retains its position before the waiting jobs of its group.
        s.perform(NackJob{first.front(), s.now()});
        s.advance(one_second);
        first = lease_what_may(s);
        expect_equal(first.at(0).job, std::string{"a"}, "the first of the group");
        s.perform(AckJob{first.front()});
        for (const char* job : {"b", "c", "d"}) {
            expect_wait(s, one_second);
            s.advance(one_second);
            expect_equal(take_all(s), std::string{job}, "the next");
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
        expect_equal(all, std::string{"de"}, "the rest");
    });

    add("the limits of its queue and of its group both apply to a job", [](Scenario& s) {
        limit(s, {.queue = RateLimit{.jobs = 2, .per = one_second, .burst = 2},
                  .each_group = RateLimit{.jobs = 1, .per = 4 * one_second}});
        for (const char* job : {"a", "b"}) push_limited(s, job, "g");
        push_all(s, "xyz");
        expect_equal(take_all(s), std::string{"ax"}, "jobs at first");
        expect_wait(s, one_second / 2);
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"yz"}, "for the tokens of the queue");
        expect_wait(s, 3 * one_second);
        s.advance(3 * one_second);
        expect_equal(take_all(s), std::string{"b"}, "when its group has a token");
    });

    add("jobs with a priority wait for tokens of their group, too", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        push_limited(s, "a", "g", 3, 1);
        push_limited(s, "b", "g", 3, 2);
        push_limited(s, "c", "g", 3, 1);
        s.push("x");
        // `c` is behind `a` in its group. Of the jobs that may begin, the highest priority comes
        // first.
        expect_equal(take_all(s), std::string{"bx"}, "jobs at first");
        expect_wait(s, one_second);
        s.push("y");
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"ay"}, "then the first of the group");
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"c"}, "and the next");
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
        expect_equal(take_all(s), std::string{"a"}, "jobs at first");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 4, .pending = 1}, "jobs");
        expect_equal(s.perform(DeleteJob{work_queue, b}), Deletion::deleted, "deletion");
        expect_equal(s.perform(CancelJob{work_queue, c}), Cancellation::cancelled, "cancellation");
        push.job = "D";
        expect_equal(s.perform(push), PushOutcome::replaced, "replacing");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .pending = 1}, "jobs");
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"D"}, "the next");
        expect_wait(s, one_second);
        // The group to which the job moves has a token.
        push_limited(s, "f", "g");
        push.options.key.text = "other";
        push.job = "x";
        s.perform(push);
        expect_wait(s, one_second);
        push.options.group = "h";
        expect_equal(s.perform(push), PushOutcome::replaced, "replacing");
        expect_equal(take_all(s), std::string{"x"}, "of the other group");
        s.advance(2 * one_second);
        expect_equal(take_all(s), std::string{"e"}, "what waited");
    });

    add("lowering the rate limit of a group makes its jobs wait for tokens again", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        for (const char* job : {"a", "b", "c", "d"}) push_limited(s, job, "g", 4);
        auto leases = lease_what_may(s);
        push_limited(s, "e", "g", 2);
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 4, .pending = 1}, "jobs");
        s.advance(one_second);
        const auto second_one = lease_what_may(s);
        expect_equal(second_one.at(0).job, std::string{"b"}, "the next");
        s.advance(10 * one_second);
        s.expect_idle_until(never, work_queue);
        s.perform(AckJob{leases.front()});
        expect_equal(take_all(s), std::string{"c"}, "when there is a place");
        s.perform(AckJob{second_one.front()});
        expect_wait(s, one_second);
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"d"}, "when there is a token");
    });
}

void add_opening_cases(StoreCases& add) {
    add("a job that waited for a token of its group runs before later jobs", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        push_limited(s, "a", "g");
        push_limited(s, "b", "g");
        expect_equal(take_all(s), std::string{"a"}, "jobs at first");
        s.advance(one_second / 2);
        push_limited(s, "c", "g");
        s.push("x");
        s.advance(one_second / 2);
        expect_equal(take_all(s, 1), std::string{"b"}, "when its group has a token");
        expect_equal(take_all(s), std::string{"x"}, "of no group");
        push_limited(s, "d", "g");
        expect_wait(s, one_second);
        s.advance(one_second);
        const auto last = s.acquire({.limit = 1, .queue = work_queue});
        expect_equal(last.leases.at(0).job, std::string{"c"}, "when it has another");
        expect_equal(last.next_due, s.now() + one_second, "when it has the next");
    });

    add("among groups with a token, the group that has waited longest runs first", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        for (const char* job : {"a", "b", "c"}) push_limited(s, job, "g");
        push_limited(s, "h", "h");
        push_limited(s, "i", "h");
        expect_equal(take_all(s), std::string{"ah"}, "jobs at first");
        s.advance(one_second);
        expect_equal(take_all(s, 1), std::string{"b"}, "of both");
        s.advance(one_second);
        push_limited(s, "j", "j");
        expect_equal(take_all(s, 1), std::string{"i"}, "of the one that got none");
        expect_equal(take_all(s), std::string{"cj"}, "the rest");
        s.expect_idle_until(never, work_queue);
    });

    add("waiting for a token counts as age, which raises a job's priority", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        push_limited(s, "a", "g", 10, 1);
        push_limited(s, "b", "g", 10, 1);
        expect_equal(take_all(s), std::string{"a"}, "jobs at first");
        s.advance(one_second / 2);
        s.push_with("p", {.priority = 2});
        s.push_with("q", {.priority = 1});
        s.push("x");
        s.advance(one_second / 2);
        for (const char* job : {"p", "b", "q", "x"}) {
            expect_equal(take_all(s, 1), std::string{job}, "one after the other");
        }
        push_limited(s, "c", "g");
        push_limited(s, "d", "g");
        expect_wait(s, one_second);
        s.advance(one_second / 2);
        s.push_with("r", {.priority = 1});
        s.push("y");
        s.advance(one_second / 2);
        for (const char* job : {"r", "c", "y"}) {
            expect_equal(take_all(s, 1), std::string{job}, "one after the other");
        }
        // The priority of `e` brings its group forward, but `d` is the first of the group.
        push_limited(s, "e", "g", 10, 9);
        s.advance(one_second);
        expect_equal(take_all(s, 1), std::string{"d"}, "the first of the group");
        s.advance(one_second);
        expect_equal(take_all(s, 1), std::string{"e"}, "the last");
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
            expect_equal(leases.size(), 1U, "jobs at first");
            s.perform(NackJob{leases.front(), s.now()});
            expect_wait(s, one_second);
            s.advance(one_second);
            expect_equal(take_all(s), std::string{"d"}, "when its group has a token");
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .pending = 1, .buried = 1},
                         "jobs");
            expect_wait(s, one_second);
            s.advance(one_second);
            expect_equal(take_all(s), std::string{"e"}, "when it has another");
            s.advance(one_second);
            expect_equal(take_all(s), std::string{"f"}, "the last");
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
            expect_equal(take_all(s), std::string{"ah"}, "jobs at first");
            s.advance(one_second);
            expect_equal(take_all(s, 1), std::string{"b"}, "one of those that may begin");
            expect_equal(s.perform(DeleteJob{work_queue, i}), Deletion::deleted, "deletion");
            expect_equal(s.perform(CancelJob{work_queue, j}), Cancellation::cancelled,
                         "cancellation");
            expect_equal(take_all(s), std::string{"k"}, "the next of its group");
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
        expect_equal(take_all(s), std::string{"a"}, "jobs at first");
        s.advance(one_second);
        push_limited(s, "c", "g");
        push_limited(s, "d", "h");
        expect_due(began, "when one is READY and others wait");
        expect_equal(take_all(s), std::string{"d"}, "jobs a second later");
        expect_due(began, "when all wait");
        s.advance(60 * one_second);
        expect_equal(take_all(s), std::string{"b"}, "jobs with the next token");
        expect_due(began + one_second, "when the oldest has begun");
        s.advance(60 * one_second);
        expect_equal(take_all(s), std::string{"c"}, "the last one");
        expect_due({}, "when none waits");
    });

    add("a group is removed when its last waiting job is deleted", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        push_limited(s, "a", "g");
        const auto b = push_limited(s, "b", "g");
        const auto c = push_limited(s, "c", "g");
        expect_equal(take_all(s), std::string{"a"}, "jobs at first");
        s.perform(DeleteJob{work_queue, b});
        expect_wait(s, one_second);
        s.perform(CancelJob{work_queue, c});
        s.expect_idle_until(never, work_queue);
        push_limited(s, "d", "g");
        expect_wait(s, one_second);
        // The new limits release `d`. Afterwards no job is throttled.
        limit_groups(s, {.jobs = 1, .per = 2 * one_second});
        expect_equal(take_all(s), std::string{"d"}, "with other limits");
        s.expect_idle_until(never, work_queue);
    });

    add("setting the clock back does not lengthen the wait for a group's token", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        for (const char* job : {"a", "b", "c"}) push_limited(s, job, "g");
        push_limited(s, "h", "h");
        push_limited(s, "i", "h");
        expect_equal(take_all(s), std::string{"ah"}, "jobs at first");
        s.advance(Duration{-3'600'000});
        expect_wait(s, one_second);
        s.advance(one_second);
        expect_equal(take_all(s), std::string{"bi"}, "a token later");
        expect_wait(s, one_second);
        // A throttled job begins even if other jobs arrive all the time.
        s.push("x");
        s.advance(one_second);
        for (const char* job : {"y", "z"}) {
            s.advance(Duration{1});
            s.push(job);
        }
        for (const char* job : {"x", "c", "y", "z"}) {
            expect_equal(take_all(s, 1), std::string{job}, "one after the other");
        }
    });

    add("a group with a token wakes an idle worker while another is busy", [](Scenario& s) {
        limit_groups(s, {.jobs = 1, .per = one_second});
        for (const char* group : {"g", "h"}) {
            push_limited(s, std::string{group} + "1", group);
            push_limited(s, std::string{group} + "2", group);
        }
        expect_equal(take_all(s), std::string{"g1h1"}, "jobs at first");
        Signal signal;
        const auto watch = s.store().watch(work_queue, [&] { signal.raise(); });
        s.advance(one_second);
        const auto seen = signal.count();
        expect_equal(take_all(s, 1), std::string{"g2"}, "the job for one worker");
        expect(signal.wait_beyond(seen, s.traits().timeout), "nobody was woken");
        expect_equal(take_all(s, 1), std::string{"h2"}, "the job for the other");
    });
}

}  // namespace

void add_group_rate_limit_cases(StoreCases& add) {
    add_group_limit_cases(add);
    add_opening_cases(add);
}

}  // namespace routemaster::testing
