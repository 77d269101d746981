/// @file
/// Timers: reminders that survive the program, fire to the millisecond, and come back until they
/// are handled. A file stores the timers; a test would use `memory:`.

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

    // At most once: if its handler crashes, the timer is lost.
    reminders.post("tea is ready", 50ms).value();
    // Fires again until its handler returns. After two retries the timer is DEAD, and is kept.
    reminders.post("call Ada", 20ms, {.id = "ada", .retries_max = 2, .confirm_within = 1s}).value();
    // Posting an existing id replaces its timer. This way a deadline is moved later or earlier.
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
