/// @file
/// Repeated pushes on a Redis server: the keys that they leave, and that no push makes two jobs.

#include <doctest/doctest.h>

#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <utility>

#include "redis_scene.hpp"
#include "routemaster/job_queue.hpp"
#include "support/await.hpp"
#include "support/tcp_gate.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

PushJob named(const RedisScene& scene, const std::string& key, Duration time) {
    PushJob step{"work", "job of " + key, scene.now};
    step.idempotency_key = {.text = key, .fingerprint = 7, .time = time};
    return step;
}

/// Does all jobs of the queue. Returns their number.
std::size_t do_all(Store& store, const Uid& worker) {
    const auto now = system_clock().now();
    const auto leases = perform(store, AcquireJobs{"work", worker, 100}, now).value().leases;
    for (const auto& lease : leases) {
        REQUIRE(perform(store, AckJob{lease}, now).value() == Settlement::settled);
    }
    return leases.size();
}

}  // namespace

TEST_CASE("redis: an idempotency key expires, and counts towards the limit of idempotency keys") {
    RedisScene scene;
    CHECK(scene.perform(named(scene, "a", Duration{90'000})) == PushOutcome::pushed);
    const auto left = scene.other({"PTTL", "routemaster:pushed:work:a"}).number;
    CHECK(left > 0);
    CHECK(left <= 90'000);
    CHECK(scene.other({"ZCARD", "routemaster:idempotency_keys"}).number == 1);
    // Expired keys are removed, two with each new one.
    scene.perform(named(scene, "b", Duration{90'000}));
    scene.perform(named(scene, "c", Duration{90'000}));
    scene.now += Duration{90'000};
    scene.perform(named(scene, "d", Duration{90'000}));
    CHECK(scene.other({"ZCARD", "routemaster:idempotency_keys"}).number == 2);
}

TEST_CASE(
    "redis: of too many idempotency keys the key that expires first is removed, and counted") {
    RedisScene scene;
    const auto never_soon = std::to_string(to_milliseconds(scene.now + Duration{1'000'000'000}));
    scene.other({"EVAL",
                 "for i = 1, 99999 do redis.call('ZADD', KEYS[1], ARGV[1], 'other:' .. i) end", "1",
                 "routemaster:idempotency_keys", never_soon});
    scene.perform(named(scene, "first", Duration{90'000}));
    CHECK(scene.other({"EXISTS", "routemaster:pushed:work:first"}).number == 1);
    scene.perform(named(scene, "one more", Duration{90'000}));
    CHECK(scene.other({"ZCARD", "routemaster:idempotency_keys"}).number == idempotency_keys_max);
    CHECK(scene.other({"EXISTS", "routemaster:pushed:work:first"}).number == 0);
    CHECK(scene.other({"EXISTS", "routemaster:pushed:work:one more"}).number == 1);
    const CounterKey key{"jobs.idempotency_keys_forgotten", {{"queue", "work"}}};
    std::optional<std::int64_t> forgotten;
    for (const auto& counter : scene.perform(ListCounters{})) {
        if (counter.key == key) forgotten = counter.value;
    }
    CHECK(forgotten == 1);
}

TEST_CASE("redis: a push that must not be repeated makes one job, even if the connection was cut") {
    const RedisServer server;
    TcpGate gate{server.port()};
    RedisStore store{{.addresses = {{"127.0.0.1", gate.port()}}}};
    RedisStore beside{{.addresses = {server.address()}}};
    const Uid worker{1, 1};
    PushOptions options;
    SUBCASE("the push has no uniqueness") { options.unique = Unique::off(); }
    SUBCASE("the push has a key until its job starts") {
        options.unique = Unique::by_key("k", KeyScope::until_started);
    }
    SUBCASE("the push has a key and replaces") { options.unique = Unique::replace("k"); }
    JobQueue jobs{store, "work"};
    JobQueue seen{beside, "work"};
    // The script is loaded now, so the next push is a single call.
    REQUIRE(jobs.push(Job{"first"}, options));
    REQUIRE(do_all(beside, worker) == 1);

    gate.stall_after(0);
    std::promise<Result<Pushed>> promise;
    auto answer = promise.get_future();
    jobs.push(Job{"a"}, options,
              [&](Result<Pushed> pushed) { promise.set_value(std::move(pushed)); });
    REQUIRE(await([&] { return seen.status().value().ready == 1; }));
    // The job is done before its pusher gets a reply, and pushes again.
    REQUIRE(do_all(beside, worker) == 1);
    gate.cut();
    gate.speak();
    const auto pushed = answer.get();
    REQUIRE(pushed);
    CHECK(*pushed == PushOutcome::pushed);
    CHECK(pushed->id == 2);
    CHECK(seen.status().value() == QueueStatus{});
}

TEST_CASE("redis: the record that protects a push from repetition is removed within a minute") {
    RedisScene scene;
    JobQueue jobs{scene.store, "work"};
    REQUIRE(jobs.push(Job{"a"}, {.unique = Unique::off()}));
    const auto keys = scene.other({"KEYS", "routemaster:pushed:*"}).list;
    REQUIRE(keys.size() == 1);
    const auto left = scene.other({"PTTL", keys[0].text}).number;
    CHECK(left > 0);
    CHECK(left <= 20'000);
    CHECK(scene.other({"EXISTS", "routemaster:idempotency_keys"}).number == 0);
}
