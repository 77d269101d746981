/// @file
/// Recurring jobs: a ping every ten seconds, and a report at half past two in Berlin. The program
/// sets the clock itself, as a test does.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include <routemaster/routemaster.hpp>
#include <routemaster/testing/job_tester.hpp>

namespace rm = routemaster;

int main() {
    rm::testing::JobTester jobs{{.queues = {"checks"}}};
    int pings = 0;
    int reports = 0;
    jobs.pool().handle("ping", [&](const rm::JobContext&) { ++pings; });
    jobs.pool().handle("report", [&](const rm::JobContext& job) {
        ++reports;
        // The metadata contain the time of the tick, in milliseconds since the Unix epoch.
        std::cout << "the report of tick " << job.metadata().at("tick") << '\n';
    });

    // Recurring jobs are stored, and shared by all processes of the store. A program may put its
    // recurring jobs at each start, because unchanged settings have no effect.
    rm::RecurringJobs recurring{jobs.store(), jobs.clock()};
    recurring.every("ping", std::chrono::seconds{10}, "checks", rm::Job{"ping", {}}).value();
    recurring
        .cron("report", "30 2 * * *", "checks", rm::Job{"report", {"sales"}},
              {.time_zone = "Europe/Berlin", .catch_up = rm::CatchUp::once})
        .value();

    // The tester contains a `rm::RecurringScheduler`. Other processes of the store may have further
    // schedulers, polled by a `rm::Runner`. Each tick still runs only once.
    rm::RecurringScheduler another{jobs.store()};
    for (int second = 0; second < 120; ++second) {
        jobs.advance(std::chrono::seconds{1});
        another.poll(jobs.clock().now());
    }
    const bool pinged = pings == 12;

    // No scheduler runs for two days. Afterwards only the last missed report runs.
    jobs.clock().advance(std::chrono::hours{48});
    jobs.drain();
    const bool caught_up = reports == 1;

    // Runs the report now, regardless of its schedule.
    recurring.trigger("report").value();
    jobs.drain();
    const bool triggered = reports == 2;

    const bool right = pinged && caught_up && triggered;
    std::cout << (right ? "twelve pings, and two reports\n" : "the schedules are wrong\n");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
