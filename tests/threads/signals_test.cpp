// The threads of the library leave signals to the threads of the program.

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <string>

#include "core/system/thread.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/delivery_worker.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/server/http_server.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/timer_listener.hpp"
#include "routemaster/transport/http.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/example_events.hpp"
#include "support/http_server_scene.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;

namespace {

/// The blocked signals of each thread of this process, one bit each.
std::map<std::string, std::uint64_t> blocked_signals() {
    std::map<std::string, std::uint64_t> all;
    for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
        std::ifstream status{task.path() / "status"};
        for (std::string line; std::getline(status, line);) {
            if (!line.starts_with("SigBlk:")) continue;
            all[task.path().filename()] = std::stoull(line.substr(7), nullptr, 16);
        }
    }
    return all;
}

bool has(std::uint64_t signals, int signal) { return (signals >> (signal - 1) & 1U) != 0; }

/// One object of each kind that has threads, at work.
class Program {
public:
    Program() : store_{std::make_unique<EmbeddedStore>(folder_.path() / "bus.db")} {
        pool_.handle("resize", [this](JobContext&) { resized_.set_value(); });
        pool_.start();
        bus_.subscriber("billing").subscribe({"orders"}, [](const Batch&) {}).value();
        JobQueue{*store_, "work"}.push({"resize", {1}}).value();
        // Makes the transport look up a name, which starts a thread.
        std::promise<void> failed;
        http_->deliver({.callback = "https://nowhere.invalid/"},
                       [&](const DeliveryReport&) { failed.set_value(); });
        failed.get_future().wait();
        resized_.get_future().wait();
    }

private:
    test::TemporaryFolder folder_;
    std::promise<void> resized_;
    std::unique_ptr<Store> store_;
    std::shared_ptr<HttpTransport> http_ = std::make_shared<HttpTransport>();
    Bus bus_{*store_};
    WorkerPool pool_{*store_, {.queues = {"work"}, .threads = 2}};
    TimerListener listener_{Delayer{*store_, "calls"}.listen([](const Timer&) {})};
    DeliveryWorker worker_{bus_, {.transports = {http_}}};
    HttpServer server_{{.address = "127.0.0.1", .port = 0}, test::echo};
};

}  // namespace

TEST_CASE("threads of the library block all signals except those of faults and of profilers") {
    std::thread{[] {}}.join();  // A sanitizer starts a background thread together with the first
                                // thread.
    const auto before = blocked_signals();
    const Program program;
    int threads = 0;
    for (const auto& [thread, signals] : blocked_signals()) {
        if (before.contains(thread)) continue;
        const auto id = thread;  // Structured bindings cannot be captured.
        CAPTURE(id);
        ++threads;
        for (const int blocked : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD,
                                  SIGALRM, SIGPIPE, SIGXFSZ, SIGRTMIN, SIGRTMAX}) {
            CAPTURE(blocked);
            CHECK(has(signals, blocked));
        }
        for (const int open : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF}) {
            CAPTURE(open);
            CHECK_FALSE(has(signals, open));
        }
    }
    // The committer; the runner and two threads of the pool; the runner and a thread of the
    // listener; the runner and a callback thread of the worker; two threads of the transport, and
    // its lookup; the threads of the server.
    CHECK(threads >= 12);
}

TEST_CASE("a signal blocked after a store was opened is received by sigwait") {
    const Program program;
    sigset_t awaited;
    sigset_t before;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &awaited, &before);
    REQUIRE(::kill(::getpid(), SIGTERM) == 0);
    const timespec limit{.tv_sec = 60, .tv_nsec = 0};
    CHECK(sigtimedwait(&awaited, nullptr, &limit) == SIGTERM);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("a thread that starts a thread of the library keeps its own signal mask") {
    sigset_t before;
    sigset_t after;
    pthread_sigmask(SIG_BLOCK, nullptr, &before);
    detail::start_thread([] {}).join();
    pthread_sigmask(SIG_BLOCK, nullptr, &after);
    CHECK(sigismember(&after, SIGTERM) == sigismember(&before, SIGTERM));
    CHECK(sigismember(&after, SIGUSR1) == sigismember(&before, SIGUSR1));
}
