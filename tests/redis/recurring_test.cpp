// Recurring jobs on a server: which process runs a tick, and when.

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "redis_scene.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "routemaster/recurring_scheduler.hpp"
#include "routemaster/runner.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

/// A process with a scheduler.
struct SchedulingProcess {
    explicit SchedulingProcess(const test::RedisServer& server)
        : store{{.addresses = {server.address()}}} {}

    RedisStore store;
    RecurringScheduler scheduler{store};
    Runner runner{scheduler};
};

}  // namespace

TEST_CASE("redis: three schedulers run each tick once, and within 100 ms") {
    test::RedisServer server;
    RedisStore store{{.addresses = {server.address()}}};
    std::vector<std::unique_ptr<SchedulingProcess>> processes;
    for (int i = 0; i < 3; ++i) processes.push_back(std::make_unique<SchedulingProcess>(server));
    RecurringJobs recurring{store};
    recurring.every("ping", Duration{1'000}, "work", Job{"ping", {}}, {.overlap = true}).value();

    JobQueue work{store, "work"};
    std::vector<std::int64_t> ticks;
    JobId after = 0;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (ticks.size() < 4 && std::chrono::steady_clock::now() < deadline) {
        for (const auto& job : work.list(JobStatus::State::ready, after).value().jobs) {
            after = job.id;
            ticks.push_back(std::stoll(job.options.metadata.at("tick")));
            const auto late = to_milliseconds(system_clock().now()) - ticks.back();
            CHECK(late >= 0);
            WARN(late < 100);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    REQUIRE(ticks.size() >= 4);
    for (std::size_t i = 1; i < ticks.size(); ++i) CHECK(ticks[i] == ticks[i - 1] + 1'000);
    std::uint64_t pushed = 0;
    for (const auto& process : processes) pushed += process->scheduler.status().pushed;
    CHECK(pushed >= ticks.size());
    const auto job = recurring.find("ping").value().value();
    CHECK(job.runs == pushed);
    CHECK(job.kept == 0);
}

TEST_CASE("redis: a recurring job whose record cannot be read is not there, and is put anew") {
    RedisScene s;
    const PutRecurringJob put{"report",
                              std::make_shared<const RecurringSettings>(RecurringSettings{
                                  .schedule = "@every 1m", .queue = "work", .job = "tick"}),
                              Uid{1, 1}};
    s.perform(put);
    s.other({"HSET", "routemaster:recurring", "report", "x"});
    CHECK_FALSE(s.perform(FindRecurringJob{"report"}));
    CHECK(s.perform(ListRecurringJobs{}).empty());
    CHECK(s.perform(DueRecurringJobs{}).jobs.empty());
    s.perform(put);
    CHECK(s.perform(DueRecurringJobs{}).jobs.size() == 1);
    CHECK(s.perform(RemoveRecurringJob{"report"}) == Removal::removed);
    CHECK(s.other({"EXISTS", "routemaster:recurring"}).number == 0);
    CHECK(s.other({"EXISTS", "routemaster:recurring:due"}).number == 0);
}
