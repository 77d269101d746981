// Ruby processes on the same server: routemaster delivers their batches and notices removed
// batches, and routemaster's keys do not disturb the Ruby processes.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "redis_scene.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

const std::string batch_a = "BATCHBATCHBATCH1AAAA";
const std::string batch_b = "BATCHBATCHBATCH2AAAA";

/// Publishes one event for `billing` as Ruby's web process does, with its scripts batch_ingest and
/// queue_push_scheduled.
void web_publishes(RedisScene& s, const std::string& uid, TimePoint created_at) {
    const auto created = std::to_string(to_milliseconds(created_at));
    s.other({"SADD", "batches:current:billing", uid});
    s.other({"ZADD", "batches:index", created, uid});
    s.other({"RPUSH", "batches:" + uid, "billing", created, "0", s.message()});
    s.other({"HINCRBY", "batches:gauges:batch", "billing", "1"});
    s.other({"HINCRBY", "batches:gauges:event", "billing", "1"});
    s.other({"SADD", "jobs:index:main", RedisScene::job(uid)});
    s.other({"ZADD", "jobs:scheduled:main",
             std::to_string(to_milliseconds(created_at + Duration{500})), RedisScene::job(uid)});
}

/// Ends a delivery as a Ruby worker does, with batch_delete and queue_ack. Omits the worker's own
/// pending list.
void worker_delivers(RedisScene& s, const std::string& uid) {
    s.other({"DEL", "batches:" + uid});
    s.other({"ZREM", "batches:index", uid});
    s.other({"SREM", "batches:current:billing", uid});
    s.other({"HINCRBY", "batches:gauges:batch", "billing", "-1"});
    s.other({"HINCRBY", "batches:gauges:event", "billing", "-1"});
    s.other({"ZREM", "jobs:scheduled:main", RedisScene::job(uid)});
    s.other({"LREM", "jobs:instant:main", "0", RedisScene::job(uid)});
    s.other({"SREM", "jobs:index:main", RedisScene::job(uid)});
}

/// Ruby Routemaster's queue_scrub.
void worker_scrubs(RedisScene& s, const Uid& worker) {
    const auto pending = "jobs:pending:main:" + std::string{worker.text()};
    while (s.other({"RPOPLPUSH", pending, "jobs:instant:main"}).kind !=
           test::RedisReply::Kind::nothing) {
    }
    s.other({"SREM", "jobs:pending:index:main", std::string{worker.text()}});
}

}  // namespace

TEST_CASE("ruby: a batch begun by a Ruby web process is delivered") {
    RedisScene s;
    s.subscribe();
    web_publishes(s, batch_a, s.now);
    s.now += Duration{500};
    const auto lease = s.acquire();
    const auto start = s.begin(lease);
    CHECK(start.verdict == Verdict::deliver);
    CHECK(start.batch.text() == batch_a);
    CHECK(start.messages.size() == 1);
    CHECK(s.settle(lease) == Settlement::settled);
    CHECK(s.perform(FindSubscriber{"billing"})->events_queued == 0);
    CHECK(s.perform(CountJobs{"main"}) == QueueStatus{});
}

TEST_CASE("ruby: events of routemaster are appended to a batch begun by a Ruby web process") {
    RedisScene s;
    s.subscribe();
    web_publishes(s, batch_a, s.now);
    s.publish(batch_b);
    s.now += Duration{500};
    const auto start = s.begin(s.acquire());
    CHECK(start.batch.text() == batch_a);
    CHECK(start.messages.size() == 2);
}

TEST_CASE("ruby: a Ruby web process publishes into a batch of routemaster") {
    RedisScene s;
    s.subscribe();
    s.publish(batch_a);
    CHECK(s.other({"SRANDMEMBER", "batches:current:billing"}).text == batch_a);
    CHECK(s.other({"RPUSH", "batches:" + batch_a, s.message()}).number == 5);
    s.other({"HINCRBY", "batches:gauges:event", "billing", "1"});
    s.now += Duration{500};
    const auto lease = s.acquire();
    CHECK(s.begin(lease).messages.size() == 2);
    s.settle(lease);
    CHECK(s.perform(FindSubscriber{"billing"})->events_queued == 0);
}

TEST_CASE("ruby: batches of Ruby and of routemaster are delivered one after the other") {
    RedisScene s;
    s.subscribe();
    web_publishes(s, batch_a, s.now);
    web_publishes(s, batch_b, s.now + Duration{1});
    s.now += Duration{1'000};
    const auto leases = s.acquire_all();
    REQUIRE(leases.size() == 1);
    CHECK(s.begin(leases[0]).batch.text() == batch_a);
    CHECK(s.acquire_all().empty());
    s.settle(leases[0]);
    CHECK(s.begin(s.acquire()).batch.text() == batch_b);
}

TEST_CASE("ruby: a batch delivered by a Ruby worker blocks no batch") {
    RedisScene s;
    s.subscribe();
    s.publish(batch_a);
    s.publish(batch_a);
    s.publish(batch_b);
    s.publish(batch_b);
    // The first batch blocks the second. Then a Ruby worker delivers the first batch.
    CHECK(s.other({"SCARD", "routemaster:blocked:main"}).number == 1);
    worker_delivers(s, batch_a);
    CHECK(s.acquire_all().empty());
    s.perform(ScrubWorkers{Duration{30'000}});
    const auto leases = s.acquire_all();
    REQUIRE(leases.size() == 1);
    CHECK(s.begin(leases[0]).verdict == Verdict::deliver);
}

TEST_CASE("ruby: a batch whose delivery job was lost gets a new job with the next event") {
    RedisScene s;
    s.subscribe();
    web_publishes(s, batch_a, s.now);
    s.other({"ZREM", "jobs:scheduled:main", RedisScene::job(batch_a)});
    s.other({"SREM", "jobs:index:main", RedisScene::job(batch_a)});
    s.publish(batch_b);
    s.now += Duration{500};
    CHECK(s.begin(s.acquire()).messages.size() == 2);
}

TEST_CASE("ruby: no event is appended to a CURRENT batch that no longer exists") {
    RedisScene s;
    s.subscribe();
    s.other({"SADD", "batches:current:billing", batch_a});
    s.publish(batch_b);
    CHECK(s.other({"EXISTS", "batches:" + batch_a}).number == 0);
    CHECK(s.other({"SMEMBERS", "batches:current:billing"}).list.size() == 1);
    s.now += Duration{500};
    CHECK(s.begin(s.acquire()).batch.text().substr(0, 17) == batch_b.substr(0, 17));
}

TEST_CASE("ruby: routemaster's worker does not settle a job taken back by Ruby's scrub") {
    RedisScene s;
    s.subscribe();
    s.publish(batch_a);
    s.now += Duration{500};
    const auto lease = s.acquire();
    s.begin(lease);
    worker_scrubs(s, s.worker);
    CHECK(s.settle(lease) == Settlement::lease_lost);
    s.worker = *Uid::parse("WORKERWORKERWORKER99");
    const auto heir = s.acquire();
    CHECK(s.begin(heir).attempt == 2);
    CHECK(s.settle(lease) == Settlement::lease_lost);
    CHECK(s.settle(heir) == Settlement::settled);
}

TEST_CASE("ruby: in a mixed deployment, no delivery job is hidden from Ruby workers") {
    RedisScene s{true};
    s.subscribe();
    for (const auto& uid : {batch_a, batch_a, batch_b, batch_b}) s.publish(uid);
    CHECK(s.other({"EXISTS", "routemaster:blocked:main"}).number == 0);
    CHECK(s.other({"LLEN", "jobs:instant:main"}).number == 2);
    CHECK(s.acquire_all().size() == 1);
    CHECK(s.other({"LLEN", "jobs:instant:main"}).number == 1);
}

TEST_CASE("ruby: blocked jobs become READY again when Ruby workers join") {
    RedisScene s;
    s.subscribe();
    for (const auto& uid : {batch_a, batch_a, batch_b, batch_b}) s.publish(uid);
    CHECK(s.other({"LLEN", "jobs:instant:main"}).number == 1);
    RedisStore mixed{{.addresses = {s.server.address()}, .mixed_fleet = true}};
    CHECK(perform(mixed, ScrubWorkers{Duration{30'000}}, s.now).has_value());
    CHECK(s.other({"LLEN", "jobs:instant:main"}).number == 1);
    CHECK(s.other({"ZCARD", "jobs:scheduled:main"}).number == 1);
}

TEST_CASE("ruby: in a mixed deployment, Ruby's queues accept only jobs known to Ruby workers") {
    RedisScene s{true};
    for (const auto* queue : {"main", "aux"}) {
        const auto refused = s.try_to(PushJob{queue, encode_job({"resize"}), s.now});
        REQUIRE(!refused);
        CHECK(refused.error().code() == Errc::invalid);
    }
    CHECK_FALSE(s.try_to(PushJob{"aux", encode_job({"monitor", {1}}), s.now}));
    CHECK_FALSE(s.try_to(PushJob{"main", encode_job({"monitor"}), s.now}));
    CHECK(s.perform(PushJob{"images", encode_job({"resize"}), s.now}) == PushOutcome::pushed);
    CHECK(s.perform(PushJob{"main", RedisScene::job(batch_a), s.now}) == PushOutcome::pushed);
    for (const char* name : {"autodrop", "monitor", "scrub_queues", "scrub_workers"}) {
        CHECK(s.perform(PushJob{"aux", encode_job({name}), s.now}) == PushOutcome::pushed);
    }
    CHECK(s.other({"LLEN", "jobs:instant:aux"}).number == 4);
}

TEST_CASE("ruby: in a mixed deployment, jobs of queue aux unknown to Ruby workers are set aside") {
    RedisScene s;
    RedisStore mixed{{.addresses = {s.server.address()}, .mixed_fleet = true}};
    const auto resize = encode_job({"resize"});
    const auto later = encode_job({"report"});
    s.perform(PushJob{"aux", resize, s.now});
    s.perform(PushJob{"aux", encode_job({"monitor"}), s.now});
    s.perform(PushJob{"aux", later, s.now + Duration{60'000}});
    const QueueStatus all{.scheduled = 1, .ready = 2};
    CHECK(s.perform(CountJobs{"aux"}) == all);
    SUBCASE("the job is leased when its worker ends") {
        const auto lease =
            s.perform(AcquireJobs{.queue = "aux", .worker = s.worker, .limit = 1}).leases.at(0);
        CHECK(lease.job == resize);
        SUBCASE("the worker is stopped") { CHECK(perform(mixed, RetireWorker{s.worker}, s.now)); }
        SUBCASE("the worker dies") {
            s.now += Duration{59'999};
            CHECK(perform(mixed, ScrubWorkers{Duration{30'000}}, s.now));
        }
        SUBCASE("the job has failed once") { CHECK(perform(mixed, NackJob{lease, s.now}, s.now)); }
        CHECK(s.other({"LLEN", "jobs:instant:aux"}).number == 1);
    }
    SUBCASE("the job is READY") {}
    CHECK(perform(mixed, ScrubWorkers{Duration{3'600'000}}, s.now));
    CHECK(s.other({"LRANGE", "jobs:instant:aux", "0", "-1"}).list.size() == 1);
    CHECK(s.other({"LINDEX", "jobs:instant:aux", "0"}).text == encode_job({"monitor"}));
    CHECK(s.other({"EXISTS", "jobs:scheduled:aux"}).number == 0);
    CHECK(perform(mixed, CountJobs{"aux"}, s.now).value() == all);
    CHECK(perform(mixed, PushJob{"aux", encode_job({"monitor"}), s.now}, s.now).value() ==
          PushOutcome::duplicate);
    // With only routemaster's processes, the jobs are there again.
    s.perform(ScrubWorkers{Duration{3'600'000}});
    CHECK(s.other({"EXISTS", "routemaster:aux"}).number == 0);
    CHECK(s.perform(CountJobs{"aux"}) == all);
    CHECK(s.perform(AcquireJobs{.queue = "aux", .worker = s.worker, .limit = 9}).leases.size() ==
          2);
    s.now += Duration{60'000};
    const auto due = s.perform(AcquireJobs{.queue = "aux", .worker = s.worker, .limit = 9}).leases;
    REQUIRE(due.size() == 1);
    CHECK(due[0].job == later);
}

TEST_CASE("ruby: in a mixed deployment, existing ordering groups are removed") {
    RedisScene s;
    s.subscribe();
    for (int i = 0; i < 1'200; ++i) {
        const auto token = "s" + std::to_string(i);
        s.perform(Subscribe{
            .token = token, .topics = {"dogs"}, .options = {.callback = "https://example.com/"}});
        s.other({"ZADD", "routemaster:group:" + token, "1", batch_a});
    }
    s.publish(batch_a);
    const auto groups = [&] {
        return s.other({"EVAL", "return #redis.call('KEYS', 'routemaster:group:*')", "0"}).number;
    };
    REQUIRE(groups() == 1'201);
    RedisStore mixed{{.addresses = {s.server.address()}, .mixed_fleet = true}};
    for (int second = 0; second < 20 && groups() > 0; ++second) {
        const auto before = groups();
        CHECK(perform(mixed, ScrubWorkers{Duration{30'000}}, s.now));
        CHECK_MESSAGE(before - groups() <= 700, "some of them at once");
    }
    CHECK(groups() == 0);
    CHECK(s.other({"EXISTS", "routemaster:ungrouped"}).number == 0);
    SUBCASE("the group belongs to a removed subscriber") {
        s.other({"ZADD", "routemaster:group:billing", "1", batch_b});
        CHECK(perform(mixed, RemoveSubscriber{"billing"}, s.now));
        CHECK(groups() == 0);
    }
}

TEST_CASE("ruby: in a mixed deployment, steps that would crash Ruby workers are refused") {
    RedisScene s{true};
    const auto refusal = [&](auto step) {
        const auto keys = s.keys();
        const auto refused = s.try_to(std::move(step));
        REQUIRE(!refused);
        CHECK(refused.error().code() == Errc::invalid);
        CHECK(s.keys() == keys);
        return refused.error().context();
    };
    const auto publication = [&](const std::string& topic, const std::string& url) {
        Event event{.topic = topic, .type = EventType::create, .url = url};
        event.data = Value{Value::Map{}};
        return PublishEvent{.topic = topic,
                            .publisher = "pub--secret",
                            .message = encode_message(event, s.now),
                            .timestamp = s.now,
                            .uid = *Uid::parse(batch_a)};
    };
    s.subscribe();
    for (const char* topic : {"cats2", "my-cats", "cats.eu"}) {
        CHECK(
            refusal(publication(topic, "https://example.com/")).starts_with("topic: must be 1 to"));
        CHECK(refusal(Subscribe{"audit", {topic}, {.callback = "https://a.example/"}})
                  .starts_with("topics: each must be 1 to"));
    }
    const std::string far = "https://example.com/" + std::string(300, 'a');
    for (const std::string& url :
         {std::string{"http://example.com/"}, std::string{"https://example.com/?a"},
          std::string{"urn:cat"}, std::string{"https://h:1:2/"}, std::string{"https://h/%"},
          std::string{}, far + "%", far + "?a"}) {
        CAPTURE(url);
        CHECK(refusal(publication("cats", url)).starts_with("url: URL "));
    }
    const auto with_data = [&](std::size_t size) {
        Event event{.topic = "cats", .type = EventType::create, .url = "https://example.com/"};
        // Besides the text, MessagePack takes a byte for the map, 2 for the key and 2 for the size
        // of the text.
        event.data = Value{Value::Map{{"a", Value{std::string(size - 5, 'x')}}}};
        auto step = publication("cats", event.url);
        step.message = encode_message(event, s.now);
        return step;
    };
    CHECK(refusal(with_data(65)).starts_with("data: takes 65 bytes of MessagePack"));
    CHECK(s.try_to(with_data(64)));
    RedisStore generous{
        {.addresses = {s.server.address()}, .mixed_fleet = true, .event_data_max = 100}};
    CHECK(perform(generous, with_data(100), s.now));
    CHECK_FALSE(perform(generous, with_data(101), s.now));
    CHECK(refusal(Subscribe{"audit", {"cats"}, {.callback = "local:%"}})
              .starts_with("callback: URL is malformed"));
    CHECK(s.try_to(publication("cats", far)));
    CHECK(s.try_to(Subscribe{"audit", {"cats"}, {.callback = "local:audit"}}));
    // With only routemaster's processes, these events are accepted.
    RedisStore ours{{.addresses = {s.server.address()}}};
    CHECK(perform(ours, publication("cats.eu", "urn:cat"), s.now));
    CHECK(perform(ours, with_data(200), s.now));
}

TEST_CASE("ruby: a batch that routemaster's worker made DEAD is in no key of Ruby Routemaster") {
    RedisScene s{true};
    s.perform(Subscribe{.token = "billing",
                        .topics = {"cats"},
                        .options = {.callback = "https://billing.example/events",
                                    .timeout = Duration{0},
                                    .attempts_max = 1}});
    s.publish(batch_a);
    const auto lease = s.acquire();
    s.begin(lease);
    CHECK(s.settle(lease, false) == Settlement::dead);
    for (const char* key : {"batches:index", "jobs:index:main", "jobs:scheduled:main",
                            "jobs:instant:main", "batches:current:billing"}) {
        CAPTURE(key);
        CHECK(s.other({"EXISTS", key}).number == 0);
    }
    CHECK(s.other({"EXISTS", "batches:" + batch_a}).number == 0);
    CHECK(s.other({"HGET", "batches:gauges:batch", "billing"}).text == "0");
    CHECK(s.other({"HGET", "batches:gauges:event", "billing"}).text == "0");

    // After a redelivery it is an ordinary batch, which a Ruby worker may deliver.
    CHECK(s.perform(RedeliverDeadBatches{"billing"}) == Count{1});
    CHECK(s.other({"RPOP", "jobs:instant:main"}).text == RedisScene::job(batch_a));
    const auto list = s.other({"LRANGE", "batches:" + batch_a, "0", "-1"}).list;
    REQUIRE(list.size() == 4);
    CHECK(list[0].text == "billing");
    CHECK(list[2].text == "0");
    CHECK(list[3].text == s.message());
    worker_delivers(s, batch_a);
    CHECK(s.perform(FindSubscriber{"billing"})->batches_queued == 0);
}

TEST_CASE("ruby: routemaster and Ruby workers share the health and the settings of a subscriber") {
    RedisScene s;
    s.subscribe();
    s.other({"HSET", "subscriber:billing", "health_points", "42", "last_attempted_at", "17"});
    s.other({"HDEL", "subscriber:billing", "timeout", "max_events"});
    const auto status = s.perform(FindSubscriber{"billing"});
    REQUIRE(status);
    CHECK(status->health_points == 42);
    CHECK(status->last_attempted_at == from_milliseconds(17));
    CHECK(status->subscription.timeout == Duration{500});
    CHECK(status->subscription.max_events == 100);
}

TEST_CASE("ruby: keys left by a late write of a removed subscriber are not a subscriber") {
    RedisScene s;
    s.other({"HSET", "subscriber:billing", "health_points", "100"});
    s.other({"SADD", "subscribers:cats", "billing"});
    s.publish(batch_a);
    CHECK(s.other({"EXISTS", "batches:" + batch_a}).number == 0);
    CHECK(!s.perform(FindSubscriber{"billing"}));
}

TEST_CASE("ruby: a key of the wrong type is reported, and the step changes nothing") {
    RedisScene s;
    s.subscribe();
    s.other({"SET", "jobs:index:main", "nonsense"});
    const auto reply = s.try_to(PushJob{"main", RedisScene::job(batch_a), s.now});
    REQUIRE(!reply);
    CHECK(reply.error().code() == Errc::corrupted);
    CHECK(s.other({"GET", "jobs:index:main"}).text == "nonsense");
}
