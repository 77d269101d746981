// Posts timers to an embedded store (`strict`) and lets them fire, for benchmarks.
//
//   bench_embedded_timers --file FILE --count N --in-flight N post
//   bench_embedded_timers --file FILE --count N fire
//   bench_embedded_timers --file FILE --count N scale
//   bench_embedded_timers --file FILE --count N reopen
//
// `post` posts each timer by a separate submission; the first `--warm-up` posts are not measured.
// `fire` takes and confirms due timers, which were posted before the measurement. `scale` posts all
// timers, due at random within a year. Then it measures posts, cancellations and firings, each for
// a tenth as many random timers. `reopen` opens the file of `scale`. Each prints one JSON line.

#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "embedded_run.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/perform.hpp"
#include "run.hpp"
#include "timers.hpp"

namespace {

namespace rm = routemaster;
using SteadyClock = std::chrono::steady_clock;

struct Settings {
    bench::EmbeddedSettings embedded;
    std::string phase;
};

constexpr rm::Duration year{31'536'000'000};

/// The number of steps in a submission with several steps.
constexpr std::uint32_t together = 64;

/// The resident memory of this process, in bytes.
std::uint64_t resident() {
    malloc_trim(0);
    std::ifstream status{"/proc/self/status"};
    for (std::string word; status >> word;) {
        std::uint64_t kilobytes = 0;
        if (word == "VmRSS:" && status >> kilobytes) return kilobytes << 10U;
    }
    throw std::runtime_error{"/proc/self/status does not say"};
}

/// A permutation of the numbers below `size`.
std::uint64_t scattered(std::uint64_t n, std::uint64_t size) {
    // A prime that divides none of the used sizes.
    constexpr std::uint64_t prime = 2'654'435'761;
    return n % size * prime % size;
}

/// Posts the timers with the numbers `begin` to `end`. Timer number `n` is due at `due(n)`.
template <class Due>
void post(rm::Store& store, rm::TimePoint now, std::uint64_t begin, std::uint64_t end,
          std::uint32_t in_flight, std::uint32_t in_one, std::uint32_t retries_max, Due due) {
    const auto make = [&](std::uint64_t n, std::vector<rm::Step>& steps) {
        steps.emplace_back(rm::PostTimer{.space = bench::timer_space,
                                         .id = bench::timer_id(n),
                                         .payload = bench::timer_payload(),
                                         .due_at = due(n),
                                         .retries_max = retries_max});
    };
    bench::Steps steps{store,
                       now,
                       in_one,
                       begin,
                       end,
                       make,
                       bench::expects<rm::PostTimer>(rm::TimerPosted::posted)};
    steps.run(in_flight);
}

void post_phase(const Settings& settings) {
    const auto& [file, count, warm_up, in_flight] = settings.embedded;
    rm::EmbeddedStore store{file, bench::embedded_options()};
    const auto now = rm::system_clock().now();
    const auto due = [&](std::uint64_t n) {
        return now + rm::Duration{60'000 + static_cast<std::int64_t>(scattered(n, 1'000'000))};
    };
    post(store, now, 0, warm_up, in_flight, 1, 0, due);
    bench::measure(count,
                   [&] { post(store, now, warm_up, warm_up + count, in_flight, 1, 0, due); });
}

void fire_phase(const Settings& settings) {
    const auto count = settings.embedded.count;
    rm::EmbeddedStore store{settings.embedded.file, bench::embedded_options()};
    const auto now = rm::system_clock().now();
    const auto due = [&](std::uint64_t) { return now; };
    const auto fire = [&](std::uint64_t begin) {
        post(store, now, begin, begin + count, settings.embedded.in_flight, together, 1, due);
        return bench::Firings{store, now, count};
    };
    fire(0).run();
    auto firings = fire(count);
    bench::measure(count, [&] { firings.run(); });
}

rm::TimerCounts counted(rm::Store& store) {
    return perform(store, rm::CountTimers{bench::timer_space}, rm::TimePoint{}).value();
}

void scale_phase(const Settings& settings) {
    const auto count = settings.embedded.count;
    const auto in_flight = settings.embedded.in_flight;
    rm::EmbeddedStore store{settings.embedded.file, bench::embedded_options()};
    const auto now = rm::system_clock().now();
    const auto begin = now + rm::Duration{3'600'000};
    // Due at random within a year. The timers of the first tenth of the year will fire.
    const auto due = [&](std::uint64_t n) {
        const auto place = scattered(n, count);
        return begin + year * static_cast<std::int64_t>(place) / static_cast<std::int64_t>(count);
    };
    const auto empty = resident();
    const auto cpu_filling = bench::cpu_seconds();
    const auto filling = SteadyClock::now();
    post(store, now, 0, count, in_flight, together, 0, due);
    const std::chrono::duration<double> filled = SteadyClock::now() - filling;
    const auto cpu_filled = bench::cpu_seconds() - cpu_filling;
    const auto each = static_cast<double>(resident() - empty) / static_cast<double>(count);

    const auto part = count / 10;
    const auto cpu_before = bench::cpu_seconds();
    const auto begun = SteadyClock::now();
    // A further tenth, also due at random.
    post(store, now, count, count + part, in_flight, together, 0,
         [&](std::uint64_t n) { return due(n * 7) + rm::Duration{1}; });
    const auto cpu_posted = bench::cpu_seconds();
    const auto fire_at = begin + year / 10;
    // Cancels timers that are due after the first tenth of the year.
    const auto make = [&](std::uint64_t n, std::vector<rm::Step>& steps) {
        auto victim = scattered(n * 3, count);
        while (due(victim) <= fire_at) victim = (victim + 1) % count;
        steps.emplace_back(rm::CancelTimer{bench::timer_space, bench::timer_id(victim)});
    };
    std::atomic<std::uint64_t> cancelled = 0;
    const auto noted = [&](rm::Outcome& outcome) -> std::string {
        const auto reply = rm::reply_of<rm::CancelTimer>(outcome);
        if (!reply) return reply.error().message();
        if (*reply == rm::Removal::removed) ++cancelled;
        return "";
    };
    bench::Steps cancels{store, now, together, 0, part, make, noted};
    cancels.run(in_flight);
    const auto cpu_cancelled = bench::cpu_seconds();
    const auto before = counted(store);
    std::uint64_t fired = 0;
    while (true) {
        const auto taken = perform(store,
                                   rm::TakeTimers{.space = bench::timer_space,
                                                  .listener = "bench",
                                                  .limit = rm::taken_timers_max},
                                   fire_at)
                               .value();
        fired += taken.timers.size();
        if (taken.timers.empty()) break;
    }
    const auto cpu_after = bench::cpu_seconds();
    const std::chrono::duration<double> seconds = SteadyClock::now() - begun;
    if (counted(store).pending != before.pending - fired) {
        throw std::runtime_error{"the timers do not add up"};
    }
    const auto operations = static_cast<double>(2 * part + fired);
    const auto us = [](double cpu, double of) { return cpu / of * 1e6; };
    std::cout << R"({"count":)" << count << R"(,"post_per_second":)"
              << static_cast<double>(count) / filled.count() << R"(,"cpu_us_per_fill":)"
              << us(cpu_filled, static_cast<double>(count)) << R"(,"cpu_us_per_op":)"
              << us(cpu_after - cpu_before, operations) << R"(,"cpu_us_per_post":)"
              << us(cpu_posted - cpu_before, static_cast<double>(part))
              << R"(,"cpu_us_per_cancel":)"
              << us(cpu_cancelled - cpu_posted, static_cast<double>(part))
              << R"(,"cpu_us_per_take":)"
              << us(cpu_after - cpu_cancelled, static_cast<double>(fired))
              << R"(,"ops_per_second":)" << operations / seconds.count() << R"(,"cancelled":)"
              << cancelled << R"(,"fired":)" << fired << R"(,"content_bytes":)"
              << bench::timer_id_length + bench::timer_payload().size() << R"(,"bytes_each":)"
              << each << R"(,"pending":)" << counted(store).pending << R"(,"file_mb":)"
              << static_cast<double>(bench::file_bytes(settings.embedded.file)) / (1U << 20U) << "}"
              << std::endl;
}

void reopen_phase(const Settings& settings) {
    const auto empty = resident();
    const auto begun = SteadyClock::now();
    rm::EmbeddedStore store{settings.embedded.file, bench::embedded_options()};
    const auto counts = counted(store);
    const std::chrono::duration<double> seconds = SteadyClock::now() - begun;
    std::cout << R"({"reopen_s":)" << seconds.count() << R"(,"pending":)" << counts.pending
              << R"(,"bytes_each":)"
              << static_cast<double>(resident() - empty) / static_cast<double>(counts.pending)
              << "}" << std::endl;
}

void run(const Settings& settings) {
    if (settings.phase == "post") return post_phase(settings);
    if (settings.phase == "fire") return fire_phase(settings);
    settings.phase == "scale" ? scale_phase(settings) : reopen_phase(settings);
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Posts timers to an embedded store, and has them fire",
                           "embedded_timers"};
    bench::declare(options, settings.embedded).required();
    options.add("phase", settings.phase).required().one_of({"post", "fire", "scale", "reopen"});
    return options.run(argc, argv, [&settings] { run(settings); });
}
