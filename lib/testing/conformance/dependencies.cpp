#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/store/perform.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

/// A push of a job with dependencies. The job is due after `delay`.
PushJob after(const Scenario& s, const std::string& job, std::vector<JobId> others,
              Duration delay = {}) {
    PushJob push{work_queue, job, s.now() + delay};
    push.after = std::move(others);
    return push;
}

JobId push_after(const Scenario& s, const std::string& job, std::vector<JobId> others,
                 Duration delay = {}, Where at = Where::here()) {
    const auto pushed = s.perform(after(s, job, std::move(others), delay), at);
    expect_equal(pushed.outcome, PushOutcome::pushed, "outcome of the push of " + job, at);
    return pushed.id;
}

JobId push_plain(const Scenario& s, const std::string& job, Where at = Where::here()) {
    return s.push_with(job, {}, at);
}

void run_next(const Scenario& s, const std::string& job, Where at = Where::here()) {
    const auto lease = s.take_work(1, at);
    expect_equal(lease.job, job, "next job acquired", at);
    expect_equal(s.perform(AckJob{lease}, at), Settlement::settled, "settlement of an ack", at);
}

void expect_waiting(const Scenario& s, JobId id, const std::vector<JobId>& others,
                    Where at = Where::here()) {
    const auto status = s.job(id, at);
    expect_equal(status.state, State::scheduled, "state of a job with unfinished dependencies", at);
    expect_equal(status.after, others, "dependencies of the waiting job", at);
}

/// Expects a job to be BURIED because its dependency `other` was lost.
void expect_buried_for(const Scenario& s, JobId id, JobId other, const std::string& fate,
                       Where at = Where::here()) {
    const auto status = s.job(id, at);
    const auto text = "job " + std::to_string(other) + ", which it waited for, " + fate;
    expect_equal(status.state, State::buried, "state of the job after its dependency failed", at);
    expect_equal(status.after, std::vector<JobId>{}, "dependencies of the BURIED job", at);
    expect_equal(status.errors, std::vector<JobError>{{0, s.now(), text}},
                 "errors of the BURIED job", at);
    expect_equal(status.attempts, 0U, "attempts of the BURIED job", at);
}

void add_waiting_cases(StoreCases& add) {
    add("a due job waits until all jobs that it depends on are done", [](Scenario& s) {
        const auto a = push_plain(s, "a");
        const auto b = push_plain(s, "b");
        const auto c = push_after(s, "c", {b, a, b});
        expect_waiting(s, c, {a, b});
        expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 1, .ready = 2}, "jobs");
        expect_equal(s.jobs(State::scheduled).size(), 1U, "jobs listed as SCHEDULED");
        expect_equal(s.perform(after(s, "c", {})), PushOutcome::duplicate,
                     "outcome of an equal push");
        run_next(s, "a");
        expect_waiting(s, c, {b});
        const auto lease = s.take_work();
        s.expect_idle_until(never, work_queue);
        s.advance(Duration{5});
        s.perform(NackJob{lease, s.now()});
        expect_waiting(s, c, {b});
        run_next(s, "b");
        expect_equal(s.job(c).state, State::ready,
                     "state of the job after its last dependency is done");
        expect_equal(s.job(c).after, std::vector<JobId>{}, "dependencies of the READY job");
        run_next(s, "c");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs left in the queue");
    });

    add("a job runs at its due time, or after its last dependency, whichever is later",
        [](Scenario& s) {
            const auto a = push_plain(s, "a");
            const auto early = push_after(s, "early", {a}, Duration{10});
            const auto late = push_after(s, "late", {a}, Duration{30});
            expect_equal(s.job(early).run_at, s.now() + Duration{10},
                         "due time of the job with the early due time");
            s.advance(Duration{20});
            expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 2, .ready = 1}, "jobs");
            const auto lease = s.take_work();
            s.push("b");
            s.advance(Duration{1});
            s.perform(AckJob{lease});
            expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 1, .ready = 2}, "jobs");
            expect_equal(s.job(late).run_at, s.now() + Duration{9},
                         "due time of the job with the late due time");
            // After its wait, a job counts as due from this moment on, and not from its own due
            // time.
            run_next(s, "b");
            run_next(s, "early");
            s.expect_idle_until(s.now() + Duration{9}, work_queue);
            s.advance(Duration{9});
            run_next(s, "late");
        });

    add("chains and diamonds of jobs are done in their order", [](Scenario& s) {
        const auto top = push_plain(s, "top");
        const auto left = push_after(s, "left", {top});
        const auto right = push_after(s, "right", {top});
        const auto bottom = push_after(s, "bottom", {left, right, top});
        push_after(s, "last", {bottom});
        run_next(s, "top");
        const auto both = s.acquire({.queue = work_queue}).leases;
        expect_equal(both.size(), 2U, "jobs acquired after the first job is done");
        s.perform(AckJob{both[1]});
        expect_waiting(s, bottom, {left});
        s.perform(AckJob{both[0]});
        run_next(s, "bottom");
        run_next(s, "last");
    });

    add("a job keeps its priority and its key while it waits for dependencies", [](Scenario& s) {
        const auto a = push_plain(s, "a");
        auto keyed = after(s, "first", {a});
        keyed.options = {.priority = 1, .key = {.text = "k"}};
        const auto waiting = s.perform(keyed).id;
        push_after(s, "plain", {a});
        expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 2, .ready = 1}, "jobs");
        keyed.after.clear();
        keyed.on_duplicate = OnDuplicate::debounce;
        keyed.job = "second";
        expect_equal(s.perform(keyed).outcome, PushOutcome::replaced,
                     "outcome of the replacing push");
        expect_waiting(s, waiting, {a});
        expect_equal(s.job(waiting).run_at, s.now(), "due time of the replaced job");
        keyed.on_duplicate = OnDuplicate::replace;
        keyed.job = "third";
        keyed.options.priority = 2;
        s.perform(keyed);
        expect_waiting(s, waiting, {a});
        run_next(s, "a");
        run_next(s, "third");
        run_next(s, "plain");
    });

    add("jobs with follow-up jobs or with a key release their dependents", [](Scenario& s) {
        const auto a = push_plain(s, "a");
        const auto b = s.push_with("b", {.key = {.text = "k"}});
        push_after(s, "c", {a, b});
        const auto lease = s.take_work();
        expect_equal(s.perform(CompleteJob{lease, {{work_queue, "d", s.now()}}}).settlement,
                     Settlement::settled, "settlement of the job with a follow-up");
        run_next(s, "b");
        run_next(s, "d");
        run_next(s, "c");
    });

    add("a settlement with a lost lease releases no dependents", [](Scenario& s) {
        const auto a = push_plain(s, "a");
        const auto b = push_after(s, "b", {a});
        const auto lease = s.take_work();
        s.perform(RetireWorker{Scenario::worker(1)});
        expect_equal(s.perform(AckJob{lease}), Settlement::lease_lost,
                     "settlement of an ack with a lost lease");
        expect_equal(s.perform(CompleteJob{lease}).settlement, Settlement::lease_lost,
                     "settlement of a completion with a lost lease");
        expect_waiting(s, b, {a});
        run_next(s, "a");
        run_next(s, "b");
    });
}

void add_push_cases_of_dependencies(StoreCases& add) {
    add("a dependency on an unknown id counts as done, and on a never assigned id is refused",
        [](Scenario& s) {
            const auto a = push_plain(s, "a");
            run_next(s, "a");
            const auto b = push_after(s, "b", {a});
            expect_equal(s.job(b).state, State::ready,
                         "state of a job whose dependency is already done");
            const auto other = s.perform(PushJob{"other", "a", s.now()}).id;
            const auto c = push_after(s, "c", {other});
            expect_equal(s.job(c).state, State::ready,
                         "state of a job whose dependency is in another queue");
            s.expect_refused(after(s, "d", {c + 1}), "after");
            s.expect_refused(after(s, "d", {c, UINT64_MAX}), "after");
            auto keyed = after(s, "d", {c + 1});
            keyed.options.key.text = "k";
            s.expect_refused(keyed, "after");
            // The store searches for a duplicate before it checks the dependencies, because
            // repeating a push is not an error.
            expect_equal(s.perform(after(s, "c", {c + 9})), PushOutcome::duplicate,
                         "outcome of an equal push with an unknown id");
        });

    add("an invalid list of dependencies is refused and changes nothing", [](Scenario& s) {
        const auto a = push_plain(s, "a");
        s.expect_refused(after(s, "b", {0}), "after");
        s.expect_refused(after(s, "b", std::vector<JobId>(job_after_max + 1, a)), "after");
        auto ruby = after(s, "b", {a});
        ruby.queue = delivery_queue;
        s.expect_refused(ruby, "after");
        auto replacing = after(s, "b", {a});
        replacing.options.key.text = "k";
        replacing.on_duplicate = OnDuplicate::replace;
        s.expect_refused(replacing, "after");
        const auto lease = s.take_work();
        s.expect_refused(CompleteJob{lease, {after(s, "b", {a})}}, "pushes[0]");
        push_after(s, "b", std::vector<JobId>(job_after_max, a));
    });

    add("a job has at most a thousand dependents, and all run when the job is done",
        [](Scenario& s) {
            const auto a = push_plain(s, "a");
            for (std::size_t done = 0; done < job_dependents_max;) {
                std::vector<Step> steps;
                for (int n = 0; n < 500; ++n) {
                    steps.emplace_back(after(s, std::to_string(done++), {a}));
                }
                for (const auto& one : perform_all(s.store(), steps, s.now())) {
                    expect(one.has_value(), "each push must succeed");
                }
            }
            s.expect_refused(after(s, "x", {a}), "after");
            expect_equal(s.perform(after(s, "7", {a})), PushOutcome::duplicate,
                         "outcome of an equal push beyond the limit");
            s.perform(DeleteJob{work_queue, s.jobs(State::scheduled).front().id});
            push_after(s, "x", {a});
            run_next(s, "a");
            const auto all = s.acquire({.limit = 1'000, .queue = work_queue}).leases;
            expect_equal(all.size(), job_dependents_max,
                         "dependents acquired after the job is done");
            expect_equal(all.front().job, std::string{"1"}, "first dependent acquired");
            expect_equal(all.back().job, std::string{"x"}, "last dependent acquired");
        });
}

void add_end_cases(StoreCases& add) {
    add("the dependents of a job that ends without success are BURIED with the reason",
        [](Scenario& s) {
            const auto deleted = push_plain(s, "deleted");
            const auto one = push_after(s, "one", {deleted});
            s.perform(DeleteJob{work_queue, deleted});
            expect_buried_for(s, one, deleted, "was deleted");

            const auto cancelled = push_plain(s, "cancelled");
            const auto two = push_after(s, "two", {cancelled});
            s.perform(CancelJob{work_queue, cancelled});
            expect_buried_for(s, two, cancelled, "was cancelled");

            const auto running = push_plain(s, "running");
            const auto three = push_after(s, "three", {running});
            const auto lease = s.take_work();
            s.perform(CancelJob{work_queue, running});
            expect_waiting(s, three, {running});
            s.perform(NackJob{lease, s.now()});
            expect_buried_for(s, three, running, "was cancelled");

            const auto expiring = s.push_with("expiring", {.expires_at = s.now() + Duration{1}});
            const auto four = push_after(s, "four", {expiring});
            s.advance(Duration{1});
            s.expect_idle_until(never, work_queue);
            expect_buried_for(s, four, expiring, "has expired");
            expect_equal(s.queue(work_queue), QueueStatus{.buried = 4}, "jobs");
        });

    add("the first dependency that ends without success decides the end of its dependent",
        [](Scenario& s) {
            const auto a = push_plain(s, "a");
            const auto b = push_plain(s, "b");
            const auto c = push_after(s, "c", {a, b});
            const auto d = push_after(s, "d", {c});
            s.perform(DeleteJob{work_queue, a});
            expect_buried_for(s, c, a, "was deleted");
            expect_waiting(s, d, {c});
            run_next(s, "b");
            expect_equal(s.job(c).state, State::buried,
                         "state of the BURIED job after its other dependency is done");
            s.perform(DeleteJob{work_queue, c});
            expect_buried_for(s, d, c, "was deleted");
        });

    add("a job waits for a BURIED dependency until a kick makes the dependency succeed",
        [](Scenario& s) {
            const auto a = push_plain(s, "a");
            const auto b = push_after(s, "b", {a});
            s.bury_next();
            expect_waiting(s, b, {a});
            s.perform(KickJobs{.queue = work_queue, .id = a});
            expect_waiting(s, b, {a});
            run_next(s, "a");
            run_next(s, "b");
        });

    add("a job that was BURIED because of its dependency runs when it is kicked", [](Scenario& s) {
        const auto a = push_plain(s, "a");
        const auto b = push_plain(s, "b");
        const auto c = push_after(s, "c", {a, b}, Duration{1'000});
        s.perform(DeleteJob{work_queue, a});
        s.perform(KickJobs{.queue = work_queue, .id = c});
        const auto status = s.job(c);
        expect_equal(status.state, State::ready, "state of the kicked job");
        expect_equal(status.errors.size(), 1U, "errors of the kicked job");
        run_next(s, "b");
        const auto lease = s.take_work();
        s.perform(FailJob{.lease = lease, .error = "no", .run_at = s.now(), .bury = true});
        expect_equal(s.job(c).errors.size(), 2U, "errors of the job that was BURIED twice");
    });

    add("a deleted dependent leaves no trace at its dependencies", [](Scenario& s) {
        const auto a = push_plain(s, "a");
        const auto b = push_after(s, "b", {a});
        const auto c = push_after(s, "c", {b});
        const auto d = push_after(s, "d", {a});
        expect_equal(s.perform(DeleteJob{work_queue, b}), Deletion::deleted,
                     "deletion of the dependent job");
        expect_buried_for(s, c, b, "was deleted");
        expect_equal(s.perform(CancelJob{work_queue, d}), Cancellation::cancelled,
                     "cancellation of another dependent");
        push_after(s, "b", {a});
        run_next(s, "a");
        run_next(s, "b");
        expect_equal(s.queue(work_queue), QueueStatus{.buried = 1}, "jobs left in the queue");
    });

    add("dependents of a dropped BURIED job may exceed the limit of BURIED jobs for a while",
        [](Scenario& s) {
            constexpr std::uint64_t waiting = 5;
            const auto a = push_plain(s, "a");
            std::vector<JobId> others;
            for (std::uint64_t n = 0; n < waiting; ++n) {
                others.push_back(push_after(s, "other " + std::to_string(n), {a}));
            }
            s.bury_next();
            s.advance(Duration{1});
            s.bury_many("x", buried_max - 1);
            s.advance(Duration{1});
            s.bury_many("y", 1);
            // The burial of `y` dropped two jobs: `a`, and the oldest of the `x`.
            expect_equal(s.queue(work_queue).buried, buried_max + waiting - 1, "BURIED jobs");
            for (const auto id : others) expect_buried_for(s, id, a, "was forgotten");
            s.advance(Duration{1});
            s.bury_many("z", 1);
            expect_equal(s.queue(work_queue).buried, buried_max + waiting - 2, "BURIED jobs");
        });
}

}  // namespace

void add_dependency_cases(StoreCases& add) {
    add_waiting_cases(add);
    add_push_cases_of_dependencies(add);
    add_end_cases(add);
}

}  // namespace routemaster::testing
