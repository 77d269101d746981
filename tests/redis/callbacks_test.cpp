// Deliveries to callbacks in processes. Ruby workers treat each callback as a URL, so they must not
// see these deliveries.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "redis_scene.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

const std::string first = "BATCHBATCHBATCHBAAAA";
const std::string second = "BATCHBATCHBATCHBBAAA";

/// Subscribes to `cats` with a callback in a process. Two events fill a batch.
void subscribe(RedisScene& s, const std::string& callback = "local:audit") {
    s.perform(Subscribe{
        .token = "audit", .topics = {"cats"}, .options = {.callback = callback, .max_events = 2}});
}

}  // namespace

TEST_CASE("redis: Ruby Routemaster never sees batches for a callback in a process") {
    RedisScene s{true};
    subscribe(s);
    s.publish(first);
    CHECK_FALSE(s.ruby_sees_jobs());  // SCHEDULED
    s.publish(second);
    CHECK_FALSE(s.ruby_sees_jobs());  // READY
    CHECK(s.acquire_for({""}).empty());
    auto leases = s.acquire_for({"audit"});
    REQUIRE(leases.size() == 1);
    CHECK_FALSE(s.ruby_sees_jobs());  // PENDING
    CHECK(s.begin(leases[0]).verdict == Verdict::deliver);
    CHECK(s.settle(leases[0], false) == Settlement::settled);
    CHECK_FALSE(s.ruby_sees_jobs());  // SCHEDULED again
    s.now += Duration{100};
    CHECK(s.acquire_for({""}).empty());
    leases = s.acquire_for({"audit"});
    REQUIRE(leases.size() == 1);
    CHECK(s.perform(RetireWorker{s.worker}) == ReleasedJobs{1});
    CHECK_FALSE(s.ruby_sees_jobs());
    leases = s.acquire_for({"audit"});
    REQUIRE(leases.size() == 1);
    CHECK(s.perform(BeginDelivery{leases[0], Duration{0}, 0}).verdict == Verdict::deliver);
    CHECK(s.settle(leases[0]) == Settlement::settled);
    CHECK_FALSE(s.ruby_sees_jobs());
    CHECK(s.perform(CountJobs{"main"}) == QueueStatus{});
}

TEST_CASE(
    "redis: in a mixed deployment a callback gets no more batches at once than max_in_flight") {
    RedisScene s{true};
    s.perform(Subscribe{.token = "audit",
                        .topics = {"cats"},
                        .options = {.callback = "local:audit", .max_events = 1}});
    s.publish(first);
    s.publish(second);
    const auto leases = s.acquire_for({"audit"});
    REQUIRE(leases.size() == 1);
    CHECK(leases[0].job == RedisScene::job(first));
    CHECK(s.acquire_for({"audit"}).empty());
    s.begin(leases[0]);
    s.settle(leases[0]);
    CHECK(s.acquire_for({"audit"}).at(0).job == RedisScene::job(second));
}

TEST_CASE(
    "redis: in a mixed deployment, a deliverable batch for a callback wakes the callback's "
    "worker") {
    RedisScene s{true};
    const auto subscribe_with = [&](const std::string& callback, std::uint32_t max_in_flight) {
        s.perform(Subscribe{
            .token = "audit",
            .topics = {"cats"},
            .options = {.callback = callback, .max_events = 1, .max_in_flight = max_in_flight}});
    };
    subscribe_with("local:audit", 1);
    const auto busy = s.worker;
    const auto idle = *Uid::parse("WORKERWORKERWORKER11");
    s.worker = idle;
    const auto is_asleep = [&] {
        return s.other({"EXISTS", "routemaster:waiting:main:callbacks"}).number == 1;
    };
    CHECK(s.acquire_for({"audit"}).empty());
    REQUIRE(is_asleep());
    SUBCASE("a first batch is due") {
        s.publish(first);
        CHECK_FALSE(is_asleep());
    }
    SUBCASE("a next batch is due") {
        s.publish(first);
        s.publish(second);
        s.worker = busy;
        const auto leases = s.acquire_for({"audit"});
        REQUIRE(leases.size() == 1);
        s.worker = idle;
        CHECK(s.acquire_for({"audit"}).empty());
        REQUIRE(is_asleep());
        SUBCASE("the batch before was delivered") {
            s.begin(leases[0]);
            s.settle(leases[0]);
        }
        SUBCASE("the batch before failed") {
            s.begin(leases[0]);
            s.settle(leases[0], false);
        }
        SUBCASE("the batch before was released") {
            CHECK(s.perform(ReleaseJob{leases[0], s.now + Duration{9'000}}) == Settlement::settled);
        }
        SUBCASE("the worker of the batch before ended") { s.perform(RetireWorker{busy}); }
        SUBCASE("the subscriber now allows more batches at once") {
            subscribe_with("local:audit", 2);
        }
        CHECK_FALSE(is_asleep());
        CHECK(s.acquire_for({"audit"}).size() == 1);
    }
    SUBCASE("the batch was for a URL before") {
        subscribe_with("https://audit.example/", 1);
        s.publish(first);
        CHECK(s.acquire_for({"audit"}).empty());
        subscribe_with("local:audit", 1);
        CHECK_FALSE(is_asleep());
    }
}

TEST_CASE("redis: in a mixed deployment, batches that wait for a callback can move to a URL") {
    RedisScene s{true};
    s.perform(Subscribe{.token = "audit",
                        .topics = {"cats"},
                        .options = {.callback = "local:audit", .max_events = 1}});
    s.publish(first);
    s.publish(second);
    RedisStore ours{{.addresses = {s.server.address()}}};
    CHECK(perform(
        ours,
        Subscribe{
            .token = "audit", .topics = {"cats"}, .options = {.callback = "https://a.example/"}},
        s.now));
    const auto ready = s.other({"LRANGE", "jobs:instant:main", "0", "-1"}).list;
    REQUIRE(ready.size() == 2);
    CHECK(ready[1].text == RedisScene::job(first));
    CHECK(s.other({"SCARD", "routemaster:callbacks"}).number == 0);
}

TEST_CASE(
    "redis: batches that Ruby Routemaster made READY for a callback are leased for the callback") {
    RedisScene s{true};
    subscribe(s, "https://audit.example/");
    s.publish(first);
    s.publish(second);
    CHECK(s.other({"LLEN", "jobs:instant:main"}).number == 1);
    // A Ruby process changes the subscriber, without knowing routemaster's keys.
    s.other({"HSET", "subscriber:audit", "callback", "local:audit"});
    CHECK(s.acquire_for({""}).empty());
    CHECK_FALSE(s.ruby_sees_jobs());
    CHECK(s.acquire_for({"audit"}).size() == 1);
}

TEST_CASE(
    "redis: a callback's batch returns to Ruby Routemaster's keys when its subscriber gets a URL") {
    RedisScene s{true};
    subscribe(s);
    s.publish(first);
    s.publish(second);
    subscribe(s, "https://audit.example/");
    CHECK(s.other({"LINDEX", "jobs:instant:main", "0"}).text == RedisScene::job(first));
    CHECK(s.other({"SCARD", "routemaster:callbacks"}).number == 0);
    CHECK(s.other({"EXISTS", "routemaster:callback:audit"}).number == 0);
}

TEST_CASE("redis: a worker that found no batch for its callbacks is woken only for its callbacks") {
    RedisScene s;
    s.subscribe();
    subscribe(s);
    CHECK(s.acquire_for({"", "audit"}).empty());
    CHECK(s.other({"EXISTS", "routemaster:waiting:main"}).number == 1);
    CHECK(s.other({"EXISTS", "routemaster:waiting:main:callbacks"}).number == 1);
    s.other({"SREM", "subscribers:cats", "audit"});
    s.publish(first);
    CHECK(s.other({"EXISTS", "routemaster:waiting:main"}).number == 0);
    CHECK(s.other({"EXISTS", "routemaster:waiting:main:callbacks"}).number == 1);
}

TEST_CASE("redis: a damaged list of callbacks delays jobs for a minute, and no job is lost") {
    RedisScene s;
    subscribe(s);
    s.other({"SET", "routemaster:callback:audit", "nonsense"});
    s.publish(first);
    s.publish(second);
    CHECK(s.acquire_for({"audit"}).empty());
    s.other({"DEL", "routemaster:callback:audit"});
    s.now += Duration{60'000};
    CHECK(s.acquire_for({"audit"}).size() == 1);
}
