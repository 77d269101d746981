// A lease also names its job by id: with two equal jobs, a lease is valid for only one.

#include <doctest/doctest.h>

#include "redis_scene.hpp"

using namespace routemaster;
using test::RedisScene;

TEST_CASE("redis: a lease settles no job that differs only by its id") {
    RedisScene s;
    PushJob push{"work", "a", s.now};
    SUBCASE("the jobs have no key") {}
    SUBCASE("the jobs have a key") { push.options.key.text = "a"; }
    s.perform(push);
    const auto acquired = s.perform(AcquireJobs{.queue = "work", .worker = s.worker, .limit = 1});
    const auto& lease = acquired.leases.at(0);
    auto other = lease;
    other.id = lease.id + 1;
    CHECK(s.perform(AckJob{other}) == Settlement::lease_lost);
    CHECK(s.perform(NackJob{other, s.now}) == Settlement::lease_lost);
    CHECK(s.perform(FailJob{.lease = other, .error = "broken", .run_at = s.now}) ==
          Settlement::lease_lost);
    CHECK(s.perform(CountJobs{"work"}) == QueueStatus{.pending = 1});
    CHECK(s.perform(AckJob{lease}) == Settlement::settled);
}
