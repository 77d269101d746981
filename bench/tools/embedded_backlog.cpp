// Fills an embedded store with a backlog, or opens it again and drains it, for benchmarks.
//
//   bench_embedded_backlog --file FILE --count N --part N --memory-max BYTES fill
//   bench_embedded_backlog --file FILE --count N --part N --memory-max BYTES drain
//
// `fill` pushes jobs of 200 bytes and measures each part. Then it drains one part while the rest
// waits, and pushes the part again. `drain` opens the store, measures the opening, and drains the
// queue. Then it measures a short queue: pushes and drains parts of 10,000 jobs, and measures only
// the draining. Each job must be acquired exactly once. Prints one JSON line.

#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "drains.hpp"
#include "embedded_run.hpp"
#include "options.hpp"
#include "pushes.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/store/embedded.hpp"
#include "run.hpp"

namespace {

namespace rm = routemaster;
using SteadyClock = std::chrono::steady_clock;

struct Settings {
    bench::EmbeddedSettings embedded{.count = 10'000'000};
    std::uint64_t part = 1'000'000;
    std::uint64_t memory_max = 0;
    std::string phase;
};

/// The maximum of the process's resident memory, in bytes.
std::uint64_t resident_max() {
    std::ifstream status{"/proc/self/status"};
    for (std::string word; status >> word;) {
        std::uint64_t kilobytes = 0;
        if (word == "VmHWM:" && status >> kilobytes) return kilobytes << 10U;
    }
    throw std::runtime_error{"/proc/self/status does not say"};
}

/// Calls `work`. Returns the duration in seconds.
template <class Work>
double timed(Work work) {
    const auto begun = SteadyClock::now();
    work();
    return std::chrono::duration<double>{SteadyClock::now() - begun}.count();
}

/// The store, its queue, and the numbers of the queued jobs.
class Backlog {
public:
    /// Opens the store, which contains the jobs with the numbers `begin` to `end`.
    Backlog(const Settings& settings, std::uint64_t begin, std::uint64_t end)
        : settings_{settings},
          store_{std::in_place, settings.embedded.file, options(settings)},
          begin_{begin},
          end_{end} {}

    void close() { store_.reset(); }

    void push(std::uint64_t count) {
        const auto begin = end_;
        end_ += count;
        bench::Pushes{*store_, 1, begin, end_, &bench::large_job}.run(settings_.embedded.in_flight);
    }

    void drain(std::uint64_t count) {
        bench::Drain{*store_, worker_, begin_, count}.run(settings_.embedded.in_flight);
        begin_ += count;
    }

    /// Fails unless the queue contains exactly the expected jobs.
    void check() { bench::check_ready(*store_, end_ - begin_); }

private:
    static rm::EmbeddedStoreOptions options(const Settings& settings) {
        auto options = bench::embedded_options();
        options.memory_max = settings.memory_max;
        return options;
    }

    const Settings& settings_;
    const rm::Uid worker_{rm::entropy(), rm::entropy()};
    std::optional<rm::EmbeddedStore> store_;
    std::uint64_t begin_;
    std::uint64_t end_;
};

/// The rate, in jobs per second, at which a short queue is drained.
double short_queue_rate(Backlog& backlog) {
    constexpr std::uint64_t part = 10'000;
    constexpr int parts = 50;
    constexpr int warm_up = 5;
    double seconds = 0;
    for (int n = 0; n < parts + warm_up; ++n) {
        backlog.push(part);
        const auto took = timed([&] { backlog.drain(part); });
        if (n >= warm_up) seconds += took;
    }
    return part * parts / seconds;
}

/// Ends the line with the fields of both phases.
void tell_use(const Settings& settings, double cpu_seconds, double operations) {
    constexpr double megabyte = 1U << 20U;
    std::cout << R"("rss_mb":)" << static_cast<double>(resident_max()) / megabyte
              << R"(,"file_mb":)"
              << static_cast<double>(bench::file_bytes(settings.embedded.file)) / megabyte
              << R"(,"cpu_us_per_op":)" << cpu_seconds / operations * 1e6 << "}" << std::endl;
}

void fill(const Settings& settings) {
    const auto [count, part] = std::pair{settings.embedded.count, settings.part};
    const auto cpu_before = bench::cpu_seconds();
    std::vector<double> rates;
    Backlog backlog{settings, 0, 0};
    for (std::uint64_t n = 0; n < count; n += part) {
        rates.push_back(static_cast<double>(part) / timed([&] { backlog.push(part); }));
    }
    backlog.check();
    const auto cpu = bench::cpu_seconds() - cpu_before;
    const auto drained = timed([&] { backlog.drain(part); });
    backlog.push(part);
    backlog.check();
    const auto closed = timed([&] { backlog.close(); });
    std::cout << R"({"push_first":)" << rates.front() << R"(,"push_last":)" << rates.back()
              << R"(,"drain_live":)" << static_cast<double>(part) / drained << R"(,"close_s":)"
              << closed << ",";
    tell_use(settings, cpu, static_cast<double>(count));
}

void drain(const Settings& settings) {
    const auto [count, part] = std::pair{settings.embedded.count, settings.part};
    std::optional<Backlog> backlog;
    const auto opened = timed([&] { backlog.emplace(settings, part, part + count); });
    backlog->check();
    const auto cpu_before = bench::cpu_seconds();
    const auto drained = timed([&] { backlog->drain(count); });
    const auto cpu = bench::cpu_seconds() - cpu_before;
    backlog->check();
    const auto short_rate = short_queue_rate(*backlog);
    std::cout << R"({"reopen_s":)" << opened << R"(,"drain":)"
              << static_cast<double>(count) / drained << R"(,"short_queue":)" << short_rate << ",";
    tell_use(settings, cpu, static_cast<double>(count));
}

void run(const Settings& settings) {
    if (settings.part == 0 || settings.embedded.count % settings.part != 0) {
        throw bench::BadOption{"--part: must divide --count"};
    }
    if (bench::large_job(0).size() != bench::large_job_size) {
        throw std::runtime_error{"a job is not as large as it should be"};
    }
    settings.phase == "fill" ? fill(settings) : drain(settings);
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Fills an embedded store, opens it again and works it off",
                           "embedded_backlog"};
    bench::declare(options, settings.embedded).required();
    options.add("--part", settings.part, "Timed together");
    options.add("--memory-max", settings.memory_max, "Bytes of jobs");
    options.add("phase", settings.phase).required().one_of({"fill", "drain"});
    return options.run(argc, argv, [&settings] { run(settings); });
}
