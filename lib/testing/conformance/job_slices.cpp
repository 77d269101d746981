#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

/// Two such jobs are within the limit of a step; three are not.
constexpr std::size_t large_job = job_slice_bytes_max / 5 * 2;

/// Pushes a large job for each letter, with the letter as its repeated content.
void push_large(Scenario& s, const std::string& letters, const JobOptions& options = {}) {
    for (const char letter : letters) {
        auto own = options;
        if (!own.key.text.empty()) own.key.text += letter;
        s.push_with(std::string(large_job, letter), own);
    }
}

template <class Jobs>
std::string letters_of(const Jobs& jobs) {
    std::string all;
    for (const auto& job : jobs) all += job.job.front();
    return all;
}

/// The limit of a step is between two jobs of this size with one error each, and two with two
/// errors each.
constexpr std::size_t job_with_errors = job_slice_bytes_max / 2 - job_error_max - job_error_max / 2;

/// Fails all READY jobs twice, with errors of the largest size. The second failure buries the jobs.
void bury_all_at_second(Scenario& s) {
    for (const bool second : {false, true}) {
        for (const auto& lease : s.acquire({.queue = work_queue}).leases) {
            s.perform(FailJob{.lease = lease,
                              .error = std::string(job_error_max, 'e'),
                              .run_at = s.now(),
                              .bury = second});
        }
    }
}

/// Expects the first `released` leases of a worker to have ended, and all further leases to be
/// valid. The worker is listed as long as it has leases.
void expect_left_to(Scenario& s, unsigned worker, const std::vector<Lease>& leases,
                    std::size_t released) {
    std::size_t listed = 0;
    for (const auto& any : s.perform(ListWorkers{})) {
        if (any.id == Scenario::worker(worker)) listed = any.leased;
    }
    expect_equal(listed, leases.size() - released, "jobs leased by the listed worker");
    expect_equal(s.queue(work_queue).pending, leases.size() - released, "PENDING jobs");
    for (std::size_t i = 0; i < released; ++i) {
        expect_equal(s.perform(AckJob{leases[i]}), Settlement::lease_lost, "settlement of the ack");
    }
}

std::vector<Lease> lease_large(Scenario& s, unsigned worker) {
    std::vector<Lease> all;
    for (int i = 0; i < 3; ++i) {
        for (auto& lease : s.acquire({.worker = worker, .queue = work_queue}).leases) {
            all.push_back(std::move(lease));
        }
    }
    expect_equal(letters_of(all), std::string{"abcde"}, "jobs leased");
    return all;
}

/// Expects that `step` releases the large jobs of a dead or retired worker two at a time.
template <class S>
void expect_released_in_slices(Scenario& s, unsigned worker, Duration silence, const S& step) {
    const auto leases = lease_large(s, worker);
    s.advance(silence);
    std::size_t back = 0;
    for (const std::uint64_t jobs : {2U, 2U, 1U}) {
        expect_equal(s.perform(step), ReleasedJobs{jobs, jobs == 2}, "jobs released by each step");
        back += jobs;
        expect_left_to(s, worker, leases, back);
    }
    expect_equal(s.perform(step), ReleasedJobs{}, "jobs released by one more step");
    expect(s.perform(ListWorkers{}).empty(), "the worker must no longer be listed");
}

/// Expects acquisitions to drop expired large jobs two at a time.
void expect_ended_in_slices(Scenario& s, JobOptions options, const char* which) {
    options.expires_at = s.now() + Duration{1};
    push_large(s, "abcde", options);
    s.advance(Duration{1});
    for (const std::uint64_t left : {3U, 1U, 0U}) {
        const auto acquired = s.acquire({.queue = work_queue});
        expect_equal(acquired.leases.size(), 0U, which);
        expect_equal(s.queue(work_queue), QueueStatus{.ready = left}, which);
        expect_equal(acquired.next_due, left == 0 ? never : s.now(),
                     "time of the next acquisition");
    }
}

/// Expects acquisitions to lease large jobs two at a time. Only the last reply reports an empty
/// queue.
void expect_leased_in_slices(Scenario& s, const JobOptions& options, const char* which) {
    push_large(s, "abcde", options);
    for (const char* letters : {"ab", "cd", "e"}) {
        const auto acquired = s.acquire({.queue = work_queue});
        expect_equal(letters_of(acquired.leases), std::string{letters}, which);
        const bool is_last = acquired.leases.size() == 1;
        expect_equal(acquired.next_due, is_last ? never : s.now(), "time of the next acquisition");
        for (const auto& lease : acquired.leases) s.perform(AckJob{lease});
    }
    expect_equal(s.queue(work_queue), QueueStatus{}, "jobs left in the queue");
}

}  // namespace

void add_job_slice_cases(StoreCases& add) {
    add("an acquisition leases a chunk of large jobs, and leaves the rest READY", [](Scenario& s) {
        expect_leased_in_slices(s, {}, "jobs");
        expect_leased_in_slices(s, {.key = {.text = "key "}}, "jobs with keys");
        expect_leased_in_slices(s, {.priority = 1}, "jobs with a priority");
        JobOptions in_group;
        in_group.group = "g";
        in_group.concurrency = 10;
        expect_leased_in_slices(s, in_group, "jobs of a group");
        s.perform(LimitQueue{work_queue,
                             {.queue = RateLimit{.jobs = 1'000, .per = Duration{1}},
                              .each_group = RateLimit{.jobs = 1'000, .per = Duration{1}}}});
        expect_leased_in_slices(s, in_group, "jobs of a group with tokens");
    });

    add("a job that is larger than a chunk is leased alone", [](Scenario& s) {
        s.push("a");
        s.push(std::string(job_slice_bytes_max + 1, 'b'));
        s.push("c");
        for (const char* letter : {"a", "b", "c"}) {
            const auto leases = s.acquire({.queue = work_queue}).leases;
            expect_equal(letters_of(leases), std::string{letter}, "jobs");
        }
    });

    add("leases whose reply was lost are returned again, even for large jobs", [](Scenario& s) {
        push_large(s, "abcd");
        for (int i = 0; i < 2; ++i) s.acquire({.queue = work_queue});
        AcquireJobs step{work_queue, Scenario::worker(1), 10, 0};
        expect_equal(letters_of(s.perform(step).leases), std::string{"abcd"}, "jobs");
    });

    add("an acquisition returns again only leases that the worker has not received",
        [](Scenario& s) {
            push_large(s, "abcd");
            const auto got = s.acquire({.queue = work_queue}).leases;
            expect_equal(got.size(), 2U, "number of leases");
            s.acquire({.queue = work_queue});
            s.push("e");
            AcquireJobs step{work_queue, Scenario::worker(1), 4, 0};
            step.newest = got.back().fence;
            const std::vector<std::uint64_t> fences{got[0].fence, got[1].fence};
            auto again = s.perform(step);
            expect_equal(again.held, fences, "fences that the worker already has");
            expect_equal(letters_of(again.leases), std::string{"cd"},
                         "jobs whose leases were in the lost reply");
            step.limit = 5;
            again = s.perform(step);
            expect_equal(again.held, fences, "fences that the worker already has");
            expect_equal(letters_of(again.leases), std::string{"cde"},
                         "jobs of the lost reply and a new job");
            s.perform(AckJob{got[0]});
            step.newest = again.leases.back().fence;
            again = s.perform(step);
            expect_equal(again.held.size(), 4U, "fences that the worker already has");
            expect_equal(again.leases.size(), 0U, "leases that the worker does not have yet");
        });

    add("an acquisition drops at most a chunk of large expired jobs, and the next acquisition "
        "continues",
        [](Scenario& s) {
            expect_ended_in_slices(s, {}, "jobs");
            expect_ended_in_slices(s, {.key = {.text = "key "}}, "jobs with keys");
            expect_ended_in_slices(s, {.priority = 1}, "jobs with a priority");
            JobOptions in_group;
            in_group.group = "g";
            in_group.concurrency = 10;
            expect_ended_in_slices(s, in_group, "jobs of a group");
            s.perform(LimitQueue{work_queue,
                                 {.queue = RateLimit{.jobs = 1'000, .per = Duration{1}},
                                  .each_group = RateLimit{.jobs = 1'000, .per = Duration{1}}}});
            expect_ended_in_slices(s, in_group, "jobs of a group with tokens");
        });

    add("jobs of Ruby Routemaster's queues are acquired in chunks, too", [](Scenario& s) {
        for (const char letter : {'a', 'b', 'c'}) {
            s.perform(PushJob{"aux", std::string(large_job, letter), s.now()});
        }
        expect_equal(letters_of(s.acquire({.queue = "aux"}).leases), std::string{"ab"}, "jobs");
        expect_equal(letters_of(s.acquire({.queue = "aux"}).leases), std::string{"c"},
                     "jobs of the second chunk");
    });

    add("a page has a chunk of large jobs, and the start of the next page", [](Scenario& s) {
        push_large(s, "abcd");
        push_large(s, "e", {.key = {.text = "key "}});
        ListJobs step{.queue = work_queue, .state = State::ready};
        for (const char* letters : {"ab", "cd", "e"}) {
            const auto page = s.perform(step);
            expect_equal(letters_of(page.jobs), std::string{letters}, "jobs on each page");
            step.after = page.next;
        }
        expect_equal(step.after, JobId{0}, "start of a page after the last");
    });

    add("large BURIED jobs are kicked in chunks, or one job by its id", [](Scenario& s) {
        push_large(s, "abcd");
        for (int i = 0; i < 4; ++i) {
            s.bury_next();
            s.advance(Duration{1});
        }
        const auto buried = s.jobs(State::buried);
        expect_equal(letters_of(buried), std::string{"abcd"}, "BURIED jobs");
        expect_equal(s.perform(KickJobs{.queue = work_queue, .id = buried[1].id}), Count{1},
                     "jobs kicked by an id");
        expect_equal(s.perform(KickJobs{.queue = work_queue}), Count{2},
                     "jobs kicked in the first chunk");
        expect_equal(s.perform(KickJobs{.queue = work_queue}), Count{1},
                     "jobs kicked in the last chunk");
        expect_equal(s.perform(KickJobs{.queue = work_queue}), Count{0},
                     "jobs kicked when none is BURIED");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 4}, "jobs");
    });

    add("large jobs of a retiring or dead worker are released in chunks before the worker goes",
        [](Scenario& s) {
            push_large(s, "abcd");
            push_large(s, "e", {.key = {.text = "key "}});
            expect_released_in_slices(s, 1, Duration{0}, RetireWorker{Scenario::worker(1)});
            const Duration silence{30'000};
            expect_released_in_slices(s, 2, silence, ScrubWorkers{silence});
            expect_equal(s.counter({"workers.scrubbed", {}}), std::optional{1}, "workers.scrubbed");
        });

    add("a worker gets no lease of its released large jobs again", [](Scenario& s) {
        push_large(s, "abcde");
        lease_large(s, 1);
        const Duration silence{30'000};
        s.advance(silence);
        expect_equal(s.perform(ScrubWorkers{silence}), ReleasedJobs{2, true},
                     "jobs released by the first scrub");
        s.perform(PauseQueue{work_queue});
        const AcquireJobs step{work_queue, Scenario::worker(1), 10, 0};
        expect_equal(letters_of(s.perform(step).leases), std::string{"cde"},
                     "jobs in the leases returned again");
        // The acquisition counted as a sign of life of the worker.
        expect_equal(s.perform(ScrubWorkers{silence}), ReleasedJobs{},
                     "jobs released by the second scrub");
    });

    add("large jobs of several dead workers are released in shared chunks", [](Scenario& s) {
        push_large(s, "abc");
        for (const unsigned worker : {1U, 2U, 3U}) {
            s.acquire({.worker = worker, .limit = 1, .queue = work_queue});
        }
        const Duration silence{30'000};
        s.advance(silence);
        expect_equal(s.perform(ScrubWorkers{silence}), ReleasedJobs{2, true}, "jobs released");
        expect_equal(s.counter({"workers.scrubbed", {}}), std::optional{2}, "workers.scrubbed");
        expect_equal(s.perform(ScrubWorkers{silence}), ReleasedJobs{1},
                     "jobs released by the second scrub");
    });

    add("a job that is larger than a chunk is released alone", [](Scenario& s) {
        s.push("a");
        s.push(std::string(job_slice_bytes_max + 1, 'b'));
        s.push("c");
        for (int i = 0; i < 3; ++i) s.acquire({.queue = work_queue});
        for (const bool more : {true, true, false}) {
            expect_equal(s.perform(RetireWorker{Scenario::worker(1)}), ReleasedJobs{1, more},
                         "jobs released");
        }
    });

    add("the errors of jobs count in the chunks of lists, kicks and releases", [](Scenario& s) {
        for (const char letter : {'a', 'b'}) s.push(std::string(job_with_errors, letter));
        bury_all_at_second(s);
        ListJobs page{.queue = work_queue, .state = State::buried};
        for (const char* letter : {"a", "b"}) {
            const auto jobs = s.perform(page);
            expect_equal(letters_of(jobs.jobs), std::string{letter}, "jobs on each page");
            page.after = jobs.next;
        }
        expect_equal(page.after, JobId{0}, "start of a page after the last");
        for (const std::uint64_t kicked : {1U, 1U, 0U}) {
            expect_equal(s.perform(KickJobs{.queue = work_queue}), Count{kicked}, "jobs kicked");
        }
        const Duration silence{30'000};
        for (const bool retires : {true, false}) {
            expect_equal(s.acquire({.queue = work_queue}).leases.size(), 2U, "jobs leased");
            s.advance(silence);
            for (const bool more : {true, false}) {
                const auto released = retires ? s.perform(RetireWorker{Scenario::worker(1)})
                                              : s.perform(ScrubWorkers{silence});
                expect_equal(released, ReleasedJobs{1, more}, "jobs released");
            }
        }
    });
}

}  // namespace routemaster::testing
