#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"

namespace routemaster::testing {
namespace {

void expect_lost(Scenario& s, const Lease& lease, Where at = Where::here()) {
    const auto before = s.snapshot();
    expect_equal(s.perform(AckJob{lease}), Settlement::lease_lost, "settlement of the ack", at);
    expect_equal(s.perform(NackJob{lease, s.now()}), Settlement::lease_lost,
                 "settlement of the nack", at);
    expect_equal(s.begin(lease, 0, at).verdict, Verdict::lease_lost, "verdict of the attempt", at);
    for (const bool delivered : {true, false}) {
        const Attempt attempt{.delivered = delivered, .health_change = -5};
        expect_equal(s.settle(lease, attempt, at), Settlement::lease_lost,
                     "settlement of the delivery", at);
    }
    expect_unchanged(s.snapshot(), before, at);
}

}  // namespace

void add_lease_cases(StoreCases& add) {
    add("a lease ends with the ack or the nack of its job", [](Scenario& s) {
        s.push("a");
        s.push("b");
        const auto leases = s.acquire({.queue = work_queue}).leases;
        expect_equal(s.perform(AckJob{leases[0]}), Settlement::settled, "settlement of the ack");
        expect_equal(s.perform(NackJob{leases[1], s.now() + Duration{9}}), Settlement::settled,
                     "settlement of the nack");
        for (const auto& lease : leases) expect_lost(s, lease);
    });

    add("a settlement with a lease that was never granted returns lost", [](Scenario& s) {
        s.push("a");
        s.push("b");
        const auto lease = s.take_work();
        auto forged = lease;
        ++forged.fence;
        expect_lost(s, forged);
        forged = lease;
        forged.worker = Scenario::worker(2);
        expect_lost(s, forged);
        forged = lease;
        forged.job = "b";
        expect_lost(s, forged);
        forged = lease;
        forged.queue = "other";
        expect_lost(s, forged);
        forged = {};
        forged.queue = work_queue;
        expect_lost(s, forged);
        expect_equal(s.perform(AckJob{lease}), Settlement::settled,
                     "settlement of an ack with the valid lease");
    });

    add("a lease does not settle an equal job with a different id", [](Scenario& s) {
        PushJob keyed{work_queue, "same", s.now()};
        s.perform(keyed);
        for (const char* key : {"1", "2"}) {
            keyed.options.key.text = key;
            s.perform(keyed);
        }
        const auto leases = s.acquire({.queue = work_queue}).leases;
        expect_equal(leases.size(), 3U, "jobs acquired");
        const auto before = s.snapshot();
        for (std::size_t i = 0; i < leases.size(); ++i) {
            auto mixed = leases[i];
            mixed.id = leases[(i + 1) % leases.size()].id;
            const auto lost = Settlement::lease_lost;
            expect_equal(s.perform(AckJob{mixed}), lost, "settlement of the ack");
            expect_equal(s.perform(CompleteJob{.lease = mixed}).settlement, lost,
                         "settlement of the completion");
            expect_equal(s.perform(NackJob{mixed, s.now()}), lost, "settlement of the nack");
            expect_equal(s.perform(ReleaseJob{mixed, s.now()}), lost, "settlement of the release");
            for (const bool bury : {false, true}) {
                const FailJob step{.lease = mixed, .error = "x", .run_at = s.now(), .bury = bury};
                expect_equal(s.perform(step), lost, "settlement of the failure");
            }
        }
        expect_unchanged(s.snapshot(), before, Where::here());
        auto unnamed = leases[1];
        unnamed.id = 0;
        for (const auto& lease : {leases[0], unnamed, leases[2]}) {
            expect_equal(s.perform(AckJob{lease}), Settlement::settled,
                         "settlement of an ack with the valid lease");
        }
    });

    add("a worker declared dead cannot settle the job that another worker has", [](Scenario& s) {
        s.push("a");
        const auto dead = s.take_work(1);
        s.advance(Duration{30'000});
        expect_equal(s.perform(ScrubWorkers{Duration{30'000}}), ReleasedJobs{1}, "jobs released");
        expect_lost(s, dead);
        const auto successor = s.take_work(2);
        expect_lost(s, dead);
        expect_equal(s.perform(AckJob{successor}), Settlement::settled,
                     "settlement of an ack by the new worker");
        expect_lost(s, dead);
    });

    add("a worker cannot settle with an old lease after it leased the job again", [](Scenario& s) {
        s.push("a");
        const auto old = s.take_work(1);
        s.advance(Duration{30'000});
        s.perform(ScrubWorkers{Duration{30'000}});
        const auto fresh = s.take_work(1);
        expect_lost(s, old);
        expect_equal(s.perform(NackJob{fresh, s.now()}), Settlement::settled,
                     "settlement of the nack");
        const auto again = s.take_work(1);
        expect_lost(s, old);
        expect_lost(s, fresh);
        expect_equal(s.perform(AckJob{again}), Settlement::settled, "settlement of the ack");
    });

    add("a worker that was declared dead cannot settle its delivery", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        s.publish("orders");
        const auto [dead, first] = s.begin_next(1);
        s.advance(Duration{30'000});
        s.perform(ScrubWorkers{Duration{30'000}});
        expect_lost(s, dead);
        const auto [successor, second] = s.begin_next(2);
        expect_equal(second.attempt, 2U, "attempt of the new worker");
        expect_lost(s, dead);
        expect_equal(s.settle(successor), Settlement::settled, "settlement by the new worker");
        expect_lost(s, dead);
    });
}

void add_lost_reply_cases(StoreCases& add) {
    add("leases whose reply was lost come with the worker's next acquisition", [](Scenario& s) {
        for (const char* job : {"a", "b", "c", "d"}) s.push(job);
        AcquireJobs step{.queue = work_queue, .worker = Scenario::worker(1), .known = 0};
        const auto returned = s.perform(step).leases;
        expect_equal(returned.size(), 1U, "leases in the first reply");
        step.known = returned.front().fence;
        step.limit = 2;
        const auto lost = s.perform(step).leases;
        expect_equal(lost.size(), 2U, "leases in the lost reply");
        expect_equal(s.perform(step).leases, lost, "leases in the next reply");
        step.limit = 3;
        const auto more = s.perform(step).leases;
        expect_equal(more.size(), 3U, "leases in a reply with room for one more");
        expect_equal(std::vector<Lease>(more.begin(), more.end() - 1), lost,
                     "first leases of this reply");
        expect_equal(s.queue(work_queue), QueueStatus{.pending = 4}, "jobs");
        for (const auto& lease : more) {
            expect_equal(s.perform(AckJob{lease}), Settlement::settled, "settlement of the ack");
        }
        expect_equal(s.perform(step).leases, std::vector<Lease>{}, "leases after the acks");
    });

    add("a worker never gets a fence (lease number) twice, even after the store lost its newest "
        "data",
        [](Scenario& s) {
            s.push("a");
            s.push("b");
            AcquireJobs step{.queue = work_queue, .worker = Scenario::worker(1)};
            step.newest = 1'000;
            const auto first = s.perform(step).leases;
            expect_equal(first.size(), 1U, "number of leases");
            expect_equal(first[0].fence, std::uint64_t{1'001}, "fence of the first lease");
            // The next fence must be greater, although worker 2 has not seen this fence.
            expect_equal(s.take_work(2).fence, std::uint64_t{1'002}, "fence of the next lease");
            expect_equal(s.perform(AckJob{first[0]}), Settlement::settled, "settlement of the ack");
            step.newest = std::uint64_t{1} << 53U;
            s.expect_refused(step, "newest");
        });

    add("leases whose reply was lost are returned only to their worker, and only for their queue",
        [](Scenario& s) {
            s.push("a");
            s.take_work(1);
            const AcquireJobs other{.queue = work_queue, .worker = Scenario::worker(2), .known = 0};
            expect_equal(s.perform(other).leases, std::vector<Lease>{},
                         "leases returned to another worker");
            const AcquireJobs elsewhere{
                .queue = "other", .worker = Scenario::worker(1), .known = 0};
            expect_equal(s.perform(elsewhere).leases, std::vector<Lease>{},
                         "leases returned for another queue");
            const AcquireJobs unasked{.queue = work_queue, .worker = Scenario::worker(1)};
            expect_equal(s.perform(unasked).leases, std::vector<Lease>{},
                         "leases returned without a request");
        });
}

void add_worker_cases(StoreCases& add) {
    add("a retiring worker releases its jobs at once", [](Scenario& s) {
        for (const char* job : {"a", "b", "c"}) s.push(job);
        const auto leases = s.acquire({.worker = 1, .limit = 2, .queue = work_queue}).leases;
        const auto other = s.take_work(2);
        expect_equal(s.perform(RetireWorker{Scenario::worker(1)}), ReleasedJobs{2},
                     "jobs released");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .pending = 1}, "jobs");
        for (const auto& lease : leases) expect_lost(s, lease);
        expect_equal(s.perform(RetireWorker{Scenario::worker(1)}), ReleasedJobs{0},
                     "jobs released by a second retirement");
        expect_equal(s.perform(AckJob{other}), Settlement::settled,
                     "settlement of an ack by another worker");
        expect_equal(s.acquire({.worker = 2, .queue = work_queue}).leases.size(), 2U,
                     "jobs acquired");
        expect_equal(s.counter({"jobs.scrubbed", {{"queue", work_queue}}}),
                     std::optional<std::int64_t>{}, "jobs.scrubbed");
    });

    add("released jobs return in the order of their acquisition", [](Scenario& s) {
        for (const char* job : {"a", "b", "c"}) s.push(job);
        const auto leased = s.acquire({.worker = 1, .limit = 3, .queue = work_queue}).leases;
        s.perform(RetireWorker{Scenario::worker(1)});
        for (const auto& lease : leased) {
            expect_equal(s.take_work(2).job, lease.job, "next job acquired");
        }
    });

    add("a retiring worker releases very many jobs in several steps", [](Scenario& s) {
        const auto lease_all = [&](unsigned worker) {
            for (std::uint64_t i = 0; i < released_max + 2; ++i) s.push(std::to_string(i));
            std::size_t leased = 0;
            while (leased < released_max + 2) {
                leased += s.acquire({.worker = worker, .limit = 1'000, .queue = work_queue})
                              .leases.size();
            }
        };
        lease_all(1);
        const RetireWorker retire{Scenario::worker(1)};
        expect_equal(s.perform(retire), ReleasedJobs{released_max, true},
                     "jobs released by the first retirement");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = released_max, .pending = 2}, "jobs");
        expect_equal(s.perform(retire), ReleasedJobs{2}, "jobs released by the second retirement");
        expect_equal(s.perform(retire), ReleasedJobs{0}, "jobs released by the third retirement");
        for (std::uint64_t i = 0; i < released_max + 2; ++i) {
            expect_equal(s.perform(AckJob{s.take_work(2)}), Settlement::settled,
                         "settlement of the ack");
        }

        lease_all(3);
        s.advance(Duration{30'000});
        const ScrubWorkers scrub{Duration{30'000}};
        expect_equal(s.perform(scrub), ReleasedJobs{released_max, true},
                     "jobs released by the first scrub");
        expect_equal(s.counter({"workers.scrubbed", {}}).value_or(0), std::int64_t{1}, "workers");
        expect_equal(s.perform(scrub), ReleasedJobs{2}, "jobs released by the second scrub");
        expect_equal(s.perform(scrub), ReleasedJobs{0}, "jobs released by the third scrub");
        expect_equal(s.counter({"workers.scrubbed", {}}).value_or(0), std::int64_t{2}, "workers");
        expect_equal(s.counter({"jobs.scrubbed", {{"queue", work_queue}}}).value_or(0),
                     static_cast<std::int64_t>(released_max + 2), "jobs.scrubbed");
    });

    add("a worker is declared dead after the allowed silence, and not one millisecond sooner",
        [](Scenario& s) {
            s.push("a");
            s.take_work();
            s.advance(Duration{29'999});
            expect_equal(s.perform(ScrubWorkers{Duration{30'000}}), ReleasedJobs{0},
                         "jobs released one millisecond before the time limit");
            expect_equal(s.queue(work_queue), QueueStatus{.pending = 1}, "jobs");
            s.advance(Duration{1});
            expect_equal(s.perform(ScrubWorkers{Duration{30'000}}), ReleasedJobs{1},
                         "jobs released at the time limit");
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 1}, "jobs");
            expect_equal(s.perform(ScrubWorkers{Duration{30'000}}), ReleasedJobs{0},
                         "jobs released by one more scrub");
        });

    add("after a gap without dead-worker checks, workers get one grace period", [](Scenario& s) {
        const auto expect_released = [&](Duration later, std::uint64_t jobs,
                                         Where at = Where::here()) {
            s.advance(later);
            const auto released = s.perform(ScrubWorkers{Duration{4'000}}, at).jobs;
            expect_equal(released, jobs, "jobs released", at);
        };
        s.push("a");
        s.take_work();
        expect_released(Duration{0}, 0);
        expect_released(Duration{60'000}, 0);
        expect_released(Duration{1'999}, 0);
        expect_released(Duration{1'999}, 0);
        expect_released(Duration{2}, 1);
        // A worker that always scrubs late must still find dead workers.
        s.take_work();
        expect_released(Duration{4'000}, 0);
        expect_released(Duration{4'000}, 1);
        // After a heartbeat, a worker gets a new grace period. During this period, a job leased by
        // two dead workers waits.
        s.push("c");
        s.take_work();
        expect_released(Duration{4'000}, 0);
        s.advance(Duration{1});
        s.perform(Heartbeat{Scenario::worker(1)});
        expect_released(Duration{4'000}, 0);
        expect_released(Duration{4'000}, 1);
        // The silence of each worker is measured from its own last sign of life.
        s.push("b");
        s.take_work(1);
        s.advance(Duration{3'000});
        s.take_work(2);
        expect_released(Duration{1'000}, 0);
        expect_released(Duration{1'500}, 0);
        expect_released(Duration{1'500}, 1);
        expect_released(Duration{1'000}, 1);
    });

    add("half of the allowed silence without dead-worker checks is a gap", [](Scenario& s) {
        const auto expect_released = [&](Duration later, std::uint64_t jobs,
                                         Where at = Where::here()) {
            s.advance(later);
            const auto released = s.perform(ScrubWorkers{Duration{4'000}}, at).jobs;
            expect_equal(released, jobs, "jobs released", at);
        };
        s.push("a");
        s.take_work();
        expect_released(Duration{0}, 0);
        expect_released(Duration{2'000}, 0);
        expect_released(Duration{2'000}, 0);
        for (int i = 0; i < 3; ++i) expect_released(Duration{1'000}, 0);
        expect_released(Duration{1'000}, 1);
    });

    add("heartbeats and acquisitions keep a worker alive", [](Scenario& s) {
        s.push("a");
        const auto lease = s.take_work();
        for (int i = 0; i < 6; ++i) {
            s.advance(Duration{20'000});
            if (i < 3) {
                s.perform(Heartbeat{Scenario::worker(1)});
            } else {
                s.expect_idle_until(never, work_queue);
            }
            expect_equal(s.perform(ScrubWorkers{Duration{30'000}}), ReleasedJobs{0},
                         "jobs released");
        }
        expect_equal(s.perform(AckJob{lease}), Settlement::settled, "settlement of the ack");
    });

    add("when the clock is set back, the silence of a worker counts from the new time",
        [](Scenario& s) {
            s.push("a");
            s.take_work();
            s.advance(Duration{-3'600'000});
            for (int i = 0; i < 3; ++i) {
                expect_equal(s.perform(ScrubWorkers{Duration{30'000}}), ReleasedJobs{0},
                             "jobs released");
                s.advance(Duration{10'000});
            }
            expect_equal(s.perform(ScrubWorkers{Duration{30'000}}), ReleasedJobs{1},
                         "jobs released");
        });

    add("a heartbeat keeps only its own worker alive", [](Scenario& s) {
        s.push("a");
        s.push("b");
        const auto dead = s.take_work(1);
        const auto living = s.take_work(2);
        s.advance(Duration{30'000});
        s.perform(Heartbeat{Scenario::worker(2)});
        expect_equal(s.perform(ScrubWorkers{Duration{30'000}}), ReleasedJobs{1}, "jobs released");
        expect_lost(s, dead);
        expect_equal(s.perform(AckJob{living}), Settlement::settled,
                     "settlement of an ack by the live worker");
    });

    add("a heartbeat of a worker declared dead does not restore its leases", [](Scenario& s) {
        s.push("a");
        const auto lease = s.take_work();
        s.advance(Duration{30'000});
        s.perform(ScrubWorkers{Duration{30'000}});
        s.perform(Heartbeat{Scenario::worker(1)});
        expect_lost(s, lease);
    });

    add("a search for dead workers releases and counts their jobs in every queue", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        s.publish("orders");
        for (const char* job : {"a", "b", "c"}) s.push(job);
        s.acquire({.worker = 1, .limit = 2, .queue = work_queue});
        s.acquire({.worker = 2, .queue = work_queue});
        s.begin_next(2);
        s.perform(Heartbeat{Scenario::worker(3)});
        s.advance(Duration{30'000});
        expect_equal(s.perform(ScrubWorkers{Duration{30'000}}), ReleasedJobs{4}, "jobs released");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 3}, "jobs");
        expect_equal(s.queue(delivery_queue), QueueStatus{.ready = 1}, "delivery jobs");
        expect_equal(s.counter({"jobs.scrubbed", {{"queue", work_queue}}}), std::optional{3},
                     "jobs.scrubbed");
        expect_equal(s.counter({"jobs.scrubbed", {{"queue", delivery_queue}}}), std::optional{1},
                     "counter jobs.scrubbed of deliveries");
        expect_equal(s.counter({"workers.scrubbed", {}}), std::optional{3}, "workers.scrubbed");
    });
}

}  // namespace routemaster::testing
