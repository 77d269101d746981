// Leases after the server has lost its data.

#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/job_leases.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/store/redis.hpp"
#include "support/await.hpp"
#include "support/redis_server.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// Leases whose calls block until the reply.
struct WaitedLeases {
    explicit WaitedLeases(Store& store) : leases{store} {}

    /// Leases the next job within 5 s.
    LeasedJob lease() {
        std::vector<LeasedJob> leased;
        std::atomic<bool> replied{false};
        leases.lease({.queue = "work", .worker = "w", .wait = Duration{5'000}}, [&](auto result) {
            leased = std::move(result).value();
            replied = true;
        });
        REQUIRE(await([&] { return replied.load(); }));
        REQUIRE(leased.size() == 1);
        return leased.front();
    }

    Settlement settle(const LeasedJob& job) {
        const LeaseName name{job.lease.queue, job.lease.id, job.lease.worker, job.lease.fence};
        std::optional<Settlement> settled;
        std::atomic<bool> replied{false};
        leases.settle(name, {}, [&](auto result) {
            settled = result.value();
            replied = true;
        });
        REQUIRE(await([&] { return replied.load(); }));
        return *settled;
    }

    JobLeases leases;
    Runner runner{leases};
};

}  // namespace

TEST_CASE(
    "redis: after a server lost its data, leases of lost jobs are lost, and leases of new jobs "
    "work") {
    RedisServer server;
    RedisStore store{{.addresses = {server.address()}}};
    JobQueue jobs{store, "work"};
    WaitedLeases scene{store};
    const auto id = jobs.push(Job{"a", {1}}).value().id;
    const auto before = scene.lease();
    server.command({"FLUSHALL"});
    // The server counts from the beginning: without further measures the ids and fences of both
    // jobs would be equal.
    REQUIRE(jobs.push(Job{"a", {2}}).value().id == id);
    const auto after = scene.lease();
    CHECK(after.lease.fence > before.lease.fence);
    CHECK(scene.settle(before) == Settlement::lease_lost);
    CHECK(scene.settle(after) == Settlement::settled);
    CHECK(jobs.status().value() == QueueStatus{});
    scene.runner.stop(Duration{2'000});
}
