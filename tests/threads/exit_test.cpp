// A program that ends in the middle of its work.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "routemaster/bus.hpp"
#include "routemaster/callbacks.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/delivery_worker.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/server/http_server.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/timer_listener.hpp"
#include "routemaster/transport/http.hpp"
#include "routemaster/transport/local.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/await.hpp"
#include "support/example_events.hpp"
#include "support/forked_child.hpp"
#include "support/http_client.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::in_child;

namespace {

[[noreturn]] void wait_for_the_end() {
    while (true) std::this_thread::sleep_for(std::chrono::seconds{1});
}

/// Checks that a program ends with a message that names the object and the remedy.
void check_message(const std::string& object, const std::string& place,
                   const std::function<void()>& program) {
    CAPTURE(object);
    const auto report = in_child([&]() -> std::string {
        program();
        wait_for_the_end();
    });
    CAPTURE(report.errors);
    CHECK(report.aborted());
    CHECK(report.errors.find(object + ": destroyed inside " + place + ", which") !=
          std::string::npos);
    CHECK(report.errors.find("let another thread stop the " + object) != std::string::npos);
    CHECK(report.errors.find("quick_exit()") != std::string::npos);
}

/// Checks the message of a program with a static object that exits inside a completion. `make`
/// makes the object, with the store in a file.
void check_completion_message(const std::string& object,
                              const std::function<void(EmbeddedStore&)>& make) {
    const test::TemporaryFolder folder;
    check_message(object, "a completion of a store", [&] {
        static EmbeddedStore store{folder.path() / "bus.db"};
        make(store);
        JobQueue{store, "other"}.push({"resize", {}}, {}, [](const auto&) { std::exit(0); });
        wait_for_the_end();
    });
}

}  // namespace

TEST_CASE("the message of exit inside a handler names the object that runs the handler") {
    const test::TemporaryFolder folder;
    check_message("worker pool", "a handler of its own", [&] {
        static EmbeddedStore store{folder.path() / "bus.db"};
        static WorkerPool pool{store, {.queues = {"work"}}};
        pool.handle("exit", [](JobContext&) { std::exit(0); });
        pool.start();
        JobQueue{store, "work"}.push({"exit", {}}).value();
        wait_for_the_end();
    });
    check_message("timer listener", "a handler of its own", [] {
        static MemoryStore store;
        static const auto listener =
            Delayer{store, "calls"}.listen([](const Timer&) { std::exit(0); });
        Delayer{store, "calls"}.post("now", Duration{0}).value();
        wait_for_the_end();
    });
    check_message("delivery worker", "a callback of its own", [] {
        static MemoryStore store;
        static Bus bus{store};
        bus.subscriber("billing").subscribe({"orders"}, [](const Batch&) { std::exit(0); }).value();
        static const DeliveryWorker worker{bus};
        bus.publish(test::order).value();
        wait_for_the_end();
    });
    check_message("runner", "a poll of its own", [] {
        static MemoryStore store;
        static WorkerPool pool{store, {.queues = {"work"}, .threads = 0}};
        pool.handle("exit", [](JobContext&) { std::exit(0); });
        static const Runner runner{pool};
        JobQueue{store, "work"}.push({"exit", {}}).value();
        wait_for_the_end();
    });
    check_message("store", "a completion of its own", [&] {
        static EmbeddedStore store{folder.path() / "bus.db"};
        JobQueue{store, "work"}.push({"resize", {2}}, {}, [](const auto&) { std::exit(0); });
        wait_for_the_end();
    });
    check_message("HTTP server", "a handler of its own", [] {
        static const HttpServer server{
            {.address = "127.0.0.1", .port = 0},
            [](const HttpRequest&, const HttpResponder&) { std::exit(0); }};
        test::HttpClient client{server.port()};
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        wait_for_the_end();
    });
}

TEST_CASE("the message of exit inside a completion names the object that would wait for ever") {
    check_completion_message("worker pool", [](EmbeddedStore& store) {
        static WorkerPool pool{store, {.queues = {"work"}}};
        pool.start();
    });
    check_completion_message("worker pool", [](EmbeddedStore& store) {
        static std::atomic<bool> busy{false};
        static WorkerPool pool{store, {.queues = {"work"}}};
        pool.handle("push", [&](JobContext&) {
            busy = true;
            while (true) static_cast<void>(JobQueue{store, "pushed"}.push({"resize", {}}));
        });
        pool.start();
        JobQueue{store, "work"}.push({"push", {}}).value();
        if (!test::await([] { return busy.load(); })) std::exit(1);
    });
    check_completion_message("timer listener", [](EmbeddedStore& store) {
        static const auto listener = Delayer{store, "calls"}.listen([](const Timer&) {});
    });
    check_completion_message("delivery worker", [](EmbeddedStore& store) {
        static Bus bus{store};
        static const DeliveryWorker worker{bus};
    });
    check_completion_message("runner", [](EmbeddedStore& store) {
        static WorkerPool pool{store, {.queues = {"work"}, .threads = 0}};
        static const Runner runner{pool};
    });
    check_completion_message("local transport", [](EmbeddedStore&) {
        static Callbacks callbacks;
        static const LocalTransport transport{callbacks};
    });
    check_completion_message("HTTP transport",
                             [](EmbeddedStore&) { static const HttpTransport transport; });
    check_completion_message("HTTP server", [](EmbeddedStore&) {
        static const HttpServer server{{.address = "127.0.0.1", .port = 0},
                                       [](const HttpRequest&, const HttpResponder&) {}};
    });
}

TEST_CASE("a pool without running threads may be destroyed inside a completion") {
    const test::TemporaryFolder folder;
    EmbeddedStore store{folder.path() / "bus.db"};
    std::optional<WorkerPool> fresh{std::in_place, store, WorkerPoolOptions{.queues = {"work"}}};
    std::optional<WorkerPool> stopped{std::in_place, store, WorkerPoolOptions{.queues = {"work"}}};
    stopped->start();
    stopped->stop(Duration{0});
    std::promise<void> destroyed;
    JobQueue{store, "other"}.push({"resize", {}}, {}, [&](const auto&) {
        fresh.reset();
        stopped.reset();
        destroyed.set_value();
    });
    CHECK(destroyed.get_future().wait_for(std::chrono::minutes{1}) == std::future_status::ready);
}

TEST_CASE("destroying a pool inside its own handler reports the misuse") {
    check_message("worker pool", "a handler of its own", [] {
        MemoryStore store;
        std::optional<WorkerPool> pool{std::in_place, store, WorkerPoolOptions{.queues = {"work"}}};
        pool->handle("destroy", [&](JobContext&) { pool.reset(); });
        pool->start();
        JobQueue{store, "work"}.push({"destroy", {}}).value();
        wait_for_the_end();
    });
}

TEST_CASE("a static pool survives an exit on another thread, and its jobs are kept") {
    const test::TemporaryFolder folder;
    const auto report = in_child([&]() -> std::string {
        static EmbeddedStore store{folder.path() / "bus.db"};
        static WorkerPool pool{store, {.queues = {"work"}}};
        pool.handle("resize", [](JobContext&) {});
        JobQueue{store, "work"}.push({"resize", {1}}).value();
        std::thread{[] {
            if (!test::await([] { return pool.status().done == 1; })) std::abort();
            std::exit(0);
        }}.detach();
        pool.run({});
        return "came back from run";
    });
    CAPTURE(report.errors);
    CHECK(report.text == "");
    CHECK(report.exited());
    CHECK(WEXITSTATUS(report.status) == 0);
    EmbeddedStore store{folder.path() / "bus.db"};
    CHECK(JobQueue{store, "work"}.status().value() == QueueStatus{});
}
