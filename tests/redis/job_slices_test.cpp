// The chunks in which steps process many large jobs, and the keys that they leave.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "redis_scene.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

/// Two such jobs fit into a chunk; three do not.
constexpr std::size_t large_job_bytes = job_slice_bytes_max / 5 * 2;

struct LargeJobs : RedisScene {
    void push_letters(const std::string& letters, std::size_t bytes) {
        for (const char letter : letters) {
            perform(PushJob{"work", std::string(bytes, letter), now});
        }
    }
    Acquired acquire_work() {
        return perform(AcquireJobs{.queue = "work", .worker = worker, .limit = 100});
    }
    std::string leases() const { return "routemaster:leases:" + std::string{worker.text()}; }
};

}  // namespace

TEST_CASE("redis: large jobs that a worker releases in several steps leave no lease") {
    LargeJobs s;
    s.push_letters("abc", large_job_bytes);
    const auto first = s.acquire_work().leases;
    REQUIRE(first.size() == 2);
    REQUIRE(s.acquire_work().leases.size() == 1);
    REQUIRE(s.other({"HLEN", s.leases()}).number == 4);
    const auto release = [&](const auto& step) {
        CHECK(s.perform(step) == ReleasedJobs{2, true});
        CHECK(s.perform(CountJobs{"work"}) == QueueStatus{.ready = 2, .pending = 1});
        // The lease of the third job, and the field with the newest fence.
        CHECK(s.other({"HLEN", s.leases()}).number == 2);
        CHECK(s.other({"HEXISTS", "workers", std::string{s.worker.text()}}).number == 1);
        for (const auto& lease : first) CHECK(s.perform(AckJob{lease}) == Settlement::lease_lost);
        CHECK(s.perform(step) == ReleasedJobs{1, false});
        CHECK(s.perform(CountJobs{"work"}) == QueueStatus{.ready = 3});
        CHECK(s.other({"EXISTS", s.leases(), "workers"}).number == 0);
    };
    SUBCASE("the worker ends") { release(RetireWorker{s.worker}); }
    SUBCASE("the worker is declared dead") {
        s.now += Duration{30'000};
        release(ScrubWorkers{Duration{30'000}});
    }
}

TEST_CASE("redis: the errors of large jobs count in the chunks of lists, kicks and releases") {
    LargeJobs s;
    // With one error each, two such jobs fit into a chunk; with two errors, one does.
    s.push_letters("ab", job_slice_bytes_max / 2 - job_error_max - job_error_max / 2);
    for (const bool second : {false, true}) {
        const auto leases = s.acquire_work().leases;
        REQUIRE(leases.size() == 2);
        for (const auto& lease : leases) {
            s.perform(FailJob{.lease = lease,
                              .error = std::string(job_error_max, 'e'),
                              .run_at = s.now,
                              .bury = second});
        }
    }
    ListJobs page{.queue = "work", .state = JobStatus::State::buried};
    for (const bool last : {false, true}) {
        const auto jobs = s.perform(page);
        CHECK(jobs.jobs.size() == 1);
        CHECK((jobs.next == 0) == last);
        page.after = jobs.next;
    }
    for (const std::uint64_t kicked : {1U, 1U, 0U}) {
        CHECK(s.perform(KickJobs{.queue = "work"}) == Count{kicked});
    }
    REQUIRE(s.acquire_work().leases.size() == 2);
    CHECK(s.perform(RetireWorker{s.worker}) == ReleasedJobs{1, true});
    CHECK(s.perform(RetireWorker{s.worker}) == ReleasedJobs{1, false});
}

TEST_CASE("redis: large jobs without further attempts are BURIED in chunks") {
    LargeJobs s;
    s.push_letters("abc", large_job_bytes);
    // Jobs as another program, or a version without immediate burial, may leave them.
    for (const char letter : {'a', 'b', 'c'}) {
        s.other({"EVAL",
                 "redis.call('HSET', KEYS[1], ARGV[1], cmsgpack.pack({25, '', 25, 0, " +
                     std::string{"9007199254740991, -1}))"},
                 "1", "routemaster:job:work", std::string(large_job_bytes, letter)});
    }
    auto acquired = s.acquire_work();
    CHECK(acquired.leases.empty());
    CHECK(acquired.next_due == s.now);
    CHECK(s.perform(CountJobs{"work"}) == QueueStatus{.ready = 1, .buried = 2});
    acquired = s.acquire_work();
    CHECK(acquired.next_due == never);
    CHECK(s.perform(CountJobs{"work"}) == QueueStatus{.buried = 3});
}

TEST_CASE("redis: a repeated acquisition returns only the fences of leases that the worker has") {
    LargeJobs s;
    s.push_letters("abc", large_job_bytes);
    const auto got = s.acquire_work().leases;
    REQUIRE(got.size() == 2);
    REQUIRE(s.acquire_work().leases.size() == 1);
    const auto again = s.perform(AcquireJobs{
        .queue = "work", .worker = s.worker, .limit = 100, .known = 0, .newest = got.back().fence});
    CHECK(again.held == std::vector{got[0].fence, got[1].fence});
    REQUIRE(again.leases.size() == 1);
    CHECK(again.leases[0].job.front() == 'c');
}

TEST_CASE("redis: acquired jobs have their own ids, even if earlier jobs fell due meanwhile") {
    RedisScene s;
    std::map<std::string, JobId> ids;
    for (int n = 1; n <= 12; ++n) {
        const auto job = "job " + std::to_string(n);
        const bool later = n == 2 || n == 3 || n == 12;
        ids[job] = s.perform(PushJob{"work", job, s.now + Duration{later ? n : 0}}).id;
    }
    s.now += Duration{12};
    const auto leases =
        s.perform(AcquireJobs{.queue = "work", .worker = s.worker, .limit = 100}).leases;
    REQUIRE(leases.size() == ids.size());
    CHECK(leases.back().job == "job 12");
    for (const auto& lease : leases) CHECK(lease.id == ids.at(lease.job));
}

TEST_CASE("redis: many jobs acquired at once are stored in hash tables without other entries") {
    RedisScene s;
    constexpr int count = 100;
    for (int n = 0; n < count; ++n) s.perform(PushJob{"work", std::to_string(n), s.now});
    const AcquireJobs step{.queue = "work", .worker = s.worker, .limit = count};
    REQUIRE(s.perform(step).leases.size() == count);
    const auto leases = "routemaster:leases:" + std::string{s.worker.text()};
    // Includes the newest fence.
    CHECK(s.other({"HLEN", leases}).number == count + 1);
    CHECK(s.other({"HLEN", "routemaster:job:work"}).number == count);
    for (const auto& key : {leases, std::string{"routemaster:job:work"}}) {
        CHECK(s.other({"OBJECT", "ENCODING", key}).text == "hashtable");
    }
}
