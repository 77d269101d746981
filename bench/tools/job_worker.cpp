// A worker for job_recovery: runs jobs that never end, and prints a line when a job begins.
//
//   bench_job_worker --url URL [--push]
//
// Prints "ready" before it starts to work. With --push it pushes one job first. Runs until it is
// killed.

#include <chrono>
#include <iostream>
#include <stop_token>
#include <thread>

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
    bool push = false;
};

void run(const Settings& settings) {
    const auto store = bench::open(settings.store);
    rm::WorkerPool pool{*store, {.queues = {bench::job_queue}, .log = &bench::warn}};
    pool.handle("bench", [](const rm::JobContext& job) {
        std::cout << "begun" << std::endl;
        while (!job.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds{10});
    });
    if (settings.push) rm::JobQueue{*store, bench::job_queue}.push({"bench", {}}).value();
    std::cout << "ready" << std::endl;
    pool.run(std::stop_token{});
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Runs jobs that never end", "job_worker"};
    bench::declare(options, settings.store);
    options.add_flag("--push", settings.push, "Pushes one job");
    return options.run(argc, argv, [&settings] { run(settings); });
}
