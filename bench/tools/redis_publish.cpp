// Publishes events to a bus on Redis, for benchmarks.
//
//   bench_redis_publish --url URL --count N --in-flight N --subscribers N
//
// See publications.hpp. Subscribers have the defaults of Ruby Routemaster: batches of 100 events or
// 500 ms. Prints one JSON line.

#include <cstdint>

#include "options.hpp"
#include "publications.hpp"
#include "redis_run.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/store/redis.hpp"
#include "run.hpp"

namespace {

struct Settings {
    bench::RedisSettings redis;
    std::uint32_t subscribers = 1;
};

void run(const Settings& settings) {
    const auto& [redis, subscribers] = settings;
    routemaster::RedisStore store{bench::redis_options(redis)};
    routemaster::Bus bus{store, {.publisher = "bench-publisher"}};
    bench::subscribe(bus, subscribers, {});
    bench::measure_publications(bus, subscribers, redis.in_flight, redis.warm_up, redis.count);
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Publishes events to a bus on Redis", "redis_publish"};
    bench::declare(options, settings.redis);
    options.add("--subscribers", settings.subscribers);
    return options.run(argc, argv, [&settings] { run(settings); });
}
