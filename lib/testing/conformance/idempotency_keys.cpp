#include <string>

#include "cases.hpp"

namespace routemaster::testing {
namespace {

constexpr auto pushed = PushOutcome::pushed;
constexpr auto duplicate = PushOutcome::duplicate;
/// Longer than any test run, because a Redis server also expires keys by its own clock.
constexpr Duration kept{3'600'000};

PushJob step_of(const Scenario& s, const std::string& job, const std::string& key = "k") {
    static int pushes = 0;
    PushJob step{work_queue, job, s.now()};
    step.options.key.text = "push " + std::to_string(++pushes);
    step.idempotency_key = {.text = key, .fingerprint = UINT64_MAX, .time = kept};
    return step;
}

Pushed push(const Scenario& s, const std::string& job, const std::string& key = "k") {
    return s.perform(step_of(s, job, key));
}

}  // namespace

void add_idempotency_key_cases(StoreCases& add) {
    add("repeating a push with its idempotency key changes nothing, whatever state the job has",
        [](Scenario& s) {
            const auto first = push(s, "a");
            expect_equal(first.outcome, pushed, "outcome of the first push");
            expect_equal(push(s, "a"), first, "reply to the repeated push while the job is READY");
            const auto lease = s.take_work();
            expect_equal(push(s, "a"), first,
                         "reply to the repeated push while the job is PENDING");
            s.perform(AckJob{lease});
            expect_equal(push(s, "a"), first, "reply to the repeated push after the job is done");
            expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
            const auto other = push(s, "b", "other");
            s.perform(DeleteJob{work_queue, other.id});
            expect_equal(push(s, "b", "other"), other,
                         "reply to the repeated push after the job was deleted");
            auto elsewhere = step_of(s, "a");
            elsewhere.queue = "other";
            expect_equal(s.perform(elsewhere).outcome, pushed,
                         "outcome of the push into another queue");
            expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
        });

    add("an idempotency key is kept for its time, counted from the push", [](Scenario& s) {
        const auto first = push(s, "a");
        s.perform(AckJob{s.take_work()});
        s.advance(kept - Duration{1});
        expect_equal(push(s, "a"), first,
                     "reply to the repeated push one millisecond before the key expires");
        s.advance(Duration{1});
        const auto next = push(s, "a");
        expect_equal(next.outcome, pushed,
                     "outcome of the repeated push after the key has expired");
        expect(next.id > first.id, "the push must get a new id");
        expect_equal(push(s, "a"), next, "reply to the repeated second push");
    });

    add("a push with the idempotency key of a different push is refused, and nothing changes",
        [](Scenario& s) {
            const auto first = push(s, "a");
            auto other = step_of(s, "b");
            other.idempotency_key.fingerprint = 7;
            s.expect_refused(other, "idempotency_key");
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 1}, "jobs");
            expect_equal(push(s, "a"), first, "reply to the repeated first push");
        });

    add("a push that was a duplicate stays a duplicate when repeated after the existing job is "
        "gone",
        [](Scenario& s) {
            PushJob plain{work_queue, "a", s.now()};
            const auto there = s.perform(plain);
            plain.idempotency_key = {.text = "k", .fingerprint = 1, .time = kept};
            const Pushed refused{duplicate, there.id};
            expect_equal(s.perform(plain), refused, "reply to the first push");
            s.perform(AckJob{s.take_work()});
            expect_equal(s.perform(plain), refused, "reply to the repeated push");
            expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
        });

    add("a refused push stores no idempotency key", [](Scenario& s) {
        auto step = step_of(s, "a");
        step.after = {JobId{1} << 40U};
        s.expect_refused(step, "after");
        step.after.clear();
        expect_equal(s.perform(step).outcome, pushed, "outcome of the corrected push");
    });

    add("idempotency keys are limited in length and time, and refused in Ruby Routemaster's queues",
        [](Scenario& s) {
            s.expect_refused(step_of(s, "a", std::string(idempotency_key_max + 1, 'k')),
                             "idempotency_key");
            auto step = step_of(s, "a");
            step.idempotency_key.time = idempotency_time_max + Duration{1};
            s.expect_refused(step, "idempotency_time");
            step.idempotency_key.time = Duration{-1};
            s.expect_refused(step, "idempotency_time");
            PushJob ruby{"aux", "a", s.now()};
            ruby.idempotency_key.text = "k";
            s.expect_refused(ruby, "idempotency_key");
            s.push("a");
            CompleteJob nested{.lease = s.take_work(), .pushes = {step_of(s, "a")}};
            s.expect_refused(nested, "pushes[0]: idempotency_key");
        });
}

}  // namespace routemaster::testing
