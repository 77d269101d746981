// Pushes jobs to a queue on Redis, for benchmarks.
//
//   bench_redis_push --url URL --count N --in-flight N --together N
//
// See pushes.hpp. The queue must be empty; the jobs stay in it. Prints one JSON line.

#include <cstdint>

#include "options.hpp"
#include "pushes.hpp"
#include "redis_run.hpp"
#include "routemaster/store/redis.hpp"
#include "run.hpp"

namespace {

struct Settings {
    bench::RedisSettings redis;
    std::uint32_t together = 1;
};

void run(const Settings& settings) {
    const auto& [redis, together] = settings;
    routemaster::RedisStore store{bench::redis_options(redis)};
    bench::Pushes{store, together, 0, redis.warm_up}.run(redis.in_flight);
    const auto all = redis.warm_up + redis.count;
    bench::Pushes pushes{store, together, redis.warm_up, all};
    bench::measure(redis.count, [&] { pushes.run(redis.in_flight); });
    bench::check_ready(store, all);
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Pushes jobs to a queue on Redis", "redis_push"};
    bench::declare(options, settings.redis);
    options.add("--together", settings.together, "Pushes in one submission").positive();
    return options.run(argc, argv, [&settings] { run(settings); });
}
