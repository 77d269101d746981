// Fills a queue, and reads pages of it while jobs are pushed. For benchmarks.
//
//   bench_job_pages [--file FILE] --count N
//
// Prints one JSON line: the bytes of memory per READY job, and of its payload; the slowest read of
// many pages of 100 jobs, in all states and from places all over the queue, and of single jobs; and
// the slowest push of a thread that pushes one job after the other meanwhile (`strict` with a
// file). Without a file, memory use is the most precise, because the store needs memory for the
// jobs only.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "any_store.hpp"
#include "jobs.hpp"
#include "options.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/random.hpp"
#include "run.hpp"

namespace rm = routemaster;

namespace {

using SteadyClock = std::chrono::steady_clock;

struct Settings {
    bench::AnyStore store;
    std::uint64_t count = 5'000'000;
    std::uint64_t pages = 2'000;
};

/// The resident memory of this process.
std::uint64_t resident_bytes() {
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    std::ifstream{"/proc/self/statm"} >> size >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

template <class Work>
double milliseconds(Work work) {
    const auto begun = SteadyClock::now();
    work();
    return std::chrono::duration<double, std::milli>{SteadyClock::now() - begun}.count();
}

/// A number in the format of all queue benchmarks.
std::string number_text(std::uint64_t n) {
    auto digits = std::to_string(n);
    return digits.insert(0, bench::number_length - digits.size(), '0');
}

void fill(rm::JobQueue& queue, std::uint64_t count) {
    constexpr std::uint64_t together = 1'000;
    for (std::uint64_t first = 0; first < count; first += together) {
        std::vector<rm::Job> jobs;
        for (auto n = first; n < std::min(count, first + together); ++n) {
            jobs.push_back({"bench", {number_text(n)}});
        }
        for (const auto& pushed : queue.push_many(jobs)) pushed.value();
    }
}

/// Pushes one job after the other until `over` is set. Returns the duration of the slowest push.
double push_on(rm::JobQueue& queue, const std::atomic<bool>& over) {
    double slowest = 0;
    for (std::uint64_t n = 0; !over; ++n) {
        slowest = std::max(slowest, milliseconds([&] { queue.push({"meanwhile", {n}}).value(); }));
    }
    return slowest;
}

/// Returns the duration of the slowest page.
double look(const rm::JobQueue& queue, const Settings& settings) {
    using State = rm::JobStatus::State;
    rm::Random random{1};
    double slowest = 0;
    for (std::uint64_t n = 0; n < settings.pages; ++n) {
        const rm::JobId after = random.below(settings.count);
        const State states[] = {State::ready, State::scheduled, State::pending, State::buried};
        const auto state = states[n % 4];
        slowest = std::max(slowest, milliseconds([&] { queue.list(state, after).value(); }));
        slowest = std::max(slowest, milliseconds([&] {
                               if (!queue.find(after + 1).value()) {
                                   throw std::runtime_error{"a job is missing"};
                               }
                           }));
    }
    return slowest;
}

void run(const Settings& settings) {
    const auto store = bench::open(settings.store);
    rm::JobQueue queue{*store, bench::job_queue};
    fill(queue, 1'000);
    const auto before = resident_bytes();
    fill(queue, settings.count);
    const auto jobs = static_cast<double>(settings.count - 1'000);
    const auto payload = rm::encode_job({"bench", {number_text(0)}}).size();
    const auto bytes = static_cast<double>(resident_bytes() - before) / jobs;

    std::atomic<bool> over = false;
    double push_max = 0;
    std::thread pusher{[&] { push_max = push_on(queue, over); }};
    const auto page_max = look(queue, settings);
    over = true;
    pusher.join();
    std::cout << R"({"count":)" << settings.count << R"(,"bytes_each":)" << bytes
              << R"(,"payload_bytes":)" << payload << R"(,"page_max_ms":)" << page_max
              << R"(,"push_max_ms":)" << push_max << "}" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Pages of a long queue, while jobs are pushed", "job_pages"};
    bench::declare(options, settings.store);
    options.add("--count", settings.count, "Of jobs");
    options.add("--pages", settings.pages, "That are looked at");
    return options.run(argc, argv, [&settings] { run(settings); });
}
