// A program that ends in the middle of its work.

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "routemaster/bus.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/delivery_worker.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/server/http_server.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/timer_listener.hpp"
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
void check_message(const std::string& object, const std::string& handler,
                   const std::function<void()>& program) {
    CAPTURE(object);
    const auto report = in_child([&]() -> std::string {
        program();
        wait_for_the_end();
    });
    CAPTURE(report.errors);
    CHECK(report.aborted());
    CHECK(report.errors.find(object + ": destroyed inside " + handler + " of its own") !=
          std::string::npos);
    CHECK(report.errors.find("let another thread stop the " + object) != std::string::npos);
    CHECK(report.errors.find("quick_exit()") != std::string::npos);
}

}  // namespace

TEST_CASE("exit inside a handler reports the object of the handler") {
    const test::TemporaryFolder folder;
    check_message("worker pool", "a handler", [&] {
        static EmbeddedStore store{folder.path() / "bus.db"};
        static WorkerPool pool{store, {.queues = {"work"}}};
        pool.handle("exit", [](JobContext&) { std::exit(0); });
        pool.start();
        JobQueue{store, "work"}.push({"exit", {}}).value();
        wait_for_the_end();
    });
    check_message("timer listener", "a handler", [] {
        static MemoryStore store;
        static const auto listener =
            Delayer{store, "calls"}.listen([](const Timer&) { std::exit(0); });
        Delayer{store, "calls"}.post("now", Duration{0}).value();
        wait_for_the_end();
    });
    check_message("delivery worker", "a callback", [] {
        static MemoryStore store;
        static Bus bus{store};
        bus.subscriber("billing").subscribe({"orders"}, [](const Batch&) { std::exit(0); }).value();
        static const DeliveryWorker worker{bus};
        bus.publish(test::order).value();
        wait_for_the_end();
    });
    check_message("runner", "a poll", [] {
        static MemoryStore store;
        static WorkerPool pool{store, {.queues = {"work"}, .threads = 0}};
        pool.handle("exit", [](JobContext&) { std::exit(0); });
        static const Runner runner{pool};
        JobQueue{store, "work"}.push({"exit", {}}).value();
        wait_for_the_end();
    });
    check_message("store", "a completion", [&] {
        static EmbeddedStore store{folder.path() / "bus.db"};
        JobQueue{store, "work"}.push({"resize", {2}}, {}, [](const auto&) { std::exit(0); });
        wait_for_the_end();
    });
    check_message("HTTP server", "a handler", [] {
        static const HttpServer server{
            {.address = "127.0.0.1", .port = 0},
            [](const HttpRequest&, const HttpResponder&) { std::exit(0); }};
        test::HttpClient client{server.port()};
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        wait_for_the_end();
    });
}

TEST_CASE("destroying a pool inside its own handler reports the misuse") {
    check_message("worker pool", "a handler", [] {
        MemoryStore store;
        std::optional<WorkerPool> pool{std::in_place, store, WorkerPoolOptions{.queues = {"work"}}};
        pool->handle("destroy", [&](JobContext&) { pool.reset(); });
        pool->start();
        JobQueue{store, "work"}.push({"destroy", {}}).value();
        wait_for_the_end();
    });
}

TEST_CASE("a static pool survives the exit of another thread, and its work is kept") {
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
