#include <string>
#include <vector>

#include "cases.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

constexpr auto pushed = PushOutcome::pushed;
constexpr auto duplicate = PushOutcome::duplicate;
constexpr auto replaced = PushOutcome::replaced;

struct Keyed {
    std::string job;
    std::string key = "k";
    KeyScope scope = KeyScope::until_done;
    Duration time{0};
    OnDuplicate on_duplicate{};
    Duration delay{0};
};

PushJob step_of(const Scenario& s, const Keyed& how) {
    PushJob step{work_queue, how.job, s.now() + how.delay};
    step.options.key = {.text = how.key, .scope = how.scope};
    if (how.scope == KeyScope::for_time) step.options.key.until = s.now() + how.time;
    step.on_duplicate = how.on_duplicate;
    return step;
}

Pushed push(const Scenario& s, const Keyed& how) { return s.perform(step_of(s, how)); }

std::string acquire_all(Scenario& s) {
    std::string all;
    for (const auto& lease : s.acquire({.queue = work_queue}).leases) all += lease.job;
    return all;
}

const std::vector<KeyScope> scopes{KeyScope::until_done, KeyScope::until_started,
                                   KeyScope::for_time};

void add_exclusion_cases(StoreCases& add) {
    add("a job excludes further jobs with its key until the job is done", [](Scenario& s) {
        const auto first = push(s, {.job = "a"});
        expect_equal(first.outcome, pushed, "outcome of the push");
        const Pushed refused{duplicate, first.id};
        const auto expect_refused = [&](const char* when) {
            expect_equal(push(s, {.job = "b"}), refused, when);
        };
        expect_refused("reply to a push while the job is READY");
        expect_equal(push(s, {.job = "a", .key = "other"}).outcome, pushed,
                     "outcome of a push with another key");
        s.take_work();
        s.take_work();
        expect_refused("reply to a push while the job is PENDING");
        s.perform(RetireWorker{Scenario::worker(1)});
        s.perform(NackJob{s.take_work(), s.now() + Duration{5}});
        expect_refused("reply to a push while the job is SCHEDULED");
        s.perform(AckJob{s.take_work()});
        s.advance(Duration{5});
        s.bury_next();
        expect_refused("reply to a push while the job is BURIED");
        s.perform(KickJobs{.queue = work_queue});
        expect_refused("reply to a push after the job was kicked");
        s.perform(AckJob{s.take_work()});
        const auto next = push(s, {.job = "b"});
        expect_equal(next.outcome, pushed, "outcome of a push after the job is done");
        expect(next.id > first.id, "the push must get a new id");
        expect_equal(s.job(next.id).job, std::string{"b"}, "encoded job of the push");
        expect_equal(s.job(next.id).options.key, JobKey{.text = "k"}, "key of the job");
    });

    add("a job with a key excludes neither jobs without a key nor jobs in another queue",
        [](Scenario& s) {
            push(s, {.job = "a"});
            expect_equal(s.push("a"), pushed, "outcome of a push without a key");
            expect_equal(s.push("a"), duplicate, "outcome of a second push without a key");
            auto elsewhere = step_of(s, {.job = "a"});
            elsewhere.queue = "other";
            expect_equal(s.perform(elsewhere).outcome, pushed,
                         "outcome of a push into another queue");
            expect_equal(push(s, {.job = "a", .key = "a"}).outcome, pushed,
                         "outcome of a push with a key equal to the bytes of a job");
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 3}, "jobs");
            expect_equal(acquire_all(s), std::string{"aaa"}, "jobs acquired");
        });

    add("a key is free again when its job is deleted, expires or is dropped", [](Scenario& s) {
        for (const auto scope : scopes) {
            const Keyed how{.job = "a", .scope = scope, .time = Duration{1'000}};
            const auto first = push(s, how);
            s.perform(DeleteJob{work_queue, first.id});
            auto step = step_of(s, how);
            step.options.expires_at = s.now() + Duration{1};
            expect_equal(s.perform(step).outcome, pushed,
                         "outcome of a push after the job was deleted");
            s.advance(Duration{1});
            s.expect_idle_until(never, work_queue);
            const auto last = push(s, how);
            expect_equal(last.outcome, pushed, "outcome of a push after the job has expired");
            s.bury_next();
            s.perform(DeleteJob{work_queue, last.id});
            expect_equal(push(s, how).outcome, pushed,
                         "outcome of a push after the BURIED job was deleted");
            s.perform(AckJob{s.take_work()});
            s.advance(Duration{1'000});
        }
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
    });

    add("a key with scope until_started is free once its job has started", [](Scenario& s) {
        const Keyed how{.job = "a", .scope = KeyScope::until_started};
        const auto first = push(s, how);
        expect_equal(push(s, how).outcome, duplicate, "outcome of a push before the job starts");
        const auto lease = s.take_work();
        s.perform(ReleaseJob{lease, s.now()});
        const auto second = push(s, how);
        expect_equal(second.outcome, pushed, "outcome of a push after the job was released");
        expect_equal(push(s, how), Pushed{duplicate, second.id},
                     "reply to a push while the second job is READY");
        s.perform(AckJob{s.take_work()});
        expect(!s.perform(FindJob{work_queue, first.id}), "the first job no longer exists");
        expect_equal(push(s, how), Pushed{duplicate, second.id},
                     "reply to a push after the first job is done");
        s.perform(AckJob{s.take_work()});
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
    });

    add("a key with a duration excludes jobs for exactly this time, whenever its job is done",
        [](Scenario& s) {
            const Keyed how{.job = "a", .scope = KeyScope::for_time, .time = Duration{100}};
            push(s, how);
            s.perform(AckJob{s.take_work()});
            s.advance(Duration{99});
            expect_equal(push(s, how), Pushed{duplicate, 0},
                         "reply to a push before the key expires, after the job is done");
            expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
            s.advance(Duration{1});
            const auto slow = push(s, how);
            expect_equal(slow.outcome, pushed, "outcome of a push after the key has expired");
            s.advance(Duration{99});
            expect_equal(push(s, how), Pushed{duplicate, slow.id},
                         "reply to a push before the key expires, while the job is READY");
            s.advance(Duration{1});
            const auto next = push(s, how);
            expect_equal(next.outcome, pushed,
                         "outcome of a push after the key has expired, while the job is READY");
            // The completion of the first job must not release the key, which the second job has
            // now.
            s.perform(AckJob{s.take_work()});
            expect_equal(push(s, how), Pushed{duplicate, next.id},
                         "reply to a push after the first job is done");
            s.advance(Duration{100});
            s.perform(AckJob{s.take_work()});
            expect_equal(push(s, how).outcome, pushed,
                         "outcome of a push after the key has expired and the job is done");
        });
}

void add_replacement_cases(StoreCases& add) {
    add("a push replaces the waiting job with its key, and the job keeps its id", [](Scenario& s) {
        const auto first = push(s, {.job = "a", .delay = Duration{50}});
        auto step = step_of(s, {.job = "something longer",
                                .scope = KeyScope::until_started,
                                .on_duplicate = OnDuplicate::replace,
                                .delay = Duration{20}});
        step.options.timeout = Duration{7};
        expect_equal(s.perform(step), Pushed{replaced, first.id}, "reply to the push");
        expect_equal(s.perform(step), Pushed{replaced, first.id}, "reply to the repeated push");
        const auto job = s.job(first.id);
        expect_equal(job.job, step.job, "encoded job after the replacement");
        expect_equal(job.options, step.options, "options");
        expect_equal(job.run_at, s.now() + Duration{20}, "due time of the replaced job");
        s.expect_idle_until(s.now() + Duration{20}, work_queue);
        expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 1}, "jobs");
        s.advance(Duration{20});
        const auto lease = s.take_work();
        expect_equal(lease.job, step.job, "encoded job in the lease");
        expect_equal(lease.id, first.id, "id of the leased job");
        expect_equal(lease.options->timeout, Duration{7}, "timeout of the leased job");
    });

    add("a replaced READY job keeps its place unless its due time moves", [](Scenario& s) {
        const auto replace = [&](const std::string& job, Duration delay = {}) {
            return push(s, {.job = job, .on_duplicate = OnDuplicate::replace, .delay = delay});
        };
        replace("a");
        s.push("b");
        expect_equal(replace("c").outcome, replaced, "outcome of the push");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 2}, "jobs");
        const auto leases = s.acquire({.queue = work_queue}).leases;
        expect_equal(leases.at(0).job, std::string{"c"}, "first job acquired");
        for (const auto& lease : leases) s.perform(AckJob{lease});
        replace("a");
        s.push("b");
        const auto later = replace("d", Duration{9});
        expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 1, .ready = 1}, "jobs");
        expect_equal(s.job(later.id).state, State::scheduled, "state");
        replace("e");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 2}, "jobs");
        expect_equal(acquire_all(s), std::string{"be"}, "jobs acquired");
    });

    add("a PENDING or BURIED job is not replaced", [](Scenario& s) {
        const Keyed other{.job = "b", .on_duplicate = OnDuplicate::replace};
        const auto first = push(s, {.job = "a"});
        const auto lease = s.take_work();
        expect_equal(push(s, other), Pushed{duplicate, first.id},
                     "reply to a push while the job is PENDING");
        s.perform(FailJob{.lease = lease, .error = "broken", .run_at = {}, .bury = true});
        expect_equal(push(s, other), Pushed{duplicate, first.id},
                     "reply to a push while the job is BURIED");
        expect_equal(s.job(first.id).job, std::string{"a"}, "encoded job after both pushes");
    });

    add("a replaced job starts with no attempts, and keeps its errors", [](Scenario& s) {
        auto step = step_of(s, {.job = "a", .on_duplicate = OnDuplicate::replace});
        step.options.attempts_max = 2;
        const auto id = s.perform(step).id;
        s.perform(
            FailJob{.lease = s.take_work(), .error = "broken", .run_at = s.now() + Duration{60}});
        s.perform(step);
        expect_equal(s.job(id).attempts, 0U, "attempts");
        expect_equal(s.job(id).errors.size(), 1U, "errors");
        for (const std::uint32_t attempt : {1U, 2U}) {
            const auto lease = s.take_work();
            expect_equal(lease.attempt, attempt, "attempt");
            s.perform(NackJob{lease, s.now()});
        }
        s.expect_idle_until(never, work_queue);
        expect_equal(s.queue(work_queue), QueueStatus{.buried = 1}, "jobs");
    });

    add("each push of a debounced job can delay the job, but never brings the job forward",
        [](Scenario& s) {
            const auto push_later = [&](const std::string& job, Duration delay) {
                return push(s, {.job = job,
                                .scope = KeyScope::until_started,
                                .on_duplicate = OnDuplicate::debounce,
                                .delay = delay});
            };
            const auto id = push_later("a", Duration{50}).id;
            s.advance(Duration{30});
            expect_equal(push_later("b", Duration{50}), Pushed{replaced, id},
                         "reply to the second push");
            push_later("c", Duration{10});
            s.expect_idle_until(s.now() + Duration{50}, work_queue);
            s.advance(Duration{50});
            push_later("d", Duration{5});
            s.expect_idle_until(s.now() + Duration{5}, work_queue);
            s.advance(Duration{5});
            expect_equal(acquire_all(s), std::string{"d"}, "job of the last push");
            expect_equal(push_later("e", Duration{5}).outcome, pushed,
                         "outcome of a push while the job is PENDING");
        });
}

void add_keyed_lease_cases(StoreCases& add) {
    add("jobs with equal bytes and different keys are settled separately", [](Scenario& s) {
        std::vector<JobId> ids;
        for (const char* key : {"1", "2", "3", "4"}) {
            ids.push_back(push(s, {.job = "same", .key = key}).id);
        }
        const auto leases = s.acquire({.queue = work_queue}).leases;
        expect_equal(leases.size(), 4U, "jobs acquired");
        auto other = leases[0];
        other.job = "another";
        expect_equal(s.perform(AckJob{other}), Settlement::lease_lost,
                     "settlement of a lease with the bytes of another job");
        s.perform(AckJob{leases[0]});
        s.perform(NackJob{leases[1], s.now() + Duration{5}});
        s.perform(ReleaseJob{leases[2], s.now() + Duration{6}});
        s.perform(FailJob{.lease = leases[3], .error = "x", .run_at = s.now(), .bury = true});
        expect(!s.perform(FindJob{work_queue, ids[0]}), "the first job no longer exists");
        expect_equal(s.job(ids[1]).run_at, s.now() + Duration{5}, "due time of the second job");
        expect_equal(s.job(ids[2]).attempts, 0U, "attempts of the third job");
        expect_equal(s.job(ids[3]).state, State::buried, "state of the fourth job");
        for (const auto& job : s.jobs(State::scheduled)) {
            expect_equal(job.job, std::string{"same"}, "encoded job");
        }
        expect_equal(s.perform(AckJob{leases[1]}), Settlement::lease_lost,
                     "settlement of a nacked lease");
    });

    add("a job with a key is leased again when the reply was lost, or its worker died",
        [](Scenario& s) {
            push(s, {.job = "a"});
            const AcquireJobs step{work_queue, Scenario::worker(1), 1, 0};
            const auto first = s.perform(step);
            expect_equal(first.leases.size(), 1U, "jobs acquired");
            expect_equal(first.leases[0].job, std::string{"a"}, "encoded job in the lease");
            expect_equal(s.perform(step).leases, first.leases,
                         "leases returned by the repeated acquisition");
            s.advance(Duration{30'000});
            s.perform(ScrubWorkers{Duration{30'000}});
            expect_equal(s.perform(AckJob{first.leases[0]}), Settlement::lease_lost,
                         "settlement of the ack");
            const auto lease = s.take_work(2);
            expect_equal(lease.job, std::string{"a"},
                         "encoded job in the lease of the other worker");
            expect_equal(s.perform(AckJob{lease}), Settlement::settled, "settlement of the ack");
        });

    add("an invalid key is refused and changes nothing", [](Scenario& s) {
        auto step = step_of(s, {.job = "a", .key = std::string(job_key_max + 1, 'x')});
        s.expect_refused(step, "key");
        step = step_of(s, {.job = "a", .key = {}, .on_duplicate = OnDuplicate::replace});
        s.expect_refused(step, "on_duplicate");
        s.expect_refused(step_of(s, {.job = "\xc1"}), "job");
        step = step_of(s, {.job = "a"});
        step.queue = "aux";
        s.expect_refused(step, "options");
        const std::string key{"\0 \xff:", 4};
        expect_equal(push(s, {.job = "a", .key = key}).outcome, pushed, "any bytes");
        expect_equal(push(s, {.job = "b", .key = key}).outcome, duplicate, "the same bytes");
    });
}

}  // namespace

void add_job_key_cases(StoreCases& add) {
    add_exclusion_cases(add);
    add_replacement_cases(add);
    add_keyed_lease_cases(add);
}

}  // namespace routemaster::testing
