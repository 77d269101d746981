/// @file
/// A program that is killed during its work, and recovers its events at the next start.
///
/// The first run publishes events, counts the acknowledged ones, and is killed by SIGKILL, so it
/// cannot clean up. The second run opens the same file and delivers the events.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <future>
#include <iostream>
#include <string>
#include <vector>

#include <routemaster/open_store.hpp>
#include <routemaster/routemaster.hpp>

namespace rm = routemaster;

namespace {

constexpr const char* store_url = "file:survive_a_crash.db";
constexpr int crash_after = 300;

std::string order_url(int number) {
    return "https://shop.example/orders/" + std::to_string(number);
}

/// Publishes until it is killed. Writes a byte to `acknowledged` for each acknowledged event.
[[noreturn]] void publish_and_die(int acknowledged) {
    auto store = rm::open_store(store_url).value();
    rm::Bus bus{*store};
    bus.subscriber("billing").subscribe({"orders"}, [](const rm::Batch&) {}).value();
    for (int i = 0;; ++i) {
        bus.publish({.topic = "orders", .type = rm::EventType::create, .url = order_url(i)})
            .value();
        if (write(acknowledged, ".", 1) != 1 || i + 1 == crash_after) kill(getpid(), SIGKILL);
    }
}

/// Runs the first run in a child process. Returns the number of acknowledged events.
int run_and_crash() {
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) std::abort();
    const pid_t child = fork();
    if (child == 0) publish_and_die(pipe_ends[1]);
    close(pipe_ends[1]);
    int acknowledged = 0;
    for (char byte = 0; read(pipe_ends[0], &byte, 1) == 1;) ++acknowledged;
    close(pipe_ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    return killed ? acknowledged : 0;
}

/// Opens the file, and delivers until `events` events have arrived.
std::vector<std::string> deliver(std::size_t events) {
    auto store = rm::open_store(store_url).value();
    rm::Bus bus{*store};
    std::vector<std::string> urls;
    std::promise<void> complete;
    bus.subscriber("billing")
        .subscribe({"orders"},
                   [&](const rm::Batch& batch) {
                       for (const auto& event : batch.events) urls.push_back(event.url);
                       if (urls.size() == events) complete.set_value();
                   })
        .value();
    rm::DeliveryWorker worker{bus};
    complete.get_future().wait();
    worker.stop(rm::Duration{1'000});
    return urls;
}

}  // namespace

int main() {
    const int acknowledged = run_and_crash();
    std::cout << "killed after " << acknowledged << " acknowledged events\n";
    if (acknowledged != crash_after) return EXIT_FAILURE;

    const auto urls = deliver(crash_after);
    for (int i = 0; i < acknowledged; ++i) {
        if (urls[static_cast<std::size_t>(i)] != order_url(i)) {
            std::cerr << "event " << i << " is out of order\n";
            return EXIT_FAILURE;
        }
    }
    std::cout << "all of them arrived after the crash, in order\n";
    return EXIT_SUCCESS;
}
