// Pushes, acquires and acknowledges jobs on Redis, for benchmarks.
//
//   bench_redis_cycle --url URL --count N --in-flight N
//
// See cycles.hpp. The queue must be empty before, and is empty at the end. Prints one JSON line.

#include "cycles.hpp"
#include "options.hpp"
#include "redis_run.hpp"
#include "routemaster/store/redis.hpp"
#include "run.hpp"

int main(int argc, char** argv) {
    bench::RedisSettings settings;
    bench::Options options{"Pushes, acquires and acknowledges jobs on Redis", "redis_cycle"};
    bench::declare(options, settings);
    return options.run(argc, argv, [&settings] {
        routemaster::RedisStore store{bench::redis_options(settings)};
        bench::measure_cycles(store, settings.in_flight, settings.warm_up, settings.count);
    });
}
