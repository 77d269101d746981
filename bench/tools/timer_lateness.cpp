// Posts timers that are due at random instants to an embedded store (`strict`), and reports their
// lateness. For benchmarks.
//
//   bench_timer_lateness --file FILE --count N --seconds N --pending N
//
// First posts `--pending` timers that are due in an hour, and then the measured timers, within one
// second. The first of these is due after that second. A listener takes the timers, and sleeps
// until the time requested by the store. Prints one JSON line: the milliseconds from the due time
// of a timer until the listener had it, and the number of early timers.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "embedded_run.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/random.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/perform.hpp"
#include "run.hpp"
#include "timers.hpp"

namespace rm = routemaster;

namespace {

struct Settings {
    bench::EmbeddedSettings embedded{.count = 2'000};
    std::uint64_t seconds = 10;
    std::uint64_t pending = 0;
};

/// Takes timers until all have arrived.
class Listener {
public:
    explicit Listener(rm::Store& store)
        : store_{store}, watch_{store.watch(rm::timer_watch(bench::timer_space, "bench"), [this] {
              const std::lock_guard lock{mutex_};
              woken_ = true;
              changed_.notify_one();
          })} {}

    /// Returns the lateness of the timers, in milliseconds.
    std::vector<double> take(std::size_t count) {
        std::vector<double> late_ms;
        late_ms.reserve(count);
        while (true) {
            const auto taken = perform(store_,
                                       rm::TakeTimers{.space = bench::timer_space,
                                                      .listener = "bench",
                                                      .limit = rm::taken_timers_max},
                                       rm::system_clock().now())
                                   .value();
            const auto now = std::chrono::system_clock::now();
            for (const auto& timer : taken.timers) {
                const std::chrono::duration<double, std::milli> late = now - timer.due_at;
                late_ms.push_back(late.count());
            }
            if (late_ms.size() >= count) return late_ms;
            sleep_until(taken.wake_at);
        }
    }

private:
    void sleep_until(rm::TimePoint at) {
        std::unique_lock lock{mutex_};
        const auto woken = [this] { return woken_; };
        if (at == rm::never) {
            changed_.wait(lock, woken);
        } else {
            changed_.wait_until(lock, at, woken);
        }
        woken_ = false;
    }

    rm::Store& store_;
    std::mutex mutex_;  // Guards `woken_`.
    std::condition_variable changed_;
    bool woken_ = false;
    rm::Watch watch_;
};

void post(rm::Store& store, std::uint64_t begin, std::vector<rm::TimePoint> due) {
    const auto make = [&](std::uint64_t n, std::vector<rm::Step>& steps) {
        steps.emplace_back(rm::PostTimer{.space = bench::timer_space,
                                         .id = bench::timer_id(n),
                                         .payload = bench::timer_payload(),
                                         .due_at = due[n - begin]});
    };
    bench::Steps steps{store,
                       rm::system_clock().now(),
                       64,
                       begin,
                       begin + due.size(),
                       make,
                       bench::expects<rm::PostTimer>(rm::TimerPosted::posted)};
    steps.run(1'024);
}

void run(const Settings& settings) {
    rm::EmbeddedStore store{settings.embedded.file, bench::embedded_options()};
    rm::Random random{1};
    const auto count = settings.embedded.count;
    std::vector<rm::TimePoint> others;
    for (std::uint64_t n = 0; n < settings.pending; ++n) {
        others.push_back(rm::system_clock().now() +
                         rm::Duration{3'600'000 + random.below(3'600'000)});
    }
    post(store, count, std::move(others));
    const auto start = rm::system_clock().now() + std::chrono::seconds{1};
    std::vector<rm::TimePoint> due;
    for (std::uint64_t n = 0; n < count; ++n) {
        due.push_back(start + rm::Duration{random.below(settings.seconds * 1'000)});
    }
    post(store, 0, std::move(due));
    auto late = Listener{store}.take(count);
    std::sort(late.begin(), late.end());
    const auto at = [&](double share) {
        return late[static_cast<std::size_t>(share * static_cast<double>(late.size() - 1))];
    };
    const auto early = std::count_if(late.begin(), late.end(), [](double ms) { return ms < 0; });
    std::cout << R"({"count":)" << late.size() << R"(,"p50_ms":)" << at(0.5) << R"(,"p99_ms":)"
              << at(0.99) << R"(,"max_ms":)" << late.back() << R"(,"early":)" << early << "}"
              << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"How late timers fire that are due at random", "timer_lateness"};
    bench::declare(options, settings.embedded).required();
    options.add("--seconds", settings.seconds, "In which they are due");
    options.add("--pending", settings.pending, "Others, due later");
    return options.run(argc, argv, [&settings] { run(settings); });
}
