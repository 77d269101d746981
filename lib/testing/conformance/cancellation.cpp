#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;
using Fences = std::vector<std::uint64_t>;

Cancellation cancel(const Scenario& s, JobId id) { return s.perform(CancelJob{work_queue, id}); }

std::optional<std::int64_t> cancelled_jobs(const Scenario& s) {
    return s.counter({"jobs.cancelled", {{"queue", work_queue}}});
}

Fences heard(const Scenario& s, unsigned worker = 1) {
    return s.perform(Heartbeat{Scenario::worker(worker)}).cancelled;
}

}  // namespace

void add_cancellation_cases(StoreCases& add) {
    add("a job without a lease is deleted and counted when it is cancelled", [](Scenario& s) {
        const auto buried = s.push_with("buried", {});
        s.bury_next();
        const auto ready = s.push_with("ready", {.key = {.text = "k"}});
        const auto later = s.perform(PushJob{work_queue, "later", s.now() + Duration{9}}).id;
        for (const auto id : {buried, ready, later}) {
            expect_equal(cancel(s, id), Cancellation::cancelled, "reply to the cancellation");
            expect_equal(cancel(s, id), Cancellation::unknown, "reply to a second cancellation");
        }
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
        expect_equal(cancelled_jobs(s), std::optional<std::int64_t>{3}, "jobs cancelled");
        s.advance(Duration{9});
        s.expect_idle_until(never, work_queue);
        s.push_with("ready", {.key = {.text = "k"}});
        s.expect_refused(CancelJob{"aux", 1}, "queue");
    });

    add("a worker learns from heartbeats that its job was cancelled, until it settles the job",
        [](Scenario& s) {
            for (const char* name : {"a", "b", "c"}) s.push(name);
            const auto leases = s.acquire({.queue = work_queue}).leases;
            expect_equal(heard(s), Fences{}, "cancelled fences in the reply to a heartbeat");
            for (const std::size_t at : {2U, 0U}) {
                expect_equal(cancel(s, leases[at].id), Cancellation::requested,
                             "reply to the cancellation");
                expect_equal(cancel(s, leases[at].id), Cancellation::requested,
                             "reply to a second cancellation");
            }
            expect_equal(s.job(leases[0].id).cancelled, true,
                         "the cancelled job is marked as cancelled");
            expect_equal(s.job(leases[1].id).cancelled, false,
                         "the job beside it is marked as cancelled");
            expect_equal(s.job(leases[0].id).state, State::pending, "state of the cancelled job");
            const Fences both{leases[0].fence, leases[2].fence};
            expect_equal(heard(s), both, "cancelled fences in the reply to a heartbeat");
            expect_equal(heard(s), both, "cancelled fences in the reply to a second heartbeat");
            expect_equal(heard(s, 2), Fences{}, "cancelled fences in the reply to another worker");
            s.perform(AckJob{leases[0]});
            expect_equal(heard(s), Fences{leases[2].fence}, "cancelled fences after the first ack");
            s.perform(AckJob{leases[2]});
            expect_equal(heard(s), Fences{}, "cancelled fences after the second ack");
        });

    add("a cancelled job is done when it succeeds, and is deleted and counted when it fails",
        [](Scenario& s) {
            std::vector<JobId> ids;
            for (const char* name : {"acked", "failed", "buried", "nacked", "released"}) {
                ids.push_back(s.push_with(name, {.metadata = {{"name", name}}}));
            }
            const auto leases = s.acquire({.queue = work_queue}).leases;
            for (const auto id : ids) cancel(s, id);
            s.perform(AckJob{leases[0]});
            expect_equal(cancelled_jobs(s), std::optional<std::int64_t>{},
                         "jobs cancelled before a failure");
            const auto fail = [&](const Lease& lease, bool bury) {
                return s.perform(
                    FailJob{.lease = lease, .error = "x", .run_at = s.now(), .bury = bury});
            };
            expect_equal(fail(leases[1], false), Settlement::settled, "settlement of the failure");
            expect_equal(fail(leases[2], true), Settlement::settled,
                         "settlement of a permanent failure");
            expect_equal(s.perform(NackJob{leases[3], s.now()}), Settlement::settled,
                         "settlement of the nack");
            expect_equal(s.perform(ReleaseJob{leases[4], s.now() + Duration{5}}),
                         Settlement::settled, "settlement of the release");
            expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
            expect_equal(cancelled_jobs(s), std::optional<std::int64_t>{4},
                         "jobs cancelled by failures, a nack and a release");
            for (const auto& lease : leases) {
                expect_equal(s.perform(AckJob{lease}), Settlement::lease_lost,
                             "settlement of a second ack");
            }
            for (const auto id : ids)
                expect(!s.perform(FindJob{work_queue, id}), "the job no longer exists");
        });

    add("a cancelled job is deleted when its worker dies or retires", [](Scenario& s) {
        for (const char* name : {"a", "b"}) s.push(name);
        const auto dies = s.take_work(1);
        const auto retires = s.take_work(2);
        cancel(s, dies.id);
        cancel(s, retires.id);
        s.perform(RetireWorker{Scenario::worker(2)});
        expect_equal(s.queue(work_queue), QueueStatus{.pending = 1}, "jobs");
        s.advance(Duration{30'000});
        s.perform(ScrubWorkers{Duration{30'000}});
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs");
        expect_equal(cancelled_jobs(s), std::optional<std::int64_t>{2}, "jobs cancelled");
        expect_equal(s.push("a"), PushOutcome::pushed, "outcome of a push after the cancellation");
        expect_equal(s.perform(AckJob{dies}), Settlement::lease_lost, "settlement of the ack");
        expect_equal(heard(s), Fences{}, "cancelled fences in the reply to a heartbeat");
    });
}

}  // namespace routemaster::testing
