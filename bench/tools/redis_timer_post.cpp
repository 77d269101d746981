// Posts timers on Redis, for benchmarks.
//
//   bench_redis_timer_post --url URL --count N --in-flight N [--seconds N | --now]
//
// By default timers are due in an hour, and have one retry. With --seconds they are due at random
// instants of N seconds, which begin after the next second, and have no retries. With --now they
// are due immediately. Prints one JSON line.

#include <chrono>
#include <cstdint>

#include "delayer_posts.hpp"
#include "redis_run.hpp"
#include "routemaster/random.hpp"
#include "run.hpp"

namespace rm = routemaster;

namespace {

struct Settings {
    bench::RedisSettings redis;
    std::uint64_t seconds = 0;
    bool now = false;
};

void run(const Settings& settings) {
    const auto& [redis, seconds, due_now] = settings;
    rm::RedisStore store{bench::redis_options(redis)};
    const auto now = rm::system_clock().now();
    rm::Random random{1};
    const auto due = [&, seconds = seconds, due_now = due_now](std::uint64_t) -> rm::TimePoint {
        if (due_now) return now;
        if (seconds == 0) return now + std::chrono::hours{1};
        return now + std::chrono::seconds{1} + rm::Duration{random.below(seconds * 1'000)};
    };
    const std::uint32_t retries_max = seconds == 0 ? 1 : 0;
    const auto all = redis.warm_up + redis.count;
    bench::DelayerPosts{store, due, 0, redis.warm_up, retries_max}.run(redis.in_flight);
    bench::DelayerPosts posts{store, due, redis.warm_up, all, retries_max};
    bench::measure(redis.count, [&] { posts.run(redis.in_flight); });
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Posts timers on Redis", "redis_timer_post"};
    bench::declare(options, settings.redis);
    options.add("--seconds", settings.seconds, "In which they are due");
    options.add_flag("--now", settings.now, "They are due");
    return options.run(argc, argv, [&settings] { run(settings); });
}
