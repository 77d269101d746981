// Stops called by a thread for which the stop would wait.

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "routemaster/bus.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/delivery_worker.hpp"
#include "routemaster/error.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/server/http_server.hpp"
#include "routemaster/store/completion_thread.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/timer_listener.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/await.hpp"
#include "support/example_events.hpp"

using namespace routemaster;

namespace {

/// Records the error of a refused stop.
class Refusal {
public:
    void note(const std::function<void()>& stop) {
        try {
            stop();
            noted_.set_value("it was not refused");
        } catch (const Failure& failure) {
            const auto& error = failure.error();
            noted_.set_value(error.code() == Errc::invalid ? error.context() : "another error");
        }
    }

    [[nodiscard]] std::string text() {
        auto future = noted_.get_future();
        REQUIRE(future.wait_for(std::chrono::seconds{20}) == std::future_status::ready);
        return future.get();
    }

private:
    std::promise<std::string> noted_;
};

}  // namespace

TEST_CASE("a pool cannot be stopped by its own handlers, and keeps running") {
    MemoryStore store;
    JobQueue jobs{store, "work"};
    WorkerPool other{store, {.queues = {"other"}}};
    other.start();
    WorkerPool pool{store, {.queues = {"work"}}};
    Refusal refusal;
    pool.handle("stop", [&](JobContext&) {
        other.stop(Duration{0});
        refusal.note([&] { pool.stop(Duration{0}); });
    });
    pool.start();
    jobs.push({"stop", {}}).value();
    CHECK(refusal.text() == "stop: must not be called inside a handler");
    CHECK(other.trouble() == "the pool has been stopped");
    CHECK(test::await([&] { return jobs.status().value() == QueueStatus{}; }));
    CHECK(pool.trouble() == std::nullopt);
}

TEST_CASE("a listener cannot be stopped by its own handler") {
    MemoryStore store;
    Delayer calls{store, "calls"};
    Refusal refusal;
    std::promise<TimerListener*> made;
    auto which = made.get_future();
    auto listener = calls.listen([&](const Timer&) {
        auto* const own = which.get();
        refusal.note([&] { own->stop(Duration{0}); });
    });
    made.set_value(&listener);
    calls.post("now", Duration{0}).value();
    CHECK(refusal.text() == "stop: must not be called inside a handler");
}

TEST_CASE("a delivery worker cannot be stopped by its callbacks") {
    MemoryStore store;
    Bus bus{store};
    Refusal refusal;
    std::promise<DeliveryWorker*> made;
    auto which = made.get_future();
    bus.subscriber("billing")
        .subscribe({"orders"},
                   [&](const Batch&) {
                       auto* const own = which.get();
                       refusal.note([&] { own->stop(Duration{0}); });
                   })
        .value();
    DeliveryWorker worker{bus};
    made.set_value(&worker);
    bus.publish(test::order).value();
    CHECK(refusal.text() == "stop: must not be called inside a callback");
}

TEST_CASE("a runner cannot be stopped by the object that it polls") {
    MemoryStore store;
    JobQueue jobs{store, "work"};
    WorkerPool pool{store, {.queues = {"work"}, .threads = 0}};
    Refusal refusal;
    std::promise<Runner*> made;
    auto which = made.get_future();
    pool.handle("stop", [&](JobContext&) {
        auto* const own = which.get();
        refusal.note([&] { own->stop(Duration{0}); });
    });
    jobs.push({"stop", {}}).value();
    Runner runner{pool};
    made.set_value(&runner);
    CHECK(refusal.text() == "stop: must not be called inside a poll of this runner");
}

TEST_CASE("stopping an object inside a completion of its store is refused") {
    MemoryStore store;
    Bus bus{store};
    WorkerPool pool{store, {.queues = {"work"}}};
    WorkerPool polled{store, {.queues = {"polled"}, .threads = 0}};
    auto listener = Delayer{store, "calls"}.listen([](const Timer&) {});
    DeliveryWorker worker{bus};
    Runner runner{polled};
    HttpServer server{{.address = "127.0.0.1", .port = 0},
                      [](const HttpRequest&, const HttpResponder&) {}};
    pool.start();
    const auto refusal_of = [](auto& object) {
        Refusal refusal;
        std::jthread{[&] {
            const CompletionThread marked;
            refusal.note([&] { object.stop(Duration{0}); });
        }}.join();
        return refusal.text();
    };
    const std::string expected = "stop: must not be called inside a completion of the store";
    CHECK(refusal_of(pool) == expected);
    CHECK(refusal_of(listener) == expected);
    CHECK(refusal_of(worker) == expected);
    CHECK(refusal_of(runner) == expected);
    CHECK(refusal_of(server) == expected);
}
