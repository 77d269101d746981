// The keys in Ruby Routemaster's format, byte for byte, scene by scene. Keys that Ruby Routemaster
// does not read begin with `routemaster:`.

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "redis_scene.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

/// The message of all events here, byte for byte as observed from Ruby Routemaster.
constexpr std::string_view message =
    R"(\x92\xa1e\x85\xa1t\xcf\x00\x00\x01\xa1\xfb\x9e\xd8;\xa1o\xa4cats\xa1y\xa6create)"
    R"(\xa1u\xbahttps://example.com/cats/1\xa1d\xc0)";

/// The text without its leading line break, with the message inserted.
std::string expected(std::string_view text) {
    std::string all{text.substr(1)};
    constexpr std::string_view placeholder = "MESSAGE";
    for (auto at = all.find(placeholder); at != std::string::npos; at = all.find(placeholder)) {
        all.replace(at, placeholder.size(), message);
    }
    return all;
}

}  // namespace

TEST_CASE("redis: after a publication, the Redis keys are as Ruby Routemaster's") {
    RedisScene s;
    s.subscribe();
    s.publish();
    CHECK(s.keys() == expected(R"(
batches:BATCHBATCHBATCHBAAAA
    billing
    1795222853691
    0
    MESSAGE
batches:current:billing
    BATCHBATCHBATCHBAAAA
batches:gauges:batch
    billing = 1
batches:gauges:event
    billing = 1
batches:index
    BATCHBATCHBATCHBAAAA@1795222853691
counters
    \x92\xacevents.added\x91\x92\xa5queue\xa7billing = 1
    \x92\xacevents.bytes\x92\x92\xa9publisher\xa3pub\x92\xa5topic\xa4cats = 63
    \x92\xb0events.published\x92\x92\xa9publisher\xa3pub\x92\xa5topic\xa4cats = 1
jobs:index:main
    \x92\xa5batch\x91\xb4BATCHBATCHBATCHBAAAA
jobs:scheduled:main
    \x92\xa5batch\x91\xb4BATCHBATCHBATCHBAAAA@1795222854191
routemaster:claims
    pub--secret = 1
routemaster:group:billing
    BATCHBATCHBATCHBAAAA
subscriber:billing
    callback = https://billing.example/events
    max_events = 2
    timeout = 500
    uuid = demo
subscribers
    billing
subscribers:cats
    billing
topic:cats
    counter = 1
    publisher = pub--secret
topics
    cats
topics:billing
    cats
)"));
}

TEST_CASE("redis: after a batch became full, the Redis keys are as Ruby Routemaster's") {
    RedisScene s;
    s.subscribe();
    s.publish();
    s.publish();
    CHECK(s.keys() == expected(R"(
batches:BATCHBATCHBATCHBAAAA
    billing
    1795222853691
    0
    MESSAGE
    MESSAGE
batches:gauges:batch
    billing = 1
batches:gauges:event
    billing = 2
batches:index
    BATCHBATCHBATCHBAAAA@1795222853691
counters
    \x92\xacevents.added\x91\x92\xa5queue\xa7billing = 2
    \x92\xacevents.bytes\x92\x92\xa9publisher\xa3pub\x92\xa5topic\xa4cats = 126
    \x92\xb0events.published\x92\x92\xa9publisher\xa3pub\x92\xa5topic\xa4cats = 2
jobs:index:main
    \x92\xa5batch\x91\xb4BATCHBATCHBATCHBAAAA
jobs:instant:main
    \x92\xa5batch\x91\xb4BATCHBATCHBATCHBAAAA
routemaster:claims
    pub--secret = 1
routemaster:group:billing
    BATCHBATCHBATCHBAAAA
subscriber:billing
    callback = https://billing.example/events
    max_events = 2
    timeout = 500
    uuid = demo
subscribers
    billing
subscribers:cats
    billing
topic:cats
    counter = 2
    publisher = pub--secret
topics
    cats
topics:billing
    cats
)"));
}

TEST_CASE("redis: during a delivery, the Redis keys are as Ruby Routemaster's") {
    RedisScene s;
    s.subscribe();
    s.publish();
    s.now += Duration{500};
    s.begin(s.acquire());
    CHECK(s.keys() == expected(R"(
batches:BATCHBATCHBATCHBAAAA
    billing
    1795222853691
    1
    MESSAGE
batches:gauges:batch
    billing = 1
batches:gauges:event
    billing = 1
batches:index
    BATCHBATCHBATCHBAAAA@1795222853691
counters
    \x92\xacevents.added\x91\x92\xa5queue\xa7billing = 1
    \x92\xacevents.bytes\x92\x92\xa9publisher\xa3pub\x92\xa5topic\xa4cats = 63
    \x92\xb0events.published\x92\x92\xa9publisher\xa3pub\x92\xa5topic\xa4cats = 1
jobs:index:main
    \x92\xa5batch\x91\xb4BATCHBATCHBATCHBAAAA
jobs:pending:index:main
    WORKERWORKERWORKER00
jobs:pending:main:WORKERWORKERWORKER00
    \x92\xa5batch\x91\xb4BATCHBATCHBATCHBAAAA
routemaster:claims
    pub--secret = 1
routemaster:fence
    1
routemaster:group:billing
    BATCHBATCHBATCHBAAAA
routemaster:leases:WORKERWORKERWORKER00
    1 = main\x00\x92\xa5batch\x91\xb4BATCHBATCHBATCHBAAAA
    newest = 1
routemaster:queues
    main
routemaster:waiting:main
    9007199254740991
subscriber:billing
    callback = https://billing.example/events
    last_attempted_at = 1795222854191
    max_events = 2
    timeout = 500
    uuid = demo
subscribers
    billing
subscribers:cats
    billing
topic:cats
    counter = 1
    publisher = pub--secret
topics
    cats
topics:billing
    cats
workers
    WORKERWORKERWORKER00 = 1795222854191
)"));
}

TEST_CASE("redis: after a failed delivery, the Redis keys are as Ruby Routemaster's") {
    RedisScene s;
    s.subscribe();
    s.publish();
    s.now += Duration{500};
    const auto lease = s.acquire();
    s.begin(lease);
    s.settle(lease, false);
    CHECK(s.keys() == expected(R"(
batches:BATCHBATCHBATCHBAAAA
    billing
    1795222853691
    1
    MESSAGE
batches:gauges:batch
    billing = 1
batches:gauges:event
    billing = 1
batches:index
    BATCHBATCHBATCHBAAAA@1795222853691
counters
    \x92\xacevents.added\x91\x92\xa5queue\xa7billing = 1
    \x92\xacevents.bytes\x92\x92\xa9publisher\xa3pub\x92\xa5topic\xa4cats = 63
    \x92\xaddelivery.time\x92\x92\xa5queue\xa7billing\x92\xa6status\xa7failure = 0
    \x92\xaedelivery.time2\x92\x92\xa5queue\xa7billing\x92\xa6status\xa7failure = 0
    \x92\xafdelivery.events\x92\x92\xa5queue\xa7billing\x92\xa6status\xa7failure = 1
    \x92\xb0delivery.batches\x92\x92\xa5queue\xa7billing\x92\xa6status\xa7failure = 1
    \x92\xb0events.published\x92\x92\xa9publisher\xa3pub\x92\xa5topic\xa4cats = 1
    \x92\xb5latency.batches.count\x91\x92\xa5queue\xa7billing = 1
    \x92\xbdlatency.batches.first_attempt\x91\x92\xa5queue\xa7billing = 500
jobs:index:main
    \x92\xa5batch\x91\xb4BATCHBATCHBATCHBAAAA
jobs:pending:index:main
    WORKERWORKERWORKER00
jobs:scheduled:main
    \x92\xa5batch\x91\xb4BATCHBATCHBATCHBAAAA@1795222854291
routemaster:batch_error:BATCHBATCHBATCHBAAAA
    status 503
routemaster:claims
    pub--secret = 1
routemaster:fence
    1
routemaster:group:billing
    BATCHBATCHBATCHBAAAA
routemaster:leases:WORKERWORKERWORKER00
    newest = 1
routemaster:queues
    main
subscriber:billing
    callback = https://billing.example/events
    health_points = 98
    last_attempted_at = 1795222854191
    max_events = 2
    timeout = 500
    uuid = demo
subscribers
    billing
subscribers:cats
    billing
topic:cats
    counter = 1
    publisher = pub--secret
topics
    cats
topics:billing
    cats
workers
    WORKERWORKERWORKER00 = 1795222854191
)"));
}

TEST_CASE("redis: after a successful delivery, the Redis keys are as Ruby Routemaster's") {
    RedisScene s;
    s.subscribe();
    s.publish();
    s.now += Duration{500};
    const auto lease = s.acquire();
    s.begin(lease);
    s.settle(lease);
    CHECK(s.keys() == expected(R"(
batches:gauges:batch
    billing = 0
batches:gauges:event
    billing = 0
counters
    \x92\xacevents.added\x91\x92\xa5queue\xa7billing = 1
    \x92\xacevents.bytes\x92\x92\xa9publisher\xa3pub\x92\xa5topic\xa4cats = 63
    \x92\xaddelivery.time\x92\x92\xa5queue\xa7billing\x92\xa6status\xa7success = 0
    \x92\xaedelivery.time2\x92\x92\xa5queue\xa7billing\x92\xa6status\xa7success = 0
    \x92\xaeevents.removed\x91\x92\xa5queue\xa7billing = 1
    \x92\xafdelivery.events\x92\x92\xa5queue\xa7billing\x92\xa6status\xa7success = 1
    \x92\xb0delivery.batches\x92\x92\xa5queue\xa7billing\x92\xa6status\xa7success = 1
    \x92\xb0events.published\x92\x92\xa9publisher\xa3pub\x92\xa5topic\xa4cats = 1
    \x92\xb5latency.batches.count\x91\x92\xa5queue\xa7billing = 1
    \x92\xbclatency.batches.last_attempt\x91\x92\xa5queue\xa7billing = 500
    \x92\xbdlatency.batches.first_attempt\x91\x92\xa5queue\xa7billing = 500
jobs:pending:index:main
    WORKERWORKERWORKER00
routemaster:claims
    pub--secret = 1
routemaster:fence
    1
routemaster:leases:WORKERWORKERWORKER00
    newest = 1
routemaster:queues
    main
routemaster:waiting:main
    9007199254740991
subscriber:billing
    callback = https://billing.example/events
    health_points = 100
    last_attempted_at = 1795222854191
    max_events = 2
    timeout = 500
    uuid = demo
subscribers
    billing
subscribers:cats
    billing
topic:cats
    counter = 1
    publisher = pub--secret
topics
    cats
topics:billing
    cats
workers
    WORKERWORKERWORKER00 = 1795222854191
)"));
}

TEST_CASE("redis: tokens, and jobs in every state, have the Redis keys of Ruby Routemaster") {
    RedisScene s;
    s.perform(PutToken{"pub--secret", "pub"});
    s.perform(PushJob{"aux", encode_job({"monitor"}), s.now});
    s.perform(PushJob{"aux", encode_job({"autodrop"}), s.now + Duration{10'000}});
    s.perform(PushJob{"aux", encode_job({"scrub_queues"}), s.now});
    s.perform(AcquireJobs{.queue = "aux", .worker = s.worker});
    CHECK(s.keys() == expected(R"(
api_tokens:by_token
    pub--secret = pub
jobs:index:aux
    \x92\xa7monitor\x90
    \x92\xa8autodrop\x90
    \x92\xacscrub_queues\x90
jobs:instant:aux
    \x92\xacscrub_queues\x90
jobs:pending:aux:WORKERWORKERWORKER00
    \x92\xa7monitor\x90
jobs:pending:index:aux
    WORKERWORKERWORKER00
jobs:scheduled:aux
    \x92\xa8autodrop\x90@1795222863691
routemaster:fence
    1
routemaster:leases:WORKERWORKERWORKER00
    1 = aux\x00\x92\xa7monitor\x90
    newest = 1
routemaster:queues
    aux
workers
    WORKERWORKERWORKER00 = 1795222853691
)"));
}

TEST_CASE(
    "redis: a DEAD batch is stored in routemaster's own keys, and not in Ruby Routemaster's") {
    RedisScene s;
    s.perform(Subscribe{.token = "billing",
                        .topics = {"cats"},
                        .options = {.callback = "https://billing.example/events",
                                    .uuid = "demo",
                                    .timeout = Duration{0},
                                    .attempts_max = 1,
                                    .age_max = Duration{60'000},
                                    .dead_max = 9}});
    s.publish();
    const auto lease = s.acquire();
    s.begin(lease);
    s.now += Duration{7};
    CHECK(s.perform(SettleDelivery{.lease = lease, .begun_at = s.now, .error = "HTTP 500"}) ==
          Settlement::dead);
    s.perform(RetireWorker{s.worker});
    for (const char* key : {"counters", "topics", "topic:cats", "topics:billing", "subscribers",
                            "subscribers:cats", "routemaster:claims", "routemaster:fence",
                            "routemaster:queues", "routemaster:waiting:main"}) {
        s.other({"DEL", key});
    }
    CHECK(s.keys() == expected(R"(
batches:gauges:batch
    billing = 0
batches:gauges:event
    billing = 0
routemaster:dead
    BATCHBATCHBATCHBAAAA@1795222853698
routemaster:dead:billing
    BATCHBATCHBATCHBAAAA@1795222853698
routemaster:dead_batch:BATCHBATCHBATCHBAAAA
    HTTP 500
    billing
    1795222853691
    1
    MESSAGE
subscriber:billing
    age_max = 60000
    attempts_max = 1
    callback = https://billing.example/events
    dead_max = 9
    health_points = 100
    last_attempted_at = 1795222853691
    timeout = 0
    uuid = demo
)"));
    s.perform(DropDeadBatches{"billing"});
    for (const char* key : {"routemaster:dead", "routemaster:dead:billing",
                            "routemaster:dead_batch:BATCHBATCHBATCHBAAAA"}) {
        CHECK(s.other({"EXISTS", key}).number == 0);
    }
}
