#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/job_batch.hpp"
#include "routemaster/job_status.hpp"
#include "threads.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

constexpr const char* after_queue = "after";

JobBatchCallback callback(std::string job, std::string queue = after_queue) {
    return {.queue = std::move(queue), .job = std::move(job)};
}

CreateJobBatch creation(JobBatchSettings settings) {
    return {std::make_shared<const JobBatchSettings>(std::move(settings))};
}

JobBatchId create(const Scenario& s, const std::string& name = "import", Where at = Where::here()) {
    const auto created = s.perform(
        creation({.name = name, .on_success = callback("success"), .on_end = callback("end")}), at);
    expect(created.created, "the batch must be new", at);
    return created.id;
}

void close(const Scenario& s, JobBatchId batch, Where at = Where::here()) {
    expect_equal(s.perform(CloseJobBatch{batch}, at), JobBatchClosure::closed,
                 "closure of the batch", at);
}

JobBatch batch_in(const Scenario& s, JobBatchId batch, Where at = Where::here()) {
    const auto found = s.perform(FindJobBatch{batch}, at);
    expect(found.has_value(), "no batch has the id " + std::to_string(batch), at);
    return *found;
}

JobId push_into(const Scenario& s, JobBatchId batch, const std::string& job,
                JobOptions options = {}, Where at = Where::here()) {
    options.batch = batch;
    return s.push_with(job, options, at);
}

void run_next(const Scenario& s, const std::string& job, Where at = Where::here()) {
    const auto lease = s.take_work(1, at);
    expect_equal(lease.job, job, "next job acquired", at);
    expect_equal(s.perform(AckJob{lease}, at), Settlement::settled, "settlement of an ack", at);
}

/// Acquires and acknowledges the callbacks that were pushed since the last call. Returns their
/// jobs.
std::vector<std::string> take_callbacks(const Scenario& s, Where at = Where::here()) {
    std::vector<std::string> jobs;
    for (const auto& lease : s.acquire({.worker = 9, .limit = 100, .queue = after_queue}).leases) {
        jobs.push_back(lease.job);
        s.perform(AckJob{lease}, at);
    }
    return jobs;
}

using Jobs = std::vector<std::string>;

/// Expects that a batch ended just now with these numbers, and pushed its callbacks.
void expect_ended(const Scenario& s, JobBatchId batch, const JobBatchProgress& progress,
                  Where at = Where::here()) {
    const auto ended = batch_in(s, batch, at);
    const bool all = progress.succeeded == progress.total;
    expect_equal(ended.progress, progress, "progress of the batch", at);
    expect_equal(ended.ended_at, std::optional{s.now()}, "end time of the batch", at);
    expect_equal(ended.succeeded_at.has_value(), all, "the batch has succeeded", at);
    expect_equal(take_callbacks(s, at), all ? Jobs{"success", "end"} : Jobs{"end"},
                 "callbacks that were run", at);
}

void expect_running(const Scenario& s, JobBatchId batch, const JobBatchProgress& progress,
                    Where at = Where::here()) {
    const auto running = batch_in(s, batch, at);
    expect_equal(running.progress, progress, "progress of the batch", at);
    expect(!running.ended_at, "the batch must not have ended", at);
    expect_equal(take_callbacks(s, at), Jobs{}, "callbacks that were run", at);
}

void add_end_cases(StoreCases& add) {
    add("a closed batch ends with its last job, and pushes its callbacks once", [](Scenario& s) {
        const auto batch = create(s);
        push_into(s, batch, "a");
        push_into(s, batch, "b");
        s.push("of no batch");
        const auto first = s.take_work();
        expect_equal(first.options->batch, batch, "batch in the lease");
        s.perform(AckJob{first});
        expect_running(s, batch, {.total = 2, .succeeded = 1});
        s.advance(Duration{5});
        close(s, batch);
        expect_running(s, batch, {.total = 2, .succeeded = 1});
        expect_equal(batch_in(s, batch).closed_at, std::optional{s.now()},
                     "closing time of the batch");
        const auto last = s.take_work();
        s.advance(Duration{5});
        expect_equal(s.perform(AckJob{last}), Settlement::settled, "settlement of the last job");
        const auto ended = batch_in(s, batch);
        const auto callbacks = s.acquire({.limit = 10, .queue = after_queue}).leases;
        expect_equal(callbacks.size(), std::size_t{2}, "number of callbacks");
        expect_equal(callbacks[0].id, ended.success_job, "job id of the first callback");
        expect_equal(callbacks[1].id, ended.end_job, "job id of the second callback");
        for (const auto& one : callbacks) {
            expect_equal(one.options->metadata, JobMetadata{{"batch", std::to_string(batch)}},
                         "metadata of the callback");
            s.perform(AckJob{one});
        }
        expect_equal(s.perform(AckJob{last}), Settlement::lease_lost,
                     "settlement of a repeated ack");
        close(s, batch);
        expect_equal(batch_in(s, batch), ended, "batch after a second closure");
        expect_equal(take_callbacks(s), Jobs{}, "callbacks after the end of the batch");
    });

    add("an open batch does not end, and an empty batch ends when it is closed", [](Scenario& s) {
        const auto batch = create(s);
        push_into(s, batch, "a");
        run_next(s, "a");
        expect_running(s, batch, {.total = 1, .succeeded = 1});
        push_into(s, batch, "a");
        run_next(s, "a");
        expect_running(s, batch, {.total = 2, .succeeded = 2});
        close(s, batch);
        expect_ended(s, batch, {.total = 2, .succeeded = 2});
        const auto empty = create(s, "empty");
        expect_running(s, empty, {});
        close(s, empty);
        expect_ended(s, empty, {});
    });

    add("a callback is pushed with its options even when an equal job exists", [](Scenario& s) {
        s.perform(PushJob{after_queue, "end", s.now()});
        auto wanted = callback("end");
        wanted.attempts_max = 3;
        wanted.priority = 1;
        wanted.timeout = Duration{7};
        wanted.metadata = {{"a", "1"}, {"trace", "2"}};
        const auto batch = s.perform(creation({.name = "one", .on_end = wanted})).id;
        expect_equal(batch_in(s, batch).settings.on_end, std::optional{wanted},
                     "settings of the callback");
        close(s, batch);
        const auto found = s.perform(FindJob{after_queue, batch_in(s, batch).end_job});
        expect(found.has_value(), "the batch must push its callback");
        expect_equal(found->options.attempts_max, 3U, "attempts_max of the callback");
        expect_equal(found->options.priority, 1, "priority of the callback");
        expect_equal(found->options.timeout, Duration{7}, "timeout of the callback");
        const JobMetadata metadata{{"a", "1"}, {"batch", std::to_string(batch)}, {"trace", "2"}};
        expect_equal(found->options.metadata, metadata, "metadata of the callback");
        close(s, create(s, "two"));
        expect_equal(take_callbacks(s), Jobs{"end", "end", "success", "end"}, "jobs");
        const auto none = s.perform(creation({.name = "none"})).id;
        close(s, none);
        expect(batch_in(s, none).succeeded_at.has_value(), "a batch without callbacks must end");
        expect_equal(batch_in(s, none).end_job, JobId{0}, "job id of a missing callback");
    });

    add("the callback of a batch wakes a worker of the callback's queue", [](Scenario& s) {
        const auto batch = create(s);
        Signal signal;
        const auto watch = s.store().watch(after_queue, [&] { signal.raise(); });
        expect_equal(take_callbacks(s), Jobs{}, "callbacks that were run");
        const auto seen = signal.count();
        close(s, batch);
        expect(signal.wait_beyond(seen, s.traits().timeout), "the callback must wake a worker");
    });

    add("with eight competing workers a batch ends exactly once", [](Scenario& s) {
        constexpr unsigned jobs = 200;
        const auto batch = create(s);
        for (unsigned n = 0; n < jobs; ++n) push_into(s, batch, std::to_string(n));
        close(s, batch);
        in_threads(8, [&](unsigned thread) {
            for (;;) {
                const auto leases =
                    s.acquire({.worker = thread + 1, .limit = 3, .queue = work_queue}).leases;
                for (const auto& lease : leases) s.perform(AckJob{lease});
                if (leases.empty()) return;
            }
        });
        expect_ended(s, batch, {.total = jobs, .succeeded = jobs});
    });
}

void add_ways_out(StoreCases& add) {
    add("a batch of jobs ends when its last job is deleted or cancelled", [](Scenario& s) {
        const auto one = create(s, "one");
        const auto deleted = push_into(s, one, "deleted");
        close(s, one);
        s.perform(DeleteJob{work_queue, deleted});
        expect_ended(s, one, {.total = 1, .cancelled = 1});

        const auto two = create(s, "two");
        const auto cancelled = push_into(s, two, "cancelled");
        close(s, two);
        s.perform(CancelJob{work_queue, cancelled});
        expect_ended(s, two, {.total = 1, .cancelled = 1});

        const auto three = create(s, "three");
        const auto running = push_into(s, three, "running");
        close(s, three);
        const auto lease = s.take_work();
        s.perform(CancelJob{work_queue, running});
        expect_running(s, three, {.total = 1});
        s.perform(NackJob{lease, s.now()});
        expect_ended(s, three, {.total = 1, .cancelled = 1});
    });

    add("a batch ends with a cancelled job, however the worker of the job ends", [](Scenario& s) {
        const auto cancel_running = [&](const char* name) {
            const auto batch = create(s, name);
            const auto id = push_into(s, batch, name);
            close(s, batch);
            const auto lease = s.take_work();
            s.perform(CancelJob{work_queue, id});
            return std::pair{batch, lease};
        };
        const auto [failed, first] = cancel_running("failed");
        s.perform(FailJob{.lease = first, .error = "no", .run_at = s.now()});
        expect_ended(s, failed, {.total = 1, .cancelled = 1});
        const auto [done, second] = cancel_running("done");
        s.perform(AckJob{second});
        expect_ended(s, done, {.total = 1, .succeeded = 1});
        const auto [retired, third] = cancel_running("retired");
        s.perform(RetireWorker{third.worker});
        expect_ended(s, retired, {.total = 1, .cancelled = 1});
        const auto [scrubbed, fourth] = cancel_running("scrubbed");
        s.advance(Duration{1'000});
        s.perform(ScrubWorkers{Duration{1'000}});
        expect_ended(s, scrubbed, {.total = 1, .cancelled = 1});
    });

    add("a batch ends when its last job is BURIED, because of its own failure or of a dependency",
        [](Scenario& s) {
            const auto one = create(s, "one");
            push_into(s, one, "buried");
            close(s, one);
            s.bury_next();
            expect_ended(s, one, {.total = 1, .buried = 1});

            const auto two = create(s, "two");
            push_into(s, two, "used up", {.attempts_max = 1});
            close(s, two);
            s.perform(NackJob{s.take_work(), s.now()});
            expect_ended(s, two, {.total = 1, .buried = 1});

            const auto three = create(s, "three");
            const auto other = s.push_with("other", {});
            PushJob waits{work_queue, "waits", s.now(), {.batch = three}};
            waits.after = {other};
            s.perform(waits);
            close(s, three);
            s.perform(DeleteJob{work_queue, other});
            expect_ended(s, three, {.total = 1, .buried = 1});
        });

    add("a batch ends when its last job expires, or when the worker dies in the last allowed "
        "attempt",
        [](Scenario& s) {
            const auto batch = create(s);
            push_into(s, batch, "a", {.expires_at = s.now() + Duration{1}});
            push_into(s, batch, "b", {.attempts_max = 1});
            close(s, batch);
            s.advance(Duration{1});
            const auto lease = s.take_work();
            expect_equal(lease.job, std::string{"b"}, "last job of the batch");
            expect_running(s, batch, {.total = 2, .expired = 1});
            s.advance(Duration{1'000});
            s.perform(ScrubWorkers{Duration{1'000}});
            s.expect_idle_until(never, work_queue);
            expect_ended(s, batch, {.total = 2, .buried = 1, .expired = 1});
        });

    add("a BURIED job that is dropped is counted in its batch, and does not end the batch twice",
        [](Scenario& s) {
            const auto batch = create(s);
            push_into(s, batch, "a");
            close(s, batch);
            s.bury_next();
            expect_ended(s, batch, {.total = 1, .buried = 1});
            s.advance(Duration{1});
            s.bury_many("x", buried_max);
            expect_equal(batch_in(s, batch).progress, JobBatchProgress{.total = 1, .forgotten = 1},
                         "progress of the batch");
            expect_equal(take_callbacks(s), Jobs{}, "callbacks after the end of the batch");
        });
}

void add_kick_cases(StoreCases& add) {
    add("a batch whose BURIED jobs succeed after a kick pushes on_success, and does not end twice",
        [](Scenario& s) {
            const auto batch = create(s);
            push_into(s, batch, "a");
            push_into(s, batch, "b");
            close(s, batch);
            const auto a = s.bury_next();
            const auto b = s.bury_next();
            expect_ended(s, batch, {.total = 2, .buried = 2});
            const auto ended_at = batch_in(s, batch).ended_at;
            s.advance(Duration{5});
            s.perform(KickJobs{.queue = work_queue, .id = a});
            expect_equal(batch_in(s, batch).progress.pending(), std::uint64_t{1},
                         "pending jobs of the batch");
            run_next(s, "a");
            expect_equal(take_callbacks(s), Jobs{}, "callbacks while a job is BURIED");
            s.perform(KickJobs{.queue = work_queue, .id = b});
            const auto lease = s.take_work();
            PushJob further{work_queue, "c", s.now(), {.batch = batch}};
            s.perform(CompleteJob{lease, {further}});
            expect_equal(take_callbacks(s), Jobs{}, "callbacks while a job is READY");
            run_next(s, "c");
            expect_equal(take_callbacks(s), Jobs{"success"},
                         "callbacks after all jobs have succeeded");
            const auto after = batch_in(s, batch);
            expect_equal(after.progress, JobBatchProgress{.total = 3, .succeeded = 3}, "jobs");
            expect_equal(after.ended_at, ended_at, "end time of the batch");
            expect_equal(after.succeeded_at, std::optional{s.now()}, "success time of the batch");
        });

    add("a batch waits for a BURIED job that is kicked before the end", [](Scenario& s) {
        const auto batch = create(s);
        push_into(s, batch, "a");
        const auto id = s.bury_next();
        expect_running(s, batch, {.total = 1, .buried = 1});
        s.perform(KickJobs{.queue = work_queue});
        close(s, batch);
        expect_running(s, batch, {.total = 1});
        s.bury_next();
        expect_ended(s, batch, {.total = 1, .buried = 1});
        s.perform(DeleteJob{work_queue, id});
        expect_equal(batch_in(s, batch).progress, JobBatchProgress{.total = 1, .cancelled = 1},
                     "jobs");
        expect_equal(take_callbacks(s), Jobs{}, "callbacks after the end of the batch");
    });
}

void add_joining_cases(StoreCases& add) {
    add("a job pushes jobs into its own batch, and the batch waits for these jobs", [](Scenario&
                                                                                           s) {
        const auto batch = create(s);
        push_into(s, batch, "a");
        close(s, batch);
        const auto lease = s.take_work();
        push_into(s, batch, "directly");
        const PushJob push{work_queue, "follows", s.now(), {.batch = batch}};
        const auto completed = s.perform(CompleteJob{lease, {push, push}});
        expect_equal(completed.pushed[1], Pushed{PushOutcome::duplicate, completed.pushed[0].id},
                     "reply to an equal push in the same step");
        expect_running(s, batch, {.total = 3, .succeeded = 1});
        run_next(s, "directly");
        // The step that completes the last job adds another job to the batch.
        const PushJob again{work_queue, "follows", s.now(), {.batch = batch}};
        s.perform(CompleteJob{s.take_work(), {again}});
        expect_running(s, batch, {.total = 4, .succeeded = 3});
        const PushJob keyed{work_queue, "keyed", s.now(), {.key = {.text = "k"}, .batch = batch}};
        s.perform(CompleteJob{s.take_work(), {keyed}});
        expect_running(s, batch, {.total = 5, .succeeded = 4});
        s.perform(CompleteJob{s.take_work(), {}});
        expect_ended(s, batch, {.total = 5, .succeeded = 5});
    });

    add("a duplicate push adds no job to its batch", [](Scenario& s) {
        const auto batch = create(s);
        const auto id = s.push_with("there", {});
        const PushJob push{work_queue, "there", s.now(), {.batch = batch}};
        expect_equal(s.perform(push), Pushed{PushOutcome::duplicate, id},
                     "reply to the push of an existing job");
        push_into(s, batch, "a");
        const PushJob again{work_queue, "a", s.now(), {.batch = batch}};
        expect_equal(s.perform(again), PushOutcome::duplicate, "outcome of a repeated push");
        expect_running(s, batch, {.total = 1});
        run_next(s, "there");
        expect_running(s, batch, {.total = 1});
        const PushJob of_none{work_queue, "a", s.now(), {.batch = 99}};
        expect_equal(s.perform(of_none), PushOutcome::duplicate,
                     "outcome of an equal push with an unknown batch");
    });

    add("a job that a push replaces moves to the batch of the replacing push", [](Scenario& s) {
        const auto one = create(s, "one");
        const auto two = create(s, "two");
        PushJob push{work_queue, "a", s.now() + Duration{9}, {.key = {.text = "k"}, .batch = one}};
        push.on_duplicate = OnDuplicate::replace;
        const auto id = s.perform(push).id;
        expect_equal(s.job(id).options.batch, one, "batch of the job");
        push.job = "b";
        expect_equal(s.perform(push), PushOutcome::replaced,
                     "outcome of a push with the same batch");
        expect_running(s, one, {.total = 1});
        close(s, one);
        push.options.batch = two;
        expect_equal(s.perform(push), PushOutcome::replaced,
                     "outcome of a push with another batch");
        expect_ended(s, one, {.total = 1, .cancelled = 1});
        expect_running(s, two, {.total = 1});
        push.options.batch = one;
        s.expect_refused(push, "batch");
        push.options.batch = 0;
        close(s, two);
        expect_equal(s.perform(push), PushOutcome::replaced, "outcome of a push without a batch");
        expect_ended(s, two, {.total = 1, .cancelled = 1});
        expect_equal(s.job(id).options.batch, JobBatchId{0},
                     "batch of the job after a push without one");
    });

    add("jobs with keys and jobs of groups count in their batch, too", [](Scenario& s) {
        const auto batch = create(s);
        push_into(s, batch, "a", {.key = {.text = "k"}});
        push_into(s, batch, "b", {.metadata = {{"trace", "1"}}, .group = "g"});
        push_into(s, batch, "c", {.priority = -1, .group = "g", .concurrency = 2});
        close(s, batch);
        for (const char* job : {"a", "b", "c"}) run_next(s, job);
        expect_ended(s, batch, {.total = 3, .succeeded = 3});
    });

    add("a push into a missing or ended batch is refused and changes nothing", [](Scenario& s) {
        const auto batch = create(s);
        close(s, batch);
        take_callbacks(s);
        PushJob push{work_queue, "a", s.now(), {.batch = batch}};
        s.expect_refused(push, "batch");
        push.options.key.text = "k";
        s.expect_refused(push, "batch");
        push.options.batch = batch + 1;
        s.expect_refused(push, "batch");
        push.options.batch = JobBatchId{1} << 53U;
        s.expect_refused(push, "batch");
        s.push("b");
        const PushJob good{work_queue, "c", s.now()};
        push.options.batch = batch;
        s.expect_refused(CompleteJob{s.take_work(), {good, push}}, "pushes[1]: batch");
        push = {"aux", "a", s.now(), {.batch = create(s, "another")}};
        s.expect_refused(push, "options");
    });
}

void add_batch_list_cases(StoreCases& add) {
    add("the name of a batch is unique, and its id is never used again", [](Scenario& s) {
        const auto first = create(s);
        const auto again =
            s.perform(creation({.name = "import", .on_end = callback("another callback")}));
        expect_equal(again, JobBatchCreated{first, false}, "reply to a second creation");
        expect_equal(batch_in(s, first).settings.on_end, std::optional{callback("end")},
                     "on_end of the first creation");
        push_into(s, first, "a");
        expect_equal(s.perform(RemoveJobBatch{first}), Removal::removed, "removal of the batch");
        expect_equal(s.perform(RemoveJobBatch{first}), Removal::unknown,
                     "second removal of the batch");
        expect_equal(s.perform(CloseJobBatch{first}), JobBatchClosure::unknown,
                     "closure of the removed batch");
        expect(!s.perform(FindJobBatch{first}).has_value(), "the removed batch must not exist");
        const auto second = create(s);
        expect(second > first, "the second batch must get a new id");
        close(s, second);
        expect_ended(s, second, {});
        run_next(s, "a");
        expect_equal(batch_in(s, second).progress, JobBatchProgress{},
                     "progress of the second batch");
        expect_equal(s.perform(creation({.name = "import"})), JobBatchCreated{second, false},
                     "reply to a creation with the name of an ended batch");
    });

    add("open batches are listed in pages, and ended batches in a separate list", [](Scenario& s) {
        std::vector<JobBatchId> ids;
        for (int n = 0; n < 5; ++n) ids.push_back(create(s, "batch " + std::to_string(n)));
        for (const auto place : {3, 0, 1}) close(s, ids[static_cast<std::size_t>(place)]);
        const auto page = s.perform(ListJobBatches{.ended = true, .limit = 2});
        const std::vector<JobBatch> both{batch_in(s, ids[0]), batch_in(s, ids[1])};
        expect_equal(page.batches, both, "batches on the first page");
        expect_equal(page.next, ids[1], "start of the next page");
        const auto last = s.perform(ListJobBatches{.ended = true, .after = page.next, .limit = 2});
        expect_equal(last, JobBatchPage{.batches = {batch_in(s, ids[3])}},
                     "last page of ended batches");
        const auto open = s.perform(ListJobBatches{.limit = 2});
        const JobBatchPage expected{.batches = {batch_in(s, ids[2]), batch_in(s, ids[4])}};
        expect_equal(open, expected, "page of open batches");
    });

    add("an invalid batch of jobs is refused and changes nothing", [](Scenario& s) {
        s.expect_refused(creation({}), "name");
        s.expect_refused(creation({.name = std::string(job_batch_name_max + 1, 'x')}), "name");
        s.expect_refused(creation({.name = "\xff"}), "name");
        s.expect_refused(creation({.name = "x", .on_end = callback("end", "aux")}),
                         "on_end: queue");
        s.expect_refused(creation({.name = "x", .on_success = callback("")}), "on_success: job");
        const std::string large(batch_callback_bytes_max + 1, 'x');
        s.expect_refused(creation({.name = "x", .on_end = callback(large)}), "on_end: job");
        auto late = callback("end");
        late.timeout = Duration{-1};
        s.expect_refused(creation({.name = "x", .on_end = late}), "on_end: timeout");
        // The batch itself adds one entry to the metadata.
        auto full = callback("end");
        for (std::size_t i = 0; i < job_metadata_max; ++i) full.metadata[std::to_string(i)] = "x";
        s.expect_refused(creation({.name = "x", .on_end = full}), "on_end: metadata");
        s.expect_refused(ListJobBatches{.limit = 0}, "limit");
        s.expect_refused(ListJobBatches{.limit = job_batches_listed_max + 1}, "limit");
        s.perform(creation(
            {.name = std::string(job_batch_name_max, 'x'), .on_end = callback(large.substr(1))}));
    });

    add("above the limit of batches, the oldest ended and open batches are removed and counted",
        [](Scenario& s) {
            const auto first = create(s, "first");
            const auto second = create(s, "second");
            close(s, second);
            s.advance(Duration{1});
            close(s, first);
            s.advance(Duration{1});
            for (std::uint32_t done = 2; done < job_batches_kept_max;) {
                std::vector<Step> steps;
                for (; done < job_batches_kept_max && steps.size() < 1'000; ++done) {
                    steps.emplace_back(creation({.name = std::to_string(done)}));
                    steps.emplace_back(CloseJobBatch{first + done});
                }
                s.perform_each(steps, "creation or closure of a batch");
            }
            const CounterKey forgotten{"job_batches.forgotten", {}};
            expect(!s.counter(forgotten), "no batch may be forgotten below the limit");
            close(s, create(s, "one more"));
            expect(!s.perform(FindJobBatch{second}).has_value(),
                   "the batch that ended first must be forgotten");
            expect(s.perform(FindJobBatch{first}).has_value(),
                   "the batch that ended second must remain");
            expect_equal(s.counter(forgotten), std::optional<std::int64_t>{1},
                         "forgotten batches of jobs");
            s.advance(job_batches_age_max - Duration{1});
            create(s, "open");
            expect(!s.perform(FindJobBatch{first}).has_value(),
                   "a batch older than the limit must be forgotten");
            expect_equal(s.counter(forgotten), std::optional<std::int64_t>{2},
                         "forgotten batches of jobs");
            s.advance(Duration{1});
            close(s, create(s, "last"));
            expect_equal(s.counter(forgotten), std::optional<std::int64_t>{6},
                         "forgotten batches of jobs");
        });
}

}  // namespace

void add_job_batch_cases(StoreCases& add) {
    add_end_cases(add);
    add_ways_out(add);
    add_kick_cases(add);
    add_joining_cases(add);
    add_batch_list_cases(add);
}

}  // namespace routemaster::testing
