// Takes and confirms due timers on Redis by one listener. For benchmarks.
//
//   bench_redis_timer_fire --url URL --count N
//
// There must be N timers, all of them due, with retries. Prints one JSON line.

#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

#include "delayer_posts.hpp"
#include "redis_run.hpp"
#include "run.hpp"

namespace rm = routemaster;

namespace {

void run(const bench::RedisSettings& settings) {
    rm::RedisStore store{bench::redis_options(settings)};
    rm::Delayer timers{store, bench::timer_space};
    bench::Finish finish;
    std::set<std::string> fired;
    bench::measure(settings.count, [&] {
        auto listener = timers.listen([&](const rm::Timer& timer) {
            if (!fired.insert(timer.id).second) return finish.failed(timer.id + " came again");
            if (fired.size() == settings.count) finish.reached();
        });
        finish.wait();
        // Returns when the last timer is confirmed.
        listener.stop(rm::Duration{10'000});
    });
    const auto counts = timers.counts().value();
    if (counts != rm::TimerCounts{}) throw std::runtime_error{"timers are left"};
}

}  // namespace

int main(int argc, char** argv) {
    bench::RedisSettings settings;
    bench::Options options{"Gets timers on Redis", "redis_timer_fire"};
    bench::declare(options, settings);
    return options.run(argc, argv, [&settings] { run(settings); });
}
