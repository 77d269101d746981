/// @file
/// Recurring timers, and timers with actions: a heartbeat each second, a reminder that pushes a
/// job, and a digest that pushes a job at each tick.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <semaphore>
#include <string>

#include <routemaster/open_store.hpp>
#include <routemaster/routemaster.hpp>
#include <routemaster/worker_pool.hpp>

namespace rm = routemaster;
using namespace std::chrono_literals;

int main() {
    auto store = rm::open_store("file:recurring_timers.db").value();

    // A timer that fires each second, for any listener of the namespace. Recurring timers are
    // stored, and shared by all processes of the store. Putting one again at each start has no
    // effect.
    rm::Delayer beats{*store, "beats"};
    beats.every("beat", 1s, "alive", {.catch_up = rm::CatchUp::skip}).value();

    // A timer with an action needs no listener. The first action pushes a job once, after 100 ms.
    // The second pushes a job at each tick, unless an equal job still exists.
    rm::ActionTimers actions{*store};
    actions.post(rm::PushAction{.queue = "mail", .job = {"remind", {42}}}, 100ms, "order/42")
        .value();
    actions.every("digest", 1s, rm::PushAction{.queue = "mail", .job = {"digest", {}}}).value();
    // An action that can never succeed is rejected immediately.
    const rm::PushAction bad{.queue = "no queue", .job = {"digest", {}}};
    const bool refused = !actions.every("bad", 1s, bad);

    // Several processes may have schedulers and runners. Each tick is still run once, and each
    // action performed once.
    rm::RecurringScheduler scheduler{*store};
    rm::ActionRunner runner{*store};
    rm::Runner ticking{scheduler};
    rm::Runner acting{runner};

    std::counting_semaphore<> beat{0};
    std::counting_semaphore<> reminded{0};
    std::counting_semaphore<> digested{0};
    auto listener = beats.listen([&](const rm::Timer& timer) {
        std::cout << *timer.payload.get_if<std::string>() << '\n';
        beat.release();
    });
    rm::WorkerPool pool{*store, {.queues = {"mail"}}};
    pool.handle("remind", [&](const rm::JobContext&) { reminded.release(); });
    pool.handle("digest", [&](const rm::JobContext&) { digested.release(); });
    pool.start();
    for (auto* const each : {&beat, &reminded, &digested}) each->acquire();

    // Recurring timers are listed, paused, triggered and removed like recurring jobs.
    rm::RecurringJobs recurring{*store};
    const bool listed = recurring.list().value().size() == 2;
    const bool removed = recurring.remove("beat").value() == rm::Removal::removed &&
                         recurring.remove("digest").value() == rm::Removal::removed;
    listener.stop(5s);
    pool.stop(5s);

    const bool right = refused && listed && removed;
    std::cout << (right ? "a beat, a reminder and a digest\n" : "something went wrong\n");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
