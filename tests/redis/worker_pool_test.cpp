// Pools in several processes on one server. Some processes are killed, or stall.

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/job_queue.hpp"
#include "routemaster/store/redis.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/await.hpp"
#include "support/redis_server.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// The reports of a pool in another process, in memory that outlives the process.
struct Report {
    std::atomic<int> begun{0};
    std::atomic<int> stopped{0};
    std::atomic<int> ended{0};
    std::atomic<int> lease_lost{0};
    std::atomic<int> poisoned{0};
};

class SharedReport {
public:
    SharedReport()
        : report_{new (::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Report{}} {}
    SharedReport(const SharedReport&) = delete;
    SharedReport& operator=(const SharedReport&) = delete;
    ~SharedReport() { ::munmap(report_, sizeof(Report)); }

    Report* operator->() const { return report_; }
    Report& operator*() const { return *report_; }

private:
    Report* report_;
};

/// A process with a pool, which works until it is killed. Must be started before its parent has
/// threads.
class PoolProcess {
public:
    using Handle = std::function<void(JobContext&, Report&)>;

    PoolProcess(const RedisServer& server, Report& report, const Handle& handle,
                const WorkerPoolOptions& options = {.queues = {"work"}})
        : pid_{::fork()} {
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) work(server, report, handle, options);
    }
    PoolProcess(const PoolProcess&) = delete;
    PoolProcess& operator=(const PoolProcess&) = delete;
    ~PoolProcess() {
        if (pid_ > 0) kill();
    }

    void signal(int number) const { ::kill(pid_, number); }
    void kill() {
        signal(SIGKILL);
        wait();
    }
    /// Waits for the end of the process.
    void wait() { ::waitpid(std::exchange(pid_, 0), nullptr, 0); }
    /// Waits for the end of the process, or until `happened` returns true.
    void wait_unless(const std::function<bool()>& happened) {
        while (!happened() && pid_ > 0) {
            if (::waitpid(pid_, nullptr, WNOHANG) != 0) pid_ = 0;
            ::usleep(5'000);
        }
    }

private:
    [[noreturn]] static void work(const RedisServer& server, Report& report, const Handle& handle,
                                  const WorkerPoolOptions& options) noexcept {
        RedisStore store{{.addresses = {server.address()}}};
        WorkerPool pool{store, options};
        pool.handle("a", [&](JobContext& job) { handle(job, report); });
        pool.start();
        while (true) {
            report.lease_lost = static_cast<int>(pool.status().lease_lost);
            ::usleep(10'000);
        }
    }

    pid_t pid_;
};

/// A handler that continues until its stop token is requested.
void keep(JobContext& job, Report& report) {
    ++report.begun;
    while (!job.stop_requested()) ::usleep(1'000);
    ++report.stopped;
}

[[noreturn]] void die(JobContext&, Report& report) {
    ++report.begun;
    ::raise(SIGKILL);
    throw std::logic_error{"alive"};
}

/// A pool in this process. Its job stays under way.
struct Keeper {
    explicit Keeper(const RedisServer& server) : store{{.addresses = {server.address()}}} {
        pool.handle_async("a", [this](const JobResponder& responder) {
            const std::lock_guard lock{mutex};
            kept = responder;
        });
    }

    [[nodiscard]] std::optional<JobResponder> responder() {
        const std::lock_guard lock{mutex};
        return kept;
    }
    [[nodiscard]] QueueStatus queue() { return jobs.status().value(); }

    std::mutex mutex;  // Guards `kept`.
    std::optional<JobResponder> kept;
    RedisStore store;
    JobQueue jobs{store, "work"};
    WorkerPool pool{store, {.queues = {"work"}}};
};

/// A handler that kills its process after a while, or takes long.
void die_or_take_long(JobContext& job, Report& report) {
    ++report.begun;
    if (job.arguments()[0] == Value{"poison"}) {
        ::usleep(50'000);
        ++report.poisoned;
        die(job, report);
    }
    ::usleep(200'000);
    ++report.ended;
}

/// Options for a pool that soon declares workers dead.
WorkerPoolOptions quick_options() {
    return {.queues = {"work"},
            .heartbeat_interval = Duration{50},
            .worker_silence = Duration{300},
            .poll_interval = Duration{100}};
}

constexpr std::chrono::seconds within{5};

}  // namespace

TEST_CASE("redis: a job whose worker is killed runs in another process within 5 s") {
    const RedisServer server;
    const SharedReport report;
    PoolProcess victim{server, *report, keep};
    Keeper other{server};
    const auto id = other.jobs.push(Job{"a"}).value().id;
    REQUIRE(await([&] { return report->begun == 1; }));
    other.pool.start();
    victim.kill();
    REQUIRE(await([&] { return other.responder().has_value(); }, within));
    CHECK(other.responder()->context().attempt() == 2);
    CHECK(other.responder()->context().id() == id);
    other.responder()->done();
    CHECK(await([&] { return other.queue() == QueueStatus{}; }));
}

TEST_CASE("redis: a worker that was frozen cannot settle a job that another worker has now") {
    const RedisServer server;
    const SharedReport report;
    const PoolProcess zombie{server, *report, keep};
    Keeper other{server};
    const auto id = other.jobs.push(Job{"a"}).value().id;
    REQUIRE(await([&] { return report->begun == 1; }));
    other.pool.start();
    zombie.signal(SIGSTOP);
    REQUIRE(await([&] { return other.responder().has_value(); }, within));
    zombie.signal(SIGCONT);
    // Its stop token is requested, and its handler returns as if the job were done.
    CHECK(await([&] { return report->stopped == 1; }));
    CHECK(await([&] { return report->lease_lost == 1; }));
    CHECK(other.queue() == QueueStatus{.pending = 1});
    CHECK(other.jobs.find(id).value()->attempts == 2);
    CHECK(!other.responder()->context().stop_requested());
    other.responder()->done();
    CHECK(await([&] { return other.queue() == QueueStatus{}; }));
}

TEST_CASE("redis: a worker that was frozen cannot settle a job that has ended meanwhile") {
    const RedisServer server;
    const SharedReport report;
    const PoolProcess zombie{server, *report, [](JobContext&, Report& to) {
                                 // Stalls in the handler, as the whole process does.
                                 ++to.begun;
                                 ::raise(SIGSTOP);
                                 ++to.ended;
                             }};
    Keeper other{server};
    const auto id = other.jobs.push(Job{"a"}).value().id;
    REQUIRE(await([&] { return report->begun == 1; }));
    other.pool.start();
    REQUIRE(await([&] { return other.responder().has_value(); }, within));
    zombie.signal(SIGCONT);
    CHECK(await([&] { return report->ended == 1; }));
    CHECK(await([&] { return report->lease_lost == 1; }));
    CHECK(other.queue() == QueueStatus{.pending = 1});
    CHECK(other.jobs.find(id).value()->attempts == 2);
    other.responder()->done();
    CHECK(await([&] { return other.queue() == QueueStatus{}; }));
}

TEST_CASE(
    "redis: a job that kills its worker in each attempt is BURIED, and no other job with it") {
    const RedisServer server;
    const SharedReport report;
    const auto quick = quick_options();
    JobId id = 0;
    {
        PoolProcess first{server, *report, die, quick};
        RedisStore store{{.addresses = {server.address()}}};
        id = JobQueue{store, "work"}.push(Job{"a"}, {.attempts_max = 3}).value().id;
        first.wait();
    }
    for (int i = 2; i <= 3; ++i) {
        PoolProcess next{server, *report, die, quick};
        next.wait();
    }
    CHECK(report->begun == 3);
    RedisStore store{{.addresses = {server.address()}}};
    JobQueue jobs{store, "work"};
    jobs.push({"a", {"another"}}).value();
    std::atomic<int> done{0};
    WorkerPool pool{store, quick};
    pool.handle("a", [&](const JobContext& job) {
        CHECK(job.id() != id);
        ++done;
    });
    pool.start();
    CHECK(await([&] { return jobs.status().value() == QueueStatus{.buried = 1}; }));
    CHECK(done == 1);
    CHECK(jobs.find(id).value()->state == JobStatus::State::buried);
}

TEST_CASE(
    "redis: a job that kills its process in each attempt never makes the job beside it BURIED") {
    const RedisServer server;
    const SharedReport report;
    auto quick = quick_options();
    quick.threads = 4;
    quick.queues = {"work", "other"};
    JobId poison = 0;
    {
        RedisStore store{{.addresses = {server.address()}}};
        const PushOptions thrice{.attempts_max = 3};
        JobQueue jobs{store, "work"};
        jobs.push({"a", {1}}, thrice).value();
        poison = jobs.push({"a", {"poison"}}, thrice).value().id;
        jobs.push({"a", {2}}, thrice).value();
        JobQueue{store, "other"}.push({"a", {3}}, thrice).value();
    }
    // The settlement after a handler may be lost with its process: the store decides whether the
    // jobs are done.
    const auto is_over = [&] {
        if (report->ended < 3 || report->poisoned < 3) return false;
        RedisStore store{{.addresses = {server.address()}}};
        const auto left = JobQueue{store, "work"}.status().value();
        return left.scheduled + left.ready == 0 && left.pending + left.buried == 1 &&
               JobQueue{store, "other"}.status().value() == QueueStatus{};
    };
    for (int lives = 0; !is_over(); ++lives) {
        REQUIRE(lives < 6);
        PoolProcess next{server, *report, die_or_take_long, quick};
        next.wait_unless(is_over);
    }
    RedisStore store{{.addresses = {server.address()}}};
    JobQueue jobs{store, "work"};
    WorkerPool pool{store, quick};
    pool.handle("a", [](JobContext&) {});
    pool.start();
    CHECK(await([&] { return jobs.status().value() == QueueStatus{.buried = 1}; }));
    JobQueue other{store, "other"};
    CHECK(await([&] { return other.status().value() == QueueStatus{}; }));
    const auto buried = jobs.find(poison).value().value();
    CHECK(buried.attempts == 3);
    REQUIRE(buried.errors.size() == 3);
    for (const auto& error : buried.errors) CHECK(error.text == unreported_error);
}

TEST_CASE("redis: a pool does each of many jobs once, and keeps their errors") {
    const RedisServer server;
    RedisStore store{{.addresses = {server.address()}}};
    JobQueue jobs{store, "work"};
    std::vector<Job> all;
    for (int i = 0; i < 3'000; ++i) all.push_back({"a", {i}});
    for (const auto& pushed : jobs.push_many(all)) REQUIRE(pushed.has_value());
    const auto bad = jobs.push(Job{"bad"}, {.attempts_max = 2}).value().id;
    std::vector<std::atomic<int>> done(all.size());
    WorkerPool pool{
        store,
        {.queues = {"work"}, .threads = 4, .retry = {.wait_first = Duration{5}, .jitter = 0}}};
    pool.handle("a", [&](const JobContext& job) {
        ++done[static_cast<std::size_t>(*job.arguments()[0].get_if<std::int64_t>())];
    });
    pool.handle("bad", [](JobContext&) { throw std::runtime_error{"no"}; });
    pool.start();
    CHECK(await([&] { return jobs.status().value() == QueueStatus{.buried = 1}; }));
    for (const auto& times : done) REQUIRE(times == 1);
    CHECK(jobs.find(bad).value()->errors.size() == 2);
    CHECK(jobs.list(JobStatus::State::buried).value().jobs.at(0).id == bad);
}
