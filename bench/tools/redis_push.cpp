// Pushes jobs to a queue on Redis, for benchmarks.
//
//   bench_redis_push --url URL --count N --in-flight N --together N
//
// A push leaves when an earlier one is answered, so that as many as asked are always under way; of
// those that are submitted `--together`, the next leave when all of them are answered. The queue
// must be empty; the jobs stay in it. Prints one JSON line.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include <CLI/CLI.hpp>

#include "jobs.hpp"
#include "redis_run.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/redis.hpp"

namespace {

namespace rm = routemaster;

struct Settings {
    bench::RedisSettings redis;
    std::uint32_t together = 1;
};

/// Pushes the jobs of the numbers `begin` to `end`.
class Pushes {
public:
    Pushes(rm::Store& store, const Settings& settings, std::uint64_t begin, std::uint64_t end)
        : store_{store}, settings_{settings}, next_{begin}, end_{end}, open_{end - begin} {}

    void run() {
        if (open_ == 0) return;
        for (std::uint32_t n = 0; n < settings_.redis.in_flight; n += settings_.together) submit();
        finish_.wait();
    }

private:
    void submit() {
        const auto begin = next_.fetch_add(settings_.together);
        if (begin >= end_) return;
        const auto now = rm::system_clock().now();
        std::vector<rm::Step> steps;
        steps.reserve(settings_.together);
        for (auto n = begin; n < std::min(begin + settings_.together, end_); ++n) {
            steps.emplace_back(rm::PushJob{bench::job_queue, bench::numbered_job(n), now});
        }
        store_.submit(steps, now, [this](std::span<rm::Outcome> outcomes) { answered(outcomes); });
    }

    void answered(std::span<rm::Outcome> outcomes) {
        for (auto& outcome : outcomes) {
            const auto reply = rm::reply_of<rm::PushJob>(outcome);
            if (!reply) return finish_.failed(reply.error().message());
            if (*reply != rm::PushOutcome::pushed) return finish_.failed("a job was there already");
        }
        submit();
        if (open_.fetch_sub(outcomes.size()) == outcomes.size()) finish_.reached();
    }

    rm::Store& store_;
    const Settings& settings_;
    std::atomic<std::uint64_t> next_;
    const std::uint64_t end_;
    std::atomic<std::uint64_t> open_;
    bench::Finish finish_;
};

void run(const Settings& settings) {
    const auto& redis = settings.redis;
    rm::RedisStore store{bench::redis_options(redis)};
    Pushes{store, settings, 0, redis.warm_up}.run();
    const auto all = redis.warm_up + redis.count;
    bench::measure(redis.count, [&] { Pushes{store, settings, redis.warm_up, all}.run(); });
    const auto status = perform(store, rm::CountJobs{bench::job_queue}, rm::system_clock().now());
    if (status.value() != rm::QueueStatus{.ready = all}) {
        throw std::runtime_error{"not all jobs are READY"};
    }
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    CLI::App app{"Pushes jobs to a queue on Redis", "redis_push"};
    bench::declare(app, settings.redis);
    app.add_option("--together", settings.together, "Pushes in one submission")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    return bench::run_main(app, argc, argv, [&settings] { run(settings); });
}
