/// @file
/// Timers: reminders that survive a restart of the program, fire to the millisecond, and fire again
/// until they are handled. They are stored in a file; a test would use `memory:`.

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <stdexcept>

#include <routemaster/open_store.hpp>
#include <routemaster/routemaster.hpp>

namespace rm = routemaster;
using namespace std::chrono_literals;

int main() {
    auto store = rm::open_store("file:timers.db").value();
    rm::Delayer reminders{*store, "reminders"};

    // Without retries, the timer fires at most once. If its handler crashes, the timer is lost.
    reminders.post("tea is ready", 50ms).value();
    // With retries, the timer fires again until its handler returns. After two retries it is DEAD.
    reminders.post("call Ada", 20ms, {.id = "ada", .retries_max = 2, .confirm_within = 1s}).value();
    // Posting an existing id replaces its timer, for example to move a deadline.
    reminders.post("too late", 10ms, {.id = "order/42"}).value();
    const auto again = reminders.post("not yet", 1h, {.id = "order/42"}).value();
    const bool replaced = again.outcome == rm::TimerPosted::replaced;

    std::atomic<int> calls{0};
    std::promise<void> tea;
    std::promise<void> called;
    auto listener = reminders.listen([&](const rm::Timer& timer) {
        std::cout << "fired: " << *timer.payload.get_if<std::string>() << '\n';
        if (timer.id != "ada") return tea.set_value();
        if (++calls == 1) throw std::runtime_error{"the line is busy"};
        called.set_value();
    });
    tea.get_future().wait();
    called.get_future().wait();
    listener.stop(5s);

    const auto left = reminders.upcoming().value();
    const bool one_left = left.size() == 1 && left[0].id == "order/42";
    const bool cancelled = reminders.cancel("order/42").value() == rm::Removal::removed;
    const bool right = replaced && calls == 2 && one_left && cancelled;
    std::cout << (right ? "Ada was called twice\n" : "something went wrong\n");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
