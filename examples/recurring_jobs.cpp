/// @file
/// Jobs that recur: a ping every ten seconds, and a report at half past two in Berlin, on a clock
/// that the program moves itself, as a test does.

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
        // For which tick it runs, in milliseconds since the Unix epoch.
        std::cout << "the report of tick " << job.metadata().at("tick") << '\n';
    });

    // They are in the store, for all its processes; to put them at each start does no harm.
    rm::RecurringJobs recurring{jobs.store(), jobs.clock()};
    recurring.every("ping", std::chrono::seconds{10}, "checks", rm::Job{"ping", {}}).value();
    recurring
        .cron("report", "30 2 * * *", "checks", rm::Job{"report", {"sales"}},
              {.time_zone = "Europe/Berlin", .catch_up = rm::CatchUp::once})
        .value();

    // The tester has a `rm::RecurringScheduler`, as any process may that shares the store; in a
    // program that runs, a `rm::Runner` polls it. Each tick runs once, however many there are.
    rm::RecurringScheduler another{jobs.store()};
    for (int second = 0; second < 120; ++second) {
        jobs.advance(std::chrono::seconds{1});
        another.poll(jobs.clock().now());
    }
    const bool pinged = pings == 12;

    // Nobody runs for two days: the last report is caught up with, once.
    jobs.clock().advance(std::chrono::hours{48});
    jobs.drain();
    const bool caught_up = reports == 1;

    // Now, whatever its schedule says.
    recurring.trigger("report").value();
    jobs.drain();
    const bool triggered = reports == 2;

    const bool right = pinged && caught_up && triggered;
    std::cout << (right ? "twelve pings, and two reports\n" : "the schedules are wrong\n");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
