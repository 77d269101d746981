#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/job_status.hpp"
#include "threads.hpp"

namespace routemaster::testing {
namespace {

PushJob push_of(const Scenario& s, const std::string& job, const std::string& queue = work_queue) {
    return {queue, job, s.now()};
}

PushJob push_with_key(const Scenario& s, const std::string& job, const JobKey& key) {
    auto push = push_of(s, job);
    push.options.key = key;
    return push;
}

std::vector<Pushed> complete_next(const Scenario& s, std::vector<PushJob> pushes,
                                  Where at = Where::here()) {
    const auto count = pushes.size();
    const auto completed = s.perform(CompleteJob{s.take_work(1, at), std::move(pushes), {}}, at);
    expect_equal(completed.settlement, Settlement::settled, "settlement of the completed job", at);
    expect_equal(completed.pushed.size(), count, "replies to the pushes", at);
    return completed.pushed;
}

void add_together_cases(StoreCases& add) {
    add("the step that ends a job adds its follow-up jobs and events", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        const auto done = s.push_with("done", {});
        auto later = push_of(s, "later");
        later.run_at = s.now() + Duration{1'000};
        auto own = push_of(s, "own", "other");
        own.options = {.attempts_max = 3, .timeout = Duration{7}, .metadata = {{"trace", "1"}}};
        const auto lease = s.take_work();
        const auto completed = s.perform(
            CompleteJob{lease,
                        {push_of(s, "now"), later, own},
                        {s.publication("orders", "first"), s.publication("orders", "second")}});
        expect_equal(completed.settlement, Settlement::settled, "settlement of the completed job");
        expect_equal(completed.pushed.size(), 3U, "replies to the pushes");
        expect(!s.perform(FindJob{work_queue, done}).has_value(),
               "the completed job no longer exists");
        expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 1, .ready = 1}, "jobs");
        const auto found = s.perform(FindJob{"other", completed.pushed[2].id});
        expect(found.has_value(), "the job pushed into another queue exists");
        expect_equal(found->options, own.options, "options of the pushed job");
        expect_equal(s.take_work().id, completed.pushed[0].id,
                     "id of the job that is READY at once");
        s.advance(Duration{1'000});
        expect_equal(s.take_work().id, completed.pushed[1].id, "id of the job that was SCHEDULED");
        s.expect_delivered("billing", {{"first", "second"}});
    });

    add("jobs in Ruby Routemaster's queues can be follow-up jobs, and can have follow-up jobs",
        [](Scenario& s) {
            s.push("a");
            const auto pushed = complete_next(
                s, {push_of(s, "b", "aux"), push_of(s, "b", "aux"), push_of(s, "c", "aux")});
            const std::vector<Pushed> expected{{}, {PushOutcome::duplicate, 0}, {}};
            expect_equal(pushed, expected, "replies to the pushes");
            const CompleteJob step{s.take({.queue = "aux"}), {push_of(s, "d")}, {}};
            expect_equal(s.perform(step).settlement, Settlement::settled,
                         "settlement of the job in Ruby's queue");
            expect_equal(s.queue("aux"), QueueStatus{.ready = 1}, "jobs in Ruby's queue");
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 1}, "jobs");
        });

    add("CompleteJob without follow-up jobs and events has the effect of AckJob", [](Scenario& s) {
        s.push("a");
        expect_equal(complete_next(s, {}), std::vector<Pushed>{}, "replies to the pushes");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
    });

    add("follow-up events begin and fill batches like published events", [](Scenario& s) {
        s.subscribe("billing", {"orders", "refunds"}, {.timeout = Duration{500}, .max_events = 2});
        s.subscribe("audit", {"orders"}, {.timeout = Duration{500}});
        s.publish("orders");
        s.push("a");
        CompleteJob step{s.take_work()};
        for (const char* event : {"b", "c", "d"}) {
            step.publications.push_back(s.publication("orders", event));
        }
        step.publications.push_back(s.publication("refunds", "e"));
        s.perform(step);
        s.expect_delivered("billing", {{"orders 1", "b"}, {"c", "d"}});
        s.expect_delivered("audit", {});
        s.advance(Duration{500});
        s.expect_delivered("billing", {{"e"}});
        s.expect_delivered("audit", {{"orders 1", "b", "c", "d"}});
        expect_equal(s.topics().at(0).events, 4U, "events of the topic");
    });

    add("a follow-up job wakes a worker", [](Scenario& s) {
        s.push("a");
        const auto lease = s.take_work();
        Signal signal;
        const auto watch = s.store().watch("other", [&] { signal.raise(); });
        expect(s.acquire({.worker = 9, .queue = "other"}).leases.empty(),
               "no job exists before the completion");
        const auto seen = signal.count();
        s.perform(CompleteJob{lease, {push_of(s, "b", "other")}, {}});
        expect(signal.wait_beyond(seen, s.traits().timeout), "the pushed job must wake a worker");
    });
}

void add_follow_up_exclusion_cases(StoreCases& add) {
    add("a follow-up job may equal the completed job, or have its key", [](Scenario& s) {
        const auto first = s.push_with("again", {});
        const auto again = complete_next(s, {push_of(s, "again")}).at(0);
        expect_equal(again.outcome, PushOutcome::pushed, "outcome of a push of an equal job");
        expect(again.id > first, "the pushed job must get a new id");

        const JobKey key{.text = "k", .scope = KeyScope::until_done};
        complete_next(s, {push_with_key(s, "keyed", key)});
        const auto keyed = complete_next(s, {push_with_key(s, "keyed", key)}).at(0);
        expect_equal(keyed.outcome, PushOutcome::pushed,
                     "outcome of a push with the key of the completed job");

        const JobKey lasting{
            .text = "l", .scope = KeyScope::for_time, .until = s.now() + Duration{1'000}};
        complete_next(s, {push_with_key(s, "lasting", lasting)});
        expect_equal(complete_next(s, {push_with_key(s, "lasting", lasting)}).at(0),
                     Pushed{PushOutcome::duplicate, 0},
                     "outcome of a push while the key still excludes jobs");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
    });

    add("an existing job equal to a follow-up job is kept, and the remaining follow-ups are "
        "performed",
        [](Scenario& s) {
            s.push("done");
            const auto there = s.perform(PushJob{work_queue, "there", s.now() + Duration{9}});
            const JobKey key{.text = "k"};
            const auto pushed =
                complete_next(s, {push_of(s, "there"), push_of(s, "new"), push_of(s, "new"),
                                  push_with_key(s, "new", key), push_with_key(s, "newer", key),
                                  push_of(s, "new", "other")});
            const Pushed duplicate{PushOutcome::duplicate, there.id};
            expect_equal(pushed[0], duplicate, "reply to a push of an existing job");
            expect_equal(pushed[1].outcome, PushOutcome::pushed, "outcome of a push of a new job");
            expect_equal(pushed[2], Pushed{PushOutcome::duplicate, pushed[1].id},
                         "reply to an equal push in the same step");
            expect_equal(pushed[3].outcome, PushOutcome::pushed,
                         "outcome of a push with a new key");
            expect_equal(pushed[4], Pushed{PushOutcome::duplicate, pushed[3].id},
                         "reply to a second push with the key");
            expect_equal(pushed[5].outcome, PushOutcome::pushed,
                         "outcome of a push into another queue");
            expect_equal(s.queue(work_queue), QueueStatus{.scheduled = 1, .ready = 2}, "jobs");
        });

    add("a follow-up job replaces the waiting job with its key", [](Scenario& s) {
        const auto waits = s.perform(push_with_key(s, "old", {.text = "k"}));
        s.push("done");
        const auto lease = s.acquire({.worker = 2, .limit = 1, .queue = work_queue}).leases.at(0);
        s.perform(ReleaseJob{lease, s.now() + Duration{9}});
        auto newer = push_with_key(s, "newer", {.text = "k"});
        newer.on_duplicate = OnDuplicate::replace;
        const auto pushed = complete_next(s, {newer}).at(0);
        expect_equal(pushed, Pushed{PushOutcome::replaced, waits.id},
                     "reply to the replacing push");
        expect_equal(s.job(waits.id).job, std::string{"newer"},
                     "encoded job after the replacement");
    });
}

void add_follow_up_refusal_cases(StoreCases& add) {
    add("a completion with a lost lease adds no follow-up jobs and events", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.push("a");
        const CompleteJob zombie{
            s.take_work(1), {push_of(s, "b")}, {s.publication("orders", "event")}};
        s.advance(Duration{30'000});
        s.perform(ScrubWorkers{Duration{30'000}});
        const auto before = s.snapshot();
        expect_equal(s.perform(zombie), Completed{Settlement::lease_lost, {}},
                     "reply to a completion with a lost lease of a READY job");
        expect_unchanged(s.snapshot(), before);
        const auto lease = s.take_work(2);
        const auto taken = s.snapshot();
        expect_equal(s.perform(zombie), Completed{Settlement::lease_lost, {}},
                     "reply to a completion with a lost lease of a PENDING job");
        expect_unchanged(s.snapshot(), taken);
        expect_equal(s.perform(AckJob{lease}), Settlement::settled, "settlement by the new worker");
    });

    add("repeating a completion whose reply was lost adds nothing twice", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.push("a");
        const CompleteJob step{
            s.take_work(), {push_of(s, "a")}, {s.publication("orders", "event")}};
        s.perform(step);
        const auto before = s.snapshot();
        expect_equal(s.perform(step), Completed{Settlement::lease_lost, {}},
                     "reply to the repeated completion");
        expect_unchanged(s.snapshot(), before);
    });

    add("a completion whose event may not be published leaves the lease valid", [](Scenario& s) {
        s.subscribe("billing", {"orders", "mine", "free"});
        s.publish("orders");
        s.perform(PutToken{"known", "known"});
        s.push("a");
        const auto lease = s.take_work();
        const auto by = [&](const char* topic, const char* publisher) {
            return s.publication(topic, "event", {.publisher = publisher});
        };
        const auto refuse = [&](Errc code, std::vector<PublishEvent> publications,
                                const std::string& field, Where at = Where::here()) {
            s.expect_error(code, CompleteJob{lease, {push_of(s, "b")}, std::move(publications)},
                           field, at);
        };
        refuse(Errc::forbidden, {by("mine", "other"), by("orders", "other")}, "publications[1]");
        refuse(Errc::forbidden, {by("mine", "one"), by("mine", "other")}, "publications[1]");
        auto nobody = by("mine", "one");
        nobody.publisher.reset();
        refuse(Errc::forbidden, {by("mine", "one"), nobody}, "publications[1]");

        auto first = by("mine", "one");
        auto second = by("free", "one");
        first.topics_max = second.topics_max = 1;
        refuse(Errc::limit_exceeded, {first, second}, "publications[1]");
        auto stranger = by("mine", "stranger");
        stranger.authenticate = true;
        refuse(Errc::unauthenticated, {stranger}, "publications[0]");

        auto known = by("free", "known");
        known.authenticate = true;
        const auto completed =
            s.perform(CompleteJob{lease, {push_of(s, "b")}, {first, first, known, known}});
        expect_equal(completed.settlement, Settlement::settled,
                     "settlement of a completion with allowed events");
        expect_equal(s.topics().size(), 3U, "topics");
    });

    add("an invalid completion of a job is refused and changes nothing", [](Scenario& s) {
        s.push("a");
        const auto lease = s.take_work();
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        s.publish("orders");
        const auto refuse = [&](CompleteJob step, const char* field, Where at = Where::here()) {
            s.expect_refused(std::move(step), field, at);
        };
        const auto good = push_of(s, "b");
        refuse({lease, {good, push_of(s, "", "other")}, {}}, "pushes[1]");
        refuse({lease, {good, push_of(s, "b", "no queue")}, {}}, "pushes[1]");
        refuse({lease, {push_of(s, "b", delivery_queue)}, {}}, "pushes[0]");
        auto options = push_of(s, "b", "aux");
        options.options.attempts_max = 1;
        refuse({lease, {options}, {}}, "pushes[0]");
        refuse({lease, {good}, {s.publication("No Topic", "event")}}, "publications[0]");
        refuse(
            {lease, std::vector<PushJob>(follow_ups_max, good), {s.publication("orders", "event")}},
            "follow-ups");
        const std::string half(follow_up_bytes_max / 2, 'x');
        refuse({lease, {push_of(s, half), push_of(s, half + "x")}, {}}, "follow-ups");
        auto nowhere = lease;
        nowhere.queue = "no queue";
        refuse({nowhere, {good}, {}}, "queue");
        refuse({s.take(), {good}, {}}, "lease");
        expect_equal(s.perform(AckJob{lease}), Settlement::settled,
                     "settlement of the valid lease");
    });

    add("follow-up jobs and events of a job are limited in number and in bytes", [](Scenario& s) {
        s.push("a");
        std::vector<PushJob> pushes;
        const std::string bytes(follow_up_bytes_max / follow_ups_max - 4, 'x');
        for (std::size_t i = 0; i < follow_ups_max; ++i) {
            pushes.push_back(push_of(s, bytes + std::to_string(1'000 + i)));
        }
        JobId last = 0;
        for (const auto& pushed : complete_next(s, pushes)) {
            expect_equal(pushed.outcome, PushOutcome::pushed, "outcome of each push");
            expect(pushed.id > last, "each push must return a larger id than the push before");
            last = pushed.id;
        }
        expect_equal(s.queue(work_queue), QueueStatus{.ready = follow_ups_max}, "jobs");
    });
}

}  // namespace

void add_follow_up_cases(StoreCases& add) {
    add_together_cases(add);
    add_follow_up_exclusion_cases(add);
    add_follow_up_refusal_cases(add);

    add("competing workers add follow-up jobs exactly once for each job that is done",
        [](Scenario& s) {
            constexpr unsigned threads = 8;
            constexpr unsigned jobs = 100;
            s.subscribe("billing", {"orders"}, {.timeout = Duration{0}, .max_events = 1'000});
            for (unsigned i = 0; i < jobs; ++i) s.push(std::to_string(i));
            std::vector<std::vector<CompleteJob>> steps(threads);
            for (;;) {
                const auto leases = s.acquire({.limit = 10, .queue = work_queue}).leases;
                if (leases.empty()) break;
                // Each of the threads tries to complete each job.
                for (const auto& lease : leases) {
                    for (auto& mine : steps) {
                        mine.push_back({lease,
                                        {push_of(s, lease.job, "done")},
                                        {s.publication("orders", lease.job)}});
                    }
                }
            }
            std::vector<unsigned> settled(threads);
            in_threads(threads, [&](unsigned thread) {
                for (const auto& step : steps[thread]) {
                    const auto settlement = s.perform(step).settlement;
                    if (settlement == Settlement::settled) ++settled[thread];
                }
            });
            unsigned total = 0;
            for (const auto mine : settled) total += mine;
            expect_equal(total, jobs, "jobs completed by all workers");
            expect_equal(s.queue("done"), QueueStatus{.ready = jobs}, "jobs pushed as follow-ups");
            s.drain();
            std::map<std::string, unsigned> events;
            for (const auto& batch : s.take_delivered("billing")) {
                for (const auto& event : batch) ++events[event];
            }
            expect_equal(events.size(), jobs, "different events delivered");
            for (const auto& [event, count] : events)
                expect_equal(count, 1U, "events published for each job");
        });
}

}  // namespace routemaster::testing
