#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cases.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::testing {
namespace {

using State = JobStatus::State;

/// Two of these are less than a slice, and three are more.
constexpr std::size_t large_job = job_slice_bytes_max / 5 * 2;

/// Pushes large jobs, each of which consists of one letter.
void push_large(Scenario& s, const std::string& letters, const JobOptions& options = {}) {
    for (const char letter : letters) {
        auto own = options;
        if (!own.key.text.empty()) own.key.text += letter;
        s.push_with(std::string(large_job, letter), own);
    }
}

/// The letters of jobs, in their order.
template <class Jobs>
std::string letters_of(const Jobs& jobs) {
    std::string all;
    for (const auto& job : jobs) all += job.job.front();
    return all;
}

/// Two of these are less than a slice while each has one error, and more once each has two.
constexpr std::size_t job_with_errors = job_slice_bytes_max / 2 - job_error_max - job_error_max / 2;

/// Fails what is READY twice, with the longest of errors; then it is BURIED.
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

/// Large jobs are leased two by two, as the last of them says when there are no more.
void expect_leased_in_slices(Scenario& s, const JobOptions& options, const char* which) {
    push_large(s, "abcde", options);
    for (const char* letters : {"ab", "cd", "e"}) {
        const auto acquired = s.acquire({.queue = work_queue});
        expect_equal(letters_of(acquired.leases), std::string{letters}, which);
        const bool is_last = acquired.leases.size() == 1;
        expect_equal(acquired.next_due, is_last ? never : s.now(), "when there is more");
        for (const auto& lease : acquired.leases) s.perform(AckJob{lease});
    }
    expect_equal(s.queue(work_queue), QueueStatus{}, "jobs that are left");
}

}  // namespace

void add_job_slice_cases(StoreCases& add) {
    add("an acquisition leases a slice of large jobs, and what does not fit stays READY",
        [](Scenario& s) {
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

    add("a job that is larger than a slice is leased alone", [](Scenario& s) {
        s.push("a");
        s.push(std::string(job_slice_bytes_max + 1, 'b'));
        s.push("c");
        for (const char* letter : {"a", "b", "c"}) {
            const auto leases = s.acquire({.queue = work_queue}).leases;
            expect_equal(letters_of(leases), std::string{letter}, "jobs");
        }
    });

    add("leases whose reply was lost come again however large their jobs are", [](Scenario& s) {
        push_large(s, "abcd");
        for (int i = 0; i < 2; ++i) s.acquire({.queue = work_queue});
        AcquireJobs step{work_queue, Scenario::worker(1), 10, 0};
        expect_equal(letters_of(s.perform(step).leases), std::string{"abcd"}, "jobs");
    });

    add("jobs of Ruby Routemaster's queues are acquired in slices, too", [](Scenario& s) {
        for (const char letter : {'a', 'b', 'c'}) {
            s.perform(PushJob{"aux", std::string(large_job, letter), s.now()});
        }
        expect_equal(letters_of(s.acquire({.queue = "aux"}).leases), std::string{"ab"}, "jobs");
        expect_equal(letters_of(s.acquire({.queue = "aux"}).leases), std::string{"c"}, "the rest");
    });

    add("a page has a slice of large jobs, and says where to go on", [](Scenario& s) {
        push_large(s, "abcd");
        push_large(s, "e", {.key = {.text = "key "}});
        ListJobs step{.queue = work_queue, .state = State::ready};
        for (const char* letters : {"ab", "cd", "e"}) {
            const auto page = s.perform(step);
            expect_equal(letters_of(page.jobs), std::string{letters}, "a page");
            step.after = page.next;
        }
        expect_equal(step.after, JobId{0}, "where to go on at the end");
    });

    add("large BURIED jobs are kicked in slices, and one by its id", [](Scenario& s) {
        push_large(s, "abcd");
        for (int i = 0; i < 4; ++i) {
            s.bury_next();
            s.advance(Duration{1});
        }
        const auto buried = s.jobs(State::buried);
        expect_equal(letters_of(buried), std::string{"abcd"}, "BURIED jobs");
        expect_equal(s.perform(KickJobs{.queue = work_queue, .id = buried[1].id}), Count{1},
                     "one of them");
        expect_equal(s.perform(KickJobs{.queue = work_queue}), Count{2}, "a slice");
        expect_equal(s.perform(KickJobs{.queue = work_queue}), Count{1}, "the rest");
        expect_equal(s.perform(KickJobs{.queue = work_queue}), Count{0}, "no more");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 4}, "jobs");
    });

    add("the errors of jobs count in the slices that are listed and kicked", [](Scenario& s) {
        for (const char letter : {'a', 'b'}) s.push(std::string(job_with_errors, letter));
        bury_all_at_second(s);
        ListJobs page{.queue = work_queue, .state = State::buried};
        for (const char* letter : {"a", "b"}) {
            const auto jobs = s.perform(page);
            expect_equal(letters_of(jobs.jobs), std::string{letter}, "a page");
            page.after = jobs.next;
        }
        expect_equal(page.after, JobId{0}, "where to go on at the end");
        for (const std::uint64_t kicked : {1U, 1U, 0U}) {
            expect_equal(s.perform(KickJobs{.queue = work_queue}), Count{kicked}, "kicked");
        }
    });
}

}  // namespace routemaster::testing
