/// @file
/// `RecurringScene`: recurring jobs, and two schedulers.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "routemaster/job_queue.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "routemaster/recurring_scheduler.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "support/disturbed_store.hpp"
#include "support/hand_runner.hpp"
#include "support/recorded_log.hpp"

namespace routemaster::test {

/// Times of ticks, mostly in seconds since the beginning of the scene.
using Ticks = std::vector<std::int64_t>;

/// A store with two schedulers. The clock begins at a full hour.
struct RecurringScene {
    void run() {
        first_runner.run(clock.now());
        second_runner.run(clock.now());
    }

    /// Lets time pass. The schedulers are polled at their requested times.
    void run_for(Duration span) {
        const auto end = clock.now() + span;
        run();
        while (std::min(first_runner.next(), second_runner.next()) <= end) {
            clock.set(std::max(clock.now(), std::min(first_runner.next(), second_runner.next())));
            run();
        }
        clock.set(end);
    }

    /// Sets the clock back, and polls: a `Runner` polls within a second after such a change.
    void set_back(Duration by) {
        clock.advance(-by);
        first_runner.wake();
        second_runner.wake();
    }

    /// Adds a recurring job that pushes a job at each tick (`overlap`).
    void put(const std::string& name, const std::string& schedule,
             CatchUp catch_up = CatchUp::once) {
        RecurringOptions options{.catch_up = catch_up, .overlap = true};
        recurring.cron(name, schedule, "work", Job{name, {}}, options).value();
    }

    [[nodiscard]] RecurringJob job(const std::string& name) {
        return recurring.find(name).value().value();
    }

    /// Removes the READY jobs, and returns their ticks in order.
    Ticks take_ticks() {
        Ticks ticks;
        for (const auto& one : work.list(JobStatus::State::ready, 0, 1'000).value().jobs) {
            const auto tick = std::stoll(one.options.metadata.at("tick"));
            ticks.push_back((tick - to_milliseconds(begin)) / 1'000);
            work.remove(one.id).value();
        }
        std::sort(ticks.begin(), ticks.end());
        return ticks;
    }

    const TimePoint begin = from_milliseconds(1'699'999'200'000);
    testing::ManualClock clock{begin};
    MemoryStore store;
    DisturbedStore disturbed{store};
    RecurringJobs recurring{store, clock};
    JobQueue work{store, "work", clock};
    RecordedLog log;
    RecurringScheduler first{disturbed,
                             {.poll_interval = std::chrono::hours{1}, .log = log.sink()}};
    RecurringScheduler second_one{disturbed,
                                  {.poll_interval = std::chrono::hours{1}, .log = log.sink()}};
    HandRunner first_runner{first};
    HandRunner second_runner{second_one};
};

}  // namespace routemaster::test
