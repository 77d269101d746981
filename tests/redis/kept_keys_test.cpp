/// @file
/// Keys of completed jobs on a Redis server must not accumulate.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "redis_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// Pushes and does a job whose unique key excludes further jobs for a second.
void push_and_do(RedisScene& scene, const std::string& key) {
    PushJob step{"work", "a", scene.now};
    step.options.key = {
        .text = key, .scope = KeyScope::for_time, .until = scene.now + Duration{1'000}};
    REQUIRE(scene.perform(step) == PushOutcome::pushed);
    const auto leases = scene.perform(AcquireJobs{"work", scene.worker, 1}).leases;
    REQUIRE(scene.perform(AckJob{leases.at(0)}) == Settlement::settled);
}

}  // namespace

TEST_CASE("redis: with each new key of a job, two expired keys are removed") {
    RedisScene scene;
    for (const char* key : {"a", "b", "c"}) push_and_do(scene, key);
    CHECK(scene.other({"ZCARD", "routemaster:kept_keys"}).number == 3);
    scene.now += Duration{1'000};
    push_and_do(scene, "d");
    CHECK(scene.other({"ZCARD", "routemaster:kept_keys"}).number == 2);
    push_and_do(scene, "e");
    CHECK(scene.other({"ZCARD", "routemaster:kept_keys"}).number == 2);
}

TEST_CASE("redis: of too many keys of jobs, the key that expires first is removed and counted") {
    RedisScene scene;
    // These keys expire after the keys of the test.
    const auto never_soon = std::to_string(to_milliseconds(scene.now + Duration{1'000'000'000}));
    scene.other({"EVAL",
                 "for i = 1, 99999 do redis.call('ZADD', KEYS[1], ARGV[1], 'other:' .. i) end", "1",
                 "routemaster:kept_keys", never_soon});
    push_and_do(scene, "first");
    CHECK(scene.other({"ZCARD", "routemaster:kept_keys"}).number == kept_keys_max);
    push_and_do(scene, "one more");
    CHECK(scene.other({"ZCARD", "routemaster:kept_keys"}).number == kept_keys_max);
    CHECK(scene.other({"EXISTS", "routemaster:keys:work"}).number == 0);
    push_and_do(scene, "first");
    const CounterKey key{"jobs.keys_forgotten", {{"queue", "work"}}};
    std::optional<std::int64_t> forgotten;
    for (const auto& counter : scene.perform(ListCounters{})) {
        if (counter.key == key) forgotten = counter.value;
    }
    CHECK(forgotten == 2);
}
