/// @file
/// Tests code that pushes jobs, and the handlers of the jobs, without a thread, a sleep or a file.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include <routemaster/routemaster.hpp>
#include <routemaster/testing/job_tester.hpp>

namespace rm = routemaster;

namespace {

/// The code under test: pushes a greeting for now, and a request for a review for next week.
void sign_up(const std::string& name, rm::JobQueue mail) {
    mail.push({"greet", {name}}).value();
    mail.push({"ask for a review", {name}}, {.delay = std::chrono::hours{7 * 24}}).value();
}

}  // namespace

int main() {
    rm::testing::JobTester jobs{{.queues = {"mail"}}};
    int greetings = 0;
    int reviews = 0;
    jobs.pool().handle("greet", [&](const rm::JobContext& job) {
        if (job.attempt() == 1) throw std::runtime_error{"the mail server is busy"};
        ++greetings;
    });
    jobs.pool().handle("ask for a review", [&](const rm::JobContext&) { ++reviews; });

    sign_up("ada", jobs.queue("mail"));
    const bool pushed = jobs.pushed("greet", {"ada"}).size() == 1;

    jobs.drain();
    const bool failed_first = greetings == 0;
    jobs.advance(std::chrono::minutes{1});
    const bool greeted_then = greetings == 1 && reviews == 0;
    jobs.advance(std::chrono::hours{7 * 24});

    const bool right = pushed && failed_first && greeted_then && reviews == 1;
    std::cout << (right ? "one greeting, at the second attempt, and one question after a week\n"
                        : "the handlers are wrong\n");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
