// Ends of a program that uses a store on Redis.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

#include "routemaster/delayer.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/store/redis.hpp"
#include "routemaster/timer_listener.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/await.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"

using namespace routemaster;

namespace {

constexpr const char* server_port = "ROUTEMASTER_TEST_PORT";

/// The skipped case `name` of this file as a program of its own: the C library calls the exit
/// handlers of a test that has used OpenSSL before in a different order.
test::Process program(const std::string& name, const test::RedisServer& server) {
    return test::Process{{"/proc/self/exe", "--no-skip", "--test-case=" + name},
                         {{server_port, std::to_string(server.port())}}};
}

/// The server of a program, from its environment.
RedisOptions options_there() {
    const auto port = static_cast<std::uint16_t>(std::stoul(std::getenv(server_port)));
    return {.addresses = {{"127.0.0.1", port}}};
}

/// Pushes a job in its destructor.
struct LastPush {
    Store& store;
    ~LastPush() {
        if (!JobQueue{store, "last"}.push({"resize", {}})) std::abort();
    }
};

}  // namespace

TEST_CASE("program: uses static objects on Redis until its exit" * doctest::skip()) {
    static RedisStore store{options_there()};
    static LastPush last{store};
    static WorkerPool pool{store, {.queues = {"work"}}};
    static std::atomic<int> fired{0};
    static const auto listener = Delayer{store, "calls"}.listen([](const Timer&) { ++fired; });
    pool.handle("resize", [](JobContext&) {});
    pool.start();
    JobQueue{store, "work"}.push({"resize", {}}).value();
    Delayer{store, "calls"}.post("now", Duration{0}).value();
    if (!test::await([] { return pool.status().done == 1 && fired == 1; })) std::abort();
    std::exit(0);
}

TEST_CASE("program: exits inside a completion of a store on Redis" * doctest::skip()) {
    // doctest's handler of SIGABRT allocates, which a thread sanitizer reports by another status.
    std::signal(SIGABRT, SIG_DFL);
    static RedisStore store{options_there()};
    static WorkerPool pool{store, {.queues = {"work"}}};
    pool.handle("resize", [](JobContext&) {});
    pool.start();
    JobQueue{store, "other"}.push({"resize", {}}, {}, [](const auto&) { std::exit(6); });
    while (true) std::this_thread::sleep_for(std::chrono::seconds{1});
}

TEST_CASE("a program with a static pool and a static listener on Redis exits without a crash") {
    const test::RedisServer server;
    auto working = program("program: uses static objects on Redis until its exit", server);
    CHECK(working.wait() == 0);
    CAPTURE(working.errors());
    CHECK(server.command({"KEYS", "routemaster:worker:*"}).list.empty());
    RedisStore store{{.addresses = {server.address()}}};
    CHECK(JobQueue{store, "last"}.status().value().ready == 1);
}

TEST_CASE("redis: exit inside a completion ends the program with a message") {
    const test::RedisServer server;
    auto ending = program("program: exits inside a completion of a store on Redis", server);
    CHECK(ending.wait() == 128 + SIGABRT);
    CAPTURE(ending.errors());
    CHECK(ending.errors().find("worker pool: destroyed inside a completion of a store") !=
          std::string::npos);
}
