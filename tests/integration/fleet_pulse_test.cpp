/// @file
/// GET /pulse of a bus that accepts events but cannot deliver them.

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "support/await.hpp"
#include "support/redis_server.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;

TEST_CASE(
    "GET /pulse of a bus that cannot acquire jobs returns 503 with the reason, until it can") {
    const test::RedisServer redis;
    const test::TemporaryFolder folder;
    const test::RunningBus bus{folder.path(), {"--store", redis.url()}};
    CHECK(bus.ask("GET", "/pulse", test::root_key).status == 204);
    // The bus still accepts events, but cannot acquire jobs.
    redis.command({"SET", "jobs:scheduled:main", "spoilt"});
    CHECK(test::await([&] { return bus.ask("GET", "/pulse", test::root_key).status == 503; }));
    const auto pulse = bus.ask("GET", "/pulse", test::root_key);
    CHECK(pulse.status == 503);
    CHECK(pulse.body.starts_with("unavailable: deliveries: cannot acquire jobs: "));
    CHECK_MESSAGE(bus.ask("GET", "/health").status == 200, "the process answers");
    redis.command({"DEL", "jobs:scheduled:main"});
    CHECK(test::await([&] { return bus.ask("GET", "/pulse", test::root_key).status == 204; }));
}
