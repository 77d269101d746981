#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/job_explanation.hpp"

namespace routemaster::testing {
namespace {

using Reason = JobExplanation::Reason;

std::optional<JobExplanation> find(const Scenario& s, JobId id) {
    return s.perform(ExplainJob{work_queue, id});
}

/// The explanation of a job, which must exist. Its status and queue must be equal to those of
/// `FindJob` and `CountJobs`.
JobExplanation explain(const Scenario& s, JobId id, Where at = Where::here()) {
    const auto found = find(s, id);
    expect(found.has_value(), "the job must have an explanation", at);
    expect(found->status == s.job(id), "the explanation must have the status of the job", at);
    expect(found->queue == s.queue(work_queue), "the explanation must have the status of the queue",
           at);
    return *found;
}

JobExplanation expect_text(const Scenario& s, JobId id, Reason reason, const std::string& text,
                           Where at = Where::here()) {
    const auto found = explain(s, id, at);
    expect_equal(to_string(found.reason()), to_string(reason), "reason of the explanation", at);
    expect_equal(to_text(found), text, "text of the explanation", at);
    return found;
}

void serve(const Scenario& s) {
    WorkerProfile profile{.queues = {work_queue}, .others = WorkerProfile::Others::handled};
    profile.silence = Duration{60'000};
    s.perform(Heartbeat{.worker = Scenario::worker(9),
                        .profile = std::make_shared<const WorkerProfile>(std::move(profile))});
}

JobOptions in_group(std::uint32_t concurrency) {
    JobOptions options;
    options.group = "g";
    options.concurrency = concurrency;
    return options;
}

}  // namespace

void add_explanation_cases(StoreCases& add) {
    add("a job gives the reason for its wait in every state", [](Scenario& s) {
        serve(s);
        const auto id =
            s.perform(PushJob{work_queue, "a", s.now() + Duration{500}, {.attempts_max = 2}}).id;
        expect_text(s, id, Reason::not_due, "it is not due yet for attempt 1 of 2");
        s.advance(Duration{500});
        expect_text(s, id, Reason::awaits_worker, "it is READY for attempt 1 of 2, and it is next");
        const auto other = s.push_with("b", {});
        expect_text(s, id, Reason::awaits_worker,
                    "it is READY for attempt 1 of 2, as is 1 other job of its queue");
        const auto third = s.push_with("c", {});
        expect_text(s, id, Reason::awaits_worker,
                    "it is READY for attempt 1 of 2, as are 2 other jobs of its queue");
        for (const auto each : {other, third}) s.perform(DeleteJob{work_queue, each});
        s.perform(PauseQueue{work_queue, true});
        expect_text(s, id, Reason::queue_paused, "its queue is paused");
        s.perform(PauseQueue{work_queue, false});
        const auto lease = s.take_work();
        const auto leased_at = s.now();
        s.advance(Duration{100});
        const auto leased = expect_text(
            s, id, Reason::leased, "worker " + std::string{Scenario::worker(1).text()} + " has it");
        expect(leased.leased_at == leased_at, "the explanation must have the time of the lease");
        expect(leased.heard_at == leased_at,
               "the explanation must have the time of the first heartbeat");
        s.perform(Heartbeat{Scenario::worker(1)});
        expect(explain(s, id).heard_at == s.now(),
               "the explanation must have the time of the last heartbeat");
        s.perform(CancelJob{work_queue, id});
        expect(to_text(explain(s, id)).ends_with(" has it, and is asked to stop"),
               "the text must mention the cancellation");
        s.perform(AckJob{lease});
        expect(!find(s, id), "a job that is done must have no explanation");
    });

    add("a failed job gives the reason for its wait, and for its burial", [](Scenario& s) {
        serve(s);
        const auto id = s.push_with("a", {.attempts_max = 2});
        s.perform(FailJob{s.take_work(), "broken", s.now() + Duration{1'000}});
        const auto waits =
            expect_text(s, id, Reason::not_due, "it is not due yet for attempt 2 of 2");
        expect(waits.status.run_at == s.now() + Duration{1'000},
               "the status must have the due time of the next attempt");
        s.advance(Duration{1'000});
        s.perform(FailJob{s.take_work(), "broken again", s.now()});
        expect_text(s, id, Reason::buried, "it was given up: broken again");
    });

    add("a job lists the jobs for which it waits", [](Scenario& s) {
        serve(s);
        const auto a = s.push_with("a", {});
        const auto b = s.push_with("b", {});
        PushJob push{work_queue, "c", s.now()};
        push.after = {a, b};
        const auto c = s.perform(std::move(push)).id;
        expect_text(
            s, c, Reason::awaits_jobs,
            "jobs " + std::to_string(a) + " and " + std::to_string(b) + " must be done before it");
        s.perform(AckJob{s.take_work()});
        expect_text(s, c, Reason::awaits_jobs,
                    "job " + std::to_string(b) + " must be done before it");
        s.perform(AckJob{s.take_work()});
        expect_text(s, c, Reason::awaits_worker, "it is READY for attempt 1 of 25, and it is next");
    });

    add("a job lists the BURIED jobs for which it waits", [](Scenario& s) {
        const auto a = s.push_with("a", {});
        const auto b = s.push_with("b", {});
        const auto c = s.push_with("c", {});
        PushJob push{work_queue, "d", s.now()};
        push.after = {a, b, c};
        const auto d = s.perform(std::move(push)).id;
        const auto bury = [&] { s.perform(FailJob{s.take_work(), "broken", s.now(), true}); };
        const auto waits = [&](const std::string& buried) {
            return "jobs " + std::to_string(a) + ", " + std::to_string(b) + " and " +
                   std::to_string(c) + " must be done before it, and " + buried + " BURIED";
        };
        bury();
        const auto one =
            expect_text(s, d, Reason::awaits_jobs, waits("job " + std::to_string(a) + " is"));
        expect(one.buried == std::vector<JobId>{a}, "BURIED jobs among the dependencies");
        bury();
        expect_text(s, d, Reason::awaits_jobs,
                    waits("jobs " + std::to_string(a) + " and " + std::to_string(b) + " are"));
        expect(explain(s, a).buried.empty(), "BURIED dependencies of a job without dependencies");
        s.perform(KickJobs{.queue = work_queue, .id = a});
        expect(explain(s, d).buried == std::vector<JobId>{b},
               "BURIED dependencies after one was kicked");
    });

    add("a job that waits in its group lists the earlier jobs of the group", [](Scenario& s) {
        serve(s);
        const auto first = s.push_with("a", in_group(2));
        const auto second = s.push_with("b", in_group(2));
        const auto third = s.push_with("c", in_group(2));
        const auto lease = s.take_work();
        const auto both = "jobs " + std::to_string(first) + " and " + std::to_string(second) +
                          " of its group 'g', of which 2 may be under way, are before it";
        const auto blocked = expect_text(s, third, Reason::group_is_full, both);
        expect(blocked.before == std::vector<JobId>{first, second}, "earlier jobs of the group");
        expect(explain(s, second).before.empty(), "earlier jobs of a job that may be acquired");
        // A failed job keeps its position in its group.
        s.perform(FailJob{lease, "broken", s.now() + Duration{1'000}});
        expect_text(s, third, Reason::group_is_full, both);
        s.perform(DeleteJob{work_queue, second});
        expect_equal(to_string(explain(s, third).reason()), to_string(Reason::awaits_worker),
                     "reason when the group is not full");
        s.push_with("d", in_group(1));
        expect_text(s, third, Reason::group_is_full,
                    "job " + std::to_string(first) +
                        " of its group 'g', of which 1 may be under way, is before it");
    });

    add("a job that waits for many jobs lists only the first of these jobs", [](Scenario& s) {
        std::vector<JobId> all;
        for (int i = 0; i < 20; ++i) {
            all.push_back(s.push_with("a" + std::to_string(i), in_group(15)));
        }
        all.resize(explained_jobs_max);
        const auto last = s.push_with("z", in_group(15));
        expect(explain(s, last).before == all, "first earlier jobs of the group");
    });

    add("a job that does not exist has no explanation", [](Scenario& s) {
        const auto id = s.push_with("a", {});
        expect(!find(s, id + 1), "an id that was never assigned must have no explanation");
        expect(!s.perform(ExplainJob{"other", id}),
               "the job must have no explanation in another queue");
        s.expect_refused(ExplainJob{delivery_queue, id}, "queue");
    });
}

}  // namespace routemaster::testing
