// A listener to timers on Redis that reports how late each timer was. For benchmarks.
//
//   bench_redis_timer_listen --url URL
//
// Prints `listening`. When its standard input ends, prints how late its timers were, in
// milliseconds: a JSON array.

#include <chrono>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

#include "delayer_posts.hpp"
#include "redis_run.hpp"
#include "run.hpp"

namespace rm = routemaster;

namespace {

void run(const bench::RedisSettings& settings) {
    rm::RedisStore store{bench::redis_options(settings)};
    rm::Delayer timers{store, bench::timer_space};
    std::mutex mutex;  // Guards `late`.
    std::vector<double> late;
    auto listener = timers.listen([&](const rm::Timer& timer) {
        const auto now = std::chrono::system_clock::now();
        const auto due = rm::from_milliseconds(*timer.payload.find("due")->get_if<std::int64_t>());
        const std::chrono::duration<double, std::milli> after = now - due;
        const std::lock_guard lock{mutex};
        late.push_back(after.count());
    });
    std::cout << "listening" << std::endl;
    std::string ignored;
    while (std::getline(std::cin, ignored)) continue;
    listener.stop(rm::Duration{10'000});
    std::cout << '[';
    for (std::size_t i = 0; i < late.size(); ++i) std::cout << (i == 0 ? "" : ",") << late[i];
    std::cout << ']' << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
    bench::RedisSettings settings;
    bench::Options options{"Listens to timers on Redis", "redis_timer_listen"};
    bench::declare(options, settings);
    return options.run(argc, argv, [&settings] { run(settings); });
}
