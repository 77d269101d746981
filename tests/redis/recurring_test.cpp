// Recurring jobs on a server: which process runs a tick, and when.

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "redis_scene.hpp"
#include "routemaster/codec/msgpack.hpp"
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

TEST_CASE(
    "redis: a recurring timer uses the keys of dtimer, and is due at the tick on the server's "
    "clock") {
    RedisScene s;
    const RecurringSettings settings{
        .schedule = "@every 1m",
        .timer = RecurringTimer{.space = "dt",
                                .payload = encode(Value{Value::Map{{"to", "Ada"}}}),
                                .retries_max = 2,
                                .confirm_within = Duration{5'000}}};
    s.perform(
        PutRecurringJob{"call", std::make_shared<const RecurringSettings>(settings), Uid{1, 1}});
    const auto job = s.perform(FindRecurringJob{"call"}).value();
    CHECK(job.settings == settings);
    const auto tick = job.next_at + Duration{60'000};
    const RunRecurringJob step{
        .name = job.name,
        .revision = job.revision,
        .at = job.next_at,
        .until = tick,
        .next = tick + Duration{60'000},
        .push = {},
        .post = std::make_shared<const PostTimer>(post_of(job.name, job.settings, tick))};
    CHECK(s.perform(step).outcome == RecurringRun::Outcome::pushed);
    const std::string id = "recurring:call";
    CHECK(s.other({"ZSCORE", "dt:ei", id}).text == std::to_string(to_milliseconds(tick)));
    CHECK(s.other({"HGET", "dt:ed", id}).text ==
          R"({"to":"Ada","id":"recurring:call","maxRetries":2})");
    CHECK(s.other({"HGET", "dt:routemaster:confirm", id}).text == "5000");
    CHECK(s.other({"EXISTS", "jobs:index:work"}).number == 0);

    // Node confirms the timer, and the next tick posts a new one. A timer that is FIRED is kept.
    for (const bool fired : {true, false}) {
        if (fired) {
            s.other({"ZREM", "dt:ei", id});
            s.other({"ZADD", "dt:et", "1795222999999", id});
        } else {
            s.other({"ZREM", "dt:et", id});
            s.other({"HDEL", "dt:ed", id});
        }
        const auto read = s.perform(FindRecurringJob{"call"}).value();
        auto next = step;
        next.at = read.next_at;
        next.until = read.next_at;
        next.next = read.next_at + Duration{60'000};
        next.post = std::make_shared<const PostTimer>(post_of(job.name, settings, next.until));
        const auto outcome = s.perform(next).outcome;
        CHECK(outcome == (fired ? RecurringRun::Outcome::kept : RecurringRun::Outcome::pushed));
    }
}

TEST_CASE(
    "redis: a recurring job with an unreadable record counts as absent, and can be put again") {
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
