#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cases.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

Settlement fail_next(Scenario& s, const std::string& error = "broken") {
    return s.perform(FailJob{.lease = s.take_work(), .error = error, .run_at = s.now()});
}

}  // namespace

void add_attempt_cases(StoreCases& add) {
    add("every job gets its own id, and a duplicate push returns the id of the existing job",
        [](Scenario& s) {
            const auto first = s.perform(PushJob{work_queue, "a", s.now()});
            const auto other = s.perform(PushJob{"other", "a", s.now()});
            expect(first.id != 0 && other.id > first.id,
                   "each push must return a larger id than the push before");
            expect_equal(s.perform(PushJob{work_queue, "a", s.now()}),
                         Pushed{PushOutcome::duplicate, first.id},
                         "reply to an equal push while the job is READY");
            s.perform(AckJob{s.take_work()});
            const auto again = s.perform(PushJob{work_queue, "a", s.now()});
            expect(again.id > other.id, "a push after the job is done must return a new id");
            const auto lease = s.take_work();
            expect_equal(lease.id, again.id, "id of the lease");
            expect_equal(s.perform(PushJob{work_queue, "a", s.now()}),
                         Pushed{PushOutcome::duplicate, again.id},
                         "reply to an equal push while the job is PENDING");
        });

    add("jobs in Ruby Routemaster's queues have no ids, no options, and no count of attempts",
        [](Scenario& s) {
            expect_equal(s.perform(PushJob{"aux", "a", s.now()}), Pushed{}, "reply to the push");
            s.expect_refused(PushJob{"aux", "b", s.now(), {.attempts_max = 1}}, "options");
            for (int i = 0; i < 30; ++i) {
                const auto lease = s.take({.queue = "aux"});
                expect_equal(lease.id, 0U, "id in the lease");
                expect_equal(lease.attempt, 0U, "attempt");
                s.expect_refused(FailJob{.lease = lease, .error = "x", .run_at = s.now()}, "queue");
                s.perform(NackJob{lease, s.now()});
            }
            s.expect_refused(FindJob{"main", 1}, "queue");
            s.expect_refused(ListJobs{.queue = "aux"}, "queue");
            s.expect_refused(KickJobs{.queue = "aux"}, "queue");
            s.expect_refused(DeleteJob{"aux", 1}, "queue");
            s.perform(ReleaseJob{s.take({.queue = "aux"}), s.now()});
            expect_equal(s.queue("aux"), QueueStatus{.ready = 1}, "jobs");
        });

    add("a lease has the number of its attempt, and the timeout of the attempt", [](Scenario& s) {
        const auto id = s.push_with("a", {.timeout = Duration{7'000}});
        for (const std::uint32_t attempt : {1U, 2U, 3U}) {
            const auto lease = s.take_work();
            expect_equal(lease.attempt, attempt, "attempt");
            expect_equal(lease.options->timeout, Duration{7'000}, "timeout");
            expect_equal(s.job(id).attempts, attempt, "attempts of the job that have begun");
            s.perform(NackJob{lease, s.now()});
        }
    });

    add("an attempt counts when the worker dies, and when the worker nacks the job (returns it)",
        [](Scenario& s) {
            const auto id = s.push_with("a", {.attempts_max = 3});
            s.take_work();
            s.advance(Duration{30'000});
            const auto first_death = s.now();
            s.perform(ScrubWorkers{Duration{30'000}});
            s.perform(NackJob{s.take_work(), s.now()});
            expect_equal(s.take_work(2).attempt, 3U, "attempt");
            s.advance(Duration{20'000});
            s.perform(ScrubWorkers{Duration{30'000}});
            s.advance(Duration{10'000});
            expect_equal(s.perform(ScrubWorkers{Duration{30'000}}),
                         ReleasedJobs{.jobs = 1, .buried = {{work_queue, id}}},
                         "jobs released by the scrub");
            expect_equal(s.queue(work_queue), QueueStatus{.buried = 1},
                         "jobs in the queue after three attempts");
            const auto job = s.job(id);
            expect_equal(job.state, State::buried, "state");
            expect_equal(job.buried_at, std::optional{s.now()}, "time when the job was BURIED");
            expect_equal(
                job.errors,
                std::vector<JobError>{{.attempt = 1, .at = first_death, .text = unreported_error},
                                      {.attempt = 3, .at = s.now(), .text = unreported_error}},
                "errors of the job (a nack stores none)");
        });

    add("a job whose worker dies during the last allowed attempt is BURIED before the next "
        "acquisition",
        [](Scenario& s) {
            const auto in_group = [](std::uint32_t attempts_max) {
                JobOptions options{.attempts_max = attempts_max};
                options.group = "g";
                return options;
            };
            const auto last = s.push_with("last", in_group(1));
            s.push_with("behind", in_group(1));
            const auto more = s.push_with("more", {.attempts_max = 2});
            const auto cancelled = s.push_with("cancelled", {.attempts_max = 1});
            expect_equal(s.acquire({.queue = work_queue}).leases.size(), 3U, "jobs acquired");
            s.perform(CancelJob{work_queue, cancelled});
            s.advance(Duration{30'000});
            const ReleasedJobs expected{.jobs = 3, .buried = {{work_queue, last}}};
            expect_equal(s.perform(ScrubWorkers{Duration{30'000}}), expected,
                         "jobs released by the scrub");
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .buried = 1}, "jobs");
            expect_equal(s.job(last).state, State::buried, "state");
            expect_equal(s.job(last).errors.at(0).text, std::string{unreported_error},
                         "error of the BURIED job");
            expect_equal(s.job(more).state, State::ready,
                         "state of the job that has an attempt left");
            const auto leases = s.acquire({.queue = work_queue}).leases;
            expect_equal(leases.size(), 2U,
                         "jobs acquired after the scrub, among them the next of the group");
            s.perform(RetireWorker{leases.at(0).worker});
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .buried = 1},
                         "jobs in the queue after the release of the last attempts");
        });

    add("an attempt does not count when the worker releases the job, or when it retires",
        [](Scenario& s) {
            const auto id = s.push_with("a", {.attempts_max = 1});
            for (int i = 0; i < 3; ++i) {
                const auto lease = s.take_work();
                expect_equal(lease.attempt, 1U, "attempt");
                expect_equal(s.perform(ReleaseJob{lease, s.now() + Duration{5}}),
                             Settlement::settled, "settlement of the release");
                expect_equal(s.perform(ReleaseJob{lease, s.now()}), Settlement::lease_lost,
                             "settlement of a second release of the lease");
                expect_equal(s.job(id).run_at, s.now() + Duration{5},
                             "due time of the released job");
                s.advance(Duration{5});
                expect_equal(s.take_work().attempt, 1U, "attempt");
                s.perform(RetireWorker{Scenario::worker(1)});
            }
            expect_equal(s.job(id).attempts, 0U, "attempts of the job that have begun");
        });

    add("a failed job runs again at its due time, and keeps its error", [](Scenario& s) {
        const auto id = s.push_with("a", {});
        const auto lease = s.take_work();
        const FailJob failed{.lease = lease, .error = "broken", .run_at = s.now() + Duration{50}};
        s.advance(Duration{1});
        expect_equal(s.perform(failed), Settlement::settled, "settlement of the failure");
        expect_equal(s.perform(failed), Settlement::lease_lost,
                     "settlement of a second failure of the lease");
        s.expect_idle_until(s.now() + Duration{49}, work_queue);
        const auto job = s.job(id);
        expect_equal(job.state, State::scheduled, "state");
        expect_equal(job.run_at, s.now() + Duration{49}, "due time of the failed job");
        expect_equal(job.errors,
                     std::vector<JobError>{{.attempt = 1, .at = s.now(), .text = "broken"}},
                     "errors");
        s.advance(Duration{49});
        expect_equal(s.take_work().attempt, 2U, "attempt");
    });

    add("a job is BURIED after its last allowed failure, or after a permanent failure",
        [](Scenario& s) {
            s.push_with("a", {.attempts_max = 2});
            expect_equal(fail_next(s), Settlement::settled, "settlement of the first failure");
            expect_equal(fail_next(s), Settlement::buried, "settlement of the second failure");
            s.push("b");
            s.bury_next();
            s.expect_idle_until(never, work_queue);
            expect_equal(s.queue(work_queue), QueueStatus{.buried = 2}, "jobs");
            expect_equal(s.push("a"), PushOutcome::duplicate,
                         "outcome of an equal push while the job is BURIED");
            s.push_with("c", {.attempts_max = 0});
            for (int i = 0; i < 40; ++i) fail_next(s);
            expect_equal(s.take_work().attempt, 41U, "attempt of a job without a limit");
        });

    add("by default a job is BURIED after 25 attempts", [](Scenario& s) {
        s.push("a");
        for (int i = 1; i < 25; ++i)
            expect_equal(fail_next(s), Settlement::settled, "settlement of the failure");
        expect_equal(fail_next(s), Settlement::buried, "settlement of the last allowed failure");
    });

    add("a job keeps its last ten errors, and the beginning of each error", [](Scenario& s) {
        const auto id = s.push_with("a", {});
        for (int i = 1; i <= 12; ++i) fail_next(s, "failure " + std::to_string(i));
        const std::string character{"\xc3\xa9"};
        std::string text(job_error_max - 1, 'x');
        fail_next(s, text + character + "and more");
        const auto errors = s.job(id).errors;
        expect_equal(errors.size(), job_errors_max, "errors that the job keeps");
        expect_equal(errors.front().text, std::string{"failure 4"},
                     "text of the oldest stored error");
        expect_equal(errors.front().attempt, 4U, "attempt of the oldest stored error");
        expect_equal(errors.back().text, text,
                     "text of the newest error, without half a character");
    });

    add("a job that expires before its first attempt is dropped and counted", [](Scenario& s) {
        s.push_with("late", {.expires_at = s.now() + Duration{10}});
        const auto begun = s.push_with("begun", {.expires_at = s.now() + Duration{10}});
        s.advance(Duration{9});
        auto leases = s.acquire({.queue = work_queue}).leases;
        expect_equal(leases.size(), 2U, "jobs acquired before they expire");
        s.perform(ReleaseJob{leases[0], s.now()});
        s.perform(NackJob{leases[1], s.now()});
        s.push("other");
        s.advance(Duration{1});
        leases = s.acquire({.queue = work_queue}).leases;
        expect_equal(leases.size(), 2U, "jobs acquired after one has expired");
        expect_equal(leases[0].id, begun, "id of the job that began before it expired");
        expect_equal(s.queue(work_queue), QueueStatus{.pending = 2}, "jobs");
        expect_equal(s.counter({"jobs.expired", {{"queue", work_queue}}}),
                     std::optional<std::int64_t>{1}, "jobs that expired");
        expect_equal(s.push("late"), PushOutcome::pushed,
                     "outcome of another push of the expired job");
    });

    add("a job whose last allowed attempt is nacked is BURIED at once", [](Scenario& s) {
        const auto id = s.push_with("a", {.attempts_max = 2});
        expect_equal(s.perform(NackJob{s.take_work(), s.now()}), Settlement::settled,
                     "settlement of the first nack");
        expect_equal(s.perform(NackJob{s.take_work(), s.now()}), Settlement::buried,
                     "settlement of the last nack");
        expect_equal(s.queue(work_queue), QueueStatus{.buried = 1}, "jobs");
        expect_equal(s.job(id).errors.back().text, std::string{unreported_error},
                     "error of the BURIED job");
    });

    add("expired and BURIED jobs do not reduce the number of jobs that a worker acquires",
        [](Scenario& s) {
            s.push_with("late 1", {.expires_at = s.now()});
            s.push_with("used up", {.attempts_max = 1});
            s.push_with("late 2", {.expires_at = s.now()});
            s.push("a");
            s.push("b");
            const auto leases = s.acquire({.limit = 1, .queue = work_queue}).leases;
            expect_equal(leases.at(0).job, std::string{"used up"}, "first job acquired");
            s.perform(NackJob{leases[0], s.now()});
            const auto both = s.acquire({.limit = 2, .queue = work_queue});
            expect_equal(both.leases.size(), 2U, "jobs acquired");
            s.expect_idle_until(never, work_queue);
            expect_equal(s.queue(work_queue), QueueStatus{.pending = 2, .buried = 1}, "jobs");
        });

    add("the metadata of a job is in its description and in each of its leases", [](Scenario& s) {
        const JobMetadata metadata{{"trace", "00-4bf9-01"}, {std::string{"\0\xc1", 2}, ""}};
        const auto id = s.push_with("a", {.timeout = Duration{7}, .metadata = metadata});
        s.push_with("b", {.key = {.text = "k"}, .metadata = metadata});
        s.push("c");
        expect_equal(s.job(id).options.metadata, metadata, "metadata");
        for (int i = 0; i < 2; ++i) {
            const auto leases = s.acquire({.limit = 3, .queue = work_queue}).leases;
            expect_equal(leases.size(), 3U, "jobs acquired");
            expect_equal(leases[0].options->metadata, metadata, "metadata of the first lease");
            expect_equal(leases[0].options->timeout, Duration{7}, "timeout of the first lease");
            expect_equal(leases[1].options->metadata, metadata, "metadata of the second lease");
            expect_equal(leases[2].options->metadata, JobMetadata{}, "metadata of the third lease");
            for (const auto& lease : leases) {
                s.perform(FailJob{.lease = lease, .error = "broken", .run_at = s.now()});
            }
        }
        PushJob other{work_queue, "d", s.now()};
        other.options.key.text = "k";
        other.options.metadata = {{"other", "text"}};
        other.on_duplicate = OnDuplicate::replace;
        s.perform(other);
        expect_equal(s.jobs(State::ready).at(1).options.metadata, other.options.metadata,
                     "metadata of the job after its replacement");
    });

    add("a job that has been failing for longer than its time limit is BURIED", [](Scenario& s) {
        const auto id = s.push_with("a", {.attempts_max = 0});
        const auto fail = [&](Duration time_max) {
            return s.perform(FailJob{.lease = s.take_work(),
                                     .error = "broken",
                                     .run_at = s.now(),
                                     .time_max = time_max});
        };
        constexpr Duration time_max{100};
        s.advance(Duration{1'000});
        fail(Duration{0});
        expect_equal(s.job(id).failing_since, std::optional<TimePoint>{},
                     "start of the failures of a job without a time limit");
        s.advance(Duration{1'000});
        const auto since = s.now();
        for (int i = 0; i < 11; ++i) {
            expect_equal(fail(time_max), Settlement::settled, "settlement of the failure");
            expect_equal(s.job(id).failing_since, std::optional{since},
                         "start of the failures of the job");
            s.advance(Duration{9});
        }
        expect_equal(s.job(id).errors.size(), job_errors_max, "errors that the job keeps");
        expect_equal(s.job(id).errors.front().attempt, 3U, "attempt of the oldest stored error");
        fail(Duration{0});
        expect_equal(fail(time_max), Settlement::settled,
                     "settlement of a failure one millisecond before the time limit");
        s.advance(Duration{1});
        expect_equal(fail(time_max), Settlement::buried,
                     "settlement of a failure at the time limit");
        s.perform(KickJobs{.queue = work_queue, .id = id});
        expect_equal(s.job(id).failing_since, std::optional<TimePoint>{},
                     "start of the failures after the kick");
        expect_equal(s.job(id).errors.size(), job_errors_max,
                     "errors that the job keeps after the kick");
        expect_equal(fail(time_max), Settlement::settled,
                     "settlement of the first failure after the kick");
        s.advance(time_max);
        expect_equal(fail(time_max), Settlement::buried,
                     "settlement of a failure at the time limit after the kick");
        s.push("b");
        s.expect_refused(FailJob{.lease = s.take_work(),
                                 .error = "broken",
                                 .run_at = s.now(),
                                 .time_max = Duration{-1}},
                         "time_max");
    });

    add("a push that replaces a failing job restarts the time limit for failing", [](Scenario& s) {
        PushJob push{work_queue, "a", s.now(), {.key = {.text = "k"}}};
        push.on_duplicate = OnDuplicate::replace;
        s.perform(push);
        constexpr Duration time_max{100};
        const auto fail = [&] {
            return s.perform(FailJob{.lease = s.take_work(),
                                     .error = "broken",
                                     .run_at = s.now(),
                                     .time_max = time_max});
        };
        fail();
        s.advance(time_max);
        expect_equal(s.perform(push), PushOutcome::replaced, "outcome of the replacing push");
        expect_equal(fail(), Settlement::settled, "settlement of the failure");
        s.advance(time_max);
        expect_equal(fail(), Settlement::buried, "settlement of a failure at the time limit");
    });

    add("invalid options of a job are refused and change nothing", [](Scenario& s) {
        JobMetadata many;
        for (std::size_t i = 0; i < job_metadata_max; ++i) many[std::to_string(i)] = "x";
        s.push_with("many", {.metadata = many});
        many["one more"] = "x";
        s.expect_refused(PushJob{work_queue, "a", s.now(), {.metadata = many}}, "metadata");
        const std::string large(job_metadata_bytes_max - 1, 'x');
        s.push_with("large", {.metadata = {{"a", large}}});
        for (const char* name : {"ab", ""}) {
            s.expect_refused(PushJob{work_queue, "a", s.now(), {.metadata = {{name, large}}}},
                             "metadata");
        }
        s.expect_refused(PushJob{"aux", "a", s.now(), {.metadata = {{"a", "b"}}}}, "options");
        s.expect_refused(PushJob{work_queue, "a", s.now(), {.timeout = Duration{-1}}}, "timeout");
    });

    add("leases whose reply was lost are returned by the next acquisition, with unchanged attempt "
        "numbers",
        [](Scenario& s) {
            s.push_with("a", {.timeout = Duration{9}});
            const AcquireJobs step{work_queue, Scenario::worker(1), 1, 0};
            const auto first = s.perform(step);
            expect_equal(first.leases.size(), 1U, "jobs acquired");
            expect_equal(s.perform(step).leases, first.leases,
                         "leases returned by the repeated acquisition");
        });
}

}  // namespace routemaster::testing
