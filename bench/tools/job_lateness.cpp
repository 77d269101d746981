// Pushes jobs that are due at random instants, and reports how late their handlers begin. For
// benchmarks.
//
//   bench_job_lateness [--file FILE | --url URL] --count N --seconds N
//
// Pushes all jobs within the first second; the first job is due after that. A pool with eight
// threads runs the jobs. Prints one JSON line: the milliseconds from the due time to the first line
// of the handler, and the number of jobs that began early.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "any_store.hpp"
#include "jobs.hpp"
#include "options.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/random.hpp"
#include "routemaster/worker_pool.hpp"
#include "run.hpp"

namespace rm = routemaster;

namespace {

struct Settings {
    bench::AnyStore store;
    std::uint64_t count = 2'000;
    std::uint64_t seconds = 10;
};

/// Runs the jobs, and records how late each job was.
class Runner {
public:
    Runner(rm::Store& store, std::vector<rm::TimePoint> due)
        : due_{std::move(due)},
          came_(due_.size()),
          pool_{store, {.queues = {bench::job_queue}, .threads = 8, .log = &bench::warn}} {
        pool_.handle("bench", [this](const rm::JobContext& job) {
            const auto now = std::chrono::system_clock::now();
            const auto n = *job.arguments().at(0).get_if<std::int64_t>();
            record(static_cast<std::size_t>(n), now);
        });
        pool_.start();
    }

    /// Waits for all jobs. Returns how late they were, in milliseconds.
    [[nodiscard]] std::vector<double> wait() {
        finish_.wait();
        pool_.stop(rm::Duration{10'000});
        return late_ms_;
    }

private:
    void record(std::size_t n, std::chrono::system_clock::time_point now) {
        const std::chrono::duration<double, std::milli> late = now - due_.at(n);
        const std::lock_guard lock{mutex_};
        if (came_[n]) return finish_.failed("a job came twice");
        came_[n] = true;
        late_ms_.push_back(late.count());
        if (late_ms_.size() == due_.size()) finish_.reached();
    }

    const std::vector<rm::TimePoint> due_;
    std::mutex mutex_;  // Guards the next two members.
    std::vector<bool> came_;
    std::vector<double> late_ms_;
    bench::Finish finish_;
    rm::WorkerPool pool_;
};

void run(const Settings& settings) {
    const auto store = bench::open(settings.store);
    rm::JobQueue queue{*store, bench::job_queue};
    rm::Random random{1};
    const auto start = rm::system_clock().now() + std::chrono::seconds{1};
    std::vector<rm::TimePoint> due;
    for (std::uint64_t n = 0; n < settings.count; ++n) {
        due.push_back(start + rm::Duration{random.below(settings.seconds * 1'000)});
    }
    Runner runner{*store, due};
    for (std::uint64_t n = 0; n < settings.count; ++n) {
        queue.push({"bench", {n}}, {.run_at = due[n]}, [](const rm::Result<rm::Pushed>& pushed) {
            if (!(pushed.value() == rm::PushOutcome::pushed)) {
                throw std::runtime_error{"a job was there already"};
            }
        });
    }
    auto late = runner.wait();
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
    bench::Options options{"How late jobs begin that fall due at random", "job_lateness"};
    bench::declare(options, settings.store);
    options.add("--count", settings.count, "Of jobs");
    options.add("--seconds", settings.seconds, "In which they fall due");
    return options.run(argc, argv, [&settings] { run(settings); });
}
