// Ends of a program that uses a store on Redis.

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

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

TEST_CASE("a program with a static pool and listener on Redis exits in good order") {
    const test::RedisServer server;
    auto working = program("program: uses static objects on Redis until its exit", server);
    CHECK(working.wait() == 0);
    CAPTURE(working.errors());
    CHECK(server.command({"KEYS", "routemaster:worker:*"}).list.empty());
    RedisStore store{{.addresses = {server.address()}}};
    CHECK(JobQueue{store, "last"}.status().value().ready == 1);
}
