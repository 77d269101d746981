/// @file
/// `JobScene` and `HandPool`: pools on a manual clock. The test polls them, and handlers run inside
/// `poll`.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/job_queue.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/disturbed_store.hpp"
#include "support/hand_runner.hpp"
#include "support/recorded_log.hpp"

namespace routemaster::test {

/// A store with a queue `work`, and a clock. Single threaded.
struct JobScene {
    testing::ManualClock clock;
    MemoryStore memory;
    DisturbedStore store{memory};
    JobQueue jobs{memory, "work", clock};
    RecordedLog log;
    std::uint64_t pools = 0;

    WorkerPoolOptions complete(WorkerPoolOptions options) {
        if (options.queues.empty()) options.queues = {"work"};
        options.threads = 0;
        options.seed = ++pools;
        options.log = log.sink();
        if (options.clock == nullptr) options.clock = &clock;
        return options;
    }

    [[nodiscard]] QueueStatus queue() const { return jobs.status().value(); }
    [[nodiscard]] JobStatus job(JobId id) const {
        const auto found = jobs.find(id).value();
        REQUIRE(found.has_value());
        return *found;
    }
    JobId push(const std::string& name, PushOptions options = {}) {
        return jobs.push(Job{name}, options).value().id;
    }
};

/// A pool of a scene.
struct HandPool {
    explicit HandPool(JobScene& in, WorkerPoolOptions options = {})
        : scene{in}, pool{in.store, in.complete(std::move(options))} {}

    /// Leaves jobs of this name under way, and keeps the responder of the last job.
    void keep(const std::string& name) {
        pool.handle_async(name, [this](const JobResponder& responder) { kept = responder; });
    }

    /// Does the work that is due now.
    void run() { runner.run(scene.clock.now()); }

    /// Lets time pass, and does the work that becomes due.
    void run_for(Duration span) {
        const auto end = scene.clock.now() + span;
        for (run(); runner.next() < end; run()) scene.clock.set(runner.next());
        scene.clock.set(end);
        run();
    }

    void close(Duration grace = Duration{0}) {
        pool.close(scene.clock.now() + grace);
        runner.wake();
        run();
    }

    JobScene& scene;
    WorkerPool pool;
    HandRunner runner{pool};
    std::optional<JobResponder> kept;
};

}  // namespace routemaster::test
