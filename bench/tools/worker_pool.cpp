// Runs empty jobs through a WorkerPool, for benchmarks.
//
//   bench_worker_pool [--file FILE | --url URL] --count N --threads N
//
// Uses an embedded store (`strict`), Redis, or a memory store without --file and --url. Pushes the
// jobs before the measurement, which lasts from the start of a pool until the pool has stopped and
// the last ack is durable. Each job must be run once, and the queue must be empty at the end.
// Prints one JSON line.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "any_store.hpp"
#include "jobs.hpp"
#include "options.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/worker_pool.hpp"
#include "run.hpp"

namespace rm = routemaster;

namespace {

struct Settings {
    bench::AnyStore store;
    std::uint64_t count = 500'000;
    std::uint64_t warm_up = 50'000;
    std::size_t threads = 8;
};

void push(rm::JobQueue& queue, std::uint64_t count) {
    constexpr std::uint64_t together = 1'000;
    for (std::uint64_t first = 0; first < count; first += together) {
        std::vector<rm::Job> jobs;
        for (auto n = first; n < std::min(count, first + together); ++n) {
            jobs.push_back({"bench", {n}});
        }
        for (const auto& pushed : queue.push_many(jobs)) {
            if (!(pushed.value() == rm::PushOutcome::pushed)) {
                throw std::runtime_error{"a job was there already"};
            }
        }
    }
}

/// Runs the pushed jobs, and ends.
class Run {
public:
    Run(rm::Store& store, std::uint64_t count, std::size_t threads)
        : came_(count),
          pool_{store, {.queues = {bench::job_queue}, .threads = threads, .log = &bench::warn}} {
        pool_.handle("bench", [this](const rm::JobContext& job) {
            const auto n = *job.arguments().at(0).get_if<std::int64_t>();
            if (came_.at(static_cast<std::size_t>(n)).exchange(true)) {
                finish_.failed("a job came twice");
            }
            if (done_.fetch_add(1, std::memory_order_relaxed) + 1 == came_.size()) {
                finish_.reached();
            }
        });
    }

    void run() {
        pool_.start();
        finish_.wait();
        pool_.stop(rm::Duration{10'000});
    }

private:
    std::vector<std::atomic<bool>> came_;
    std::atomic<std::uint64_t> done_{0};
    bench::Finish finish_;
    rm::WorkerPool pool_;
};

void measure(const Settings& settings) {
    const auto store = bench::open(settings.store);
    rm::JobQueue queue{*store, bench::job_queue};
    push(queue, settings.warm_up);
    Run{*store, settings.warm_up, settings.threads}.run();
    push(queue, settings.count);
    Run run{*store, settings.count, settings.threads};
    bench::measure(settings.count, [&] { run.run(); });
    if (queue.status().value() != rm::QueueStatus{}) {
        throw std::runtime_error{"the queue is not empty"};
    }
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Runs jobs that do nothing through a WorkerPool", "worker_pool"};
    bench::declare(options, settings.store);
    options.add("--count", settings.count, "How many are measured");
    options.add("--warm-up", settings.warm_up, "How many go before");
    options.add("--threads", settings.threads, "That run handlers");
    return options.run(argc, argv, [&settings] { measure(settings); });
}
