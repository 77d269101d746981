// Events that routemaster accepted, but Ruby workers cannot read: a Ruby worker that takes such an
// event ends. Only routemaster's workers may deliver batches with such events, in all states.

#include <doctest/doctest.h>

#include <cstddef>
#include <future>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redis_scene.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

const std::string batch_x = "BATCHBATCHBATCHBAAAA";
const std::string batch_y = "BATCHBATCHBATCHCAAAA";

std::string message_of_size(const RedisScene& s, std::size_t size) {
    Event event{.topic = "cats", .type = EventType::create, .url = "https://example.com/cats/1"};
    // Besides the text, MessagePack takes a byte for the map, 2 for the key and 2 for the size of
    // the text.
    event.data = Value{Value::Map{{"a", Value{std::string(size - 5, 'x')}}}};
    return encode_message(event, s.now);
}

PublishEvent publication_of_size(const RedisScene& s, std::size_t data_size,
                                 const std::string& uid) {
    return {.topic = "cats",
            .publisher = "pub--secret",
            .message = message_of_size(s, data_size),
            .timestamp = s.now,
            .uid = *Uid::parse(uid)};
}

/// Publishes an event with 65 bytes of data, one more than Ruby workers accept.
void publish_unreadable(RedisScene& s, const std::string& uid = batch_x) {
    s.perform(publication_of_size(s, 65, uid));
}

/// Subscribes to `cats` with a URL. One event fills a batch.
void subscribe_lone(RedisScene& s, const std::string& callback = "https://billing.example/events") {
    s.perform(Subscribe{.token = "billing",
                        .topics = {"cats"},
                        .options = {.callback = callback, .max_events = 1}});
}

/// Whether any key marks a batch as unreadable for Ruby workers.
bool is_marked(RedisScene& s) { return s.keys().find("routemaster:unreadable") != s.keys().npos; }

}  // namespace

TEST_CASE("redis: a batch that Ruby workers cannot read is never visible to Ruby workers") {
    bool mixed = false;
    SUBCASE("there are no Ruby workers") {}
    SUBCASE("the deployment becomes mixed after the event was accepted") { mixed = true; }
    CAPTURE(mixed);
    RedisScene s;
    s.subscribe();
    publish_unreadable(s);
    CHECK_FALSE(s.ruby_sees_jobs());  // SCHEDULED
    RedisStore later{{.addresses = {s.server.address()}, .mixed_fleet = mixed}};
    const auto perform = [&](auto step) {
        return routemaster::perform(later, std::move(step), s.now).value();
    };
    const auto acquire_now = [&] {
        return perform(AcquireJobs{.queue = "main", .worker = s.worker, .limit = 10}).leases;
    };
    perform(publication_of_size(s, 64, batch_x));
    CHECK_FALSE(s.ruby_sees_jobs());  // READY
    CHECK(perform(CountJobs{"main"}) == QueueStatus{.ready = 1});
    auto leases = acquire_now();
    REQUIRE(leases.size() == 1);
    CHECK_FALSE(s.ruby_sees_jobs());  // PENDING
    const auto start = perform(BeginDelivery{leases[0], Duration{60'000}, 0});
    CHECK(start.verdict == Verdict::deliver);
    CHECK(start.messages.size() == 2);
    perform(SettleDelivery{.lease = leases[0],
                           .delivered = false,
                           .health_change = 0,
                           .begun_at = s.now,
                           .retry_at = s.now + Duration{100},
                           .error = "status 503"});
    CHECK_FALSE(s.ruby_sees_jobs());  // SCHEDULED again
    s.now += Duration{100};
    leases = acquire_now();
    REQUIRE(leases.size() == 1);
    CHECK(perform(RetireWorker{s.worker}) == ReleasedJobs{1});
    CHECK_FALSE(s.ruby_sees_jobs());
    leases = acquire_now();
    REQUIRE(leases.size() == 1);
    CHECK(perform(BeginDelivery{leases[0], Duration{0}, 0}).verdict == Verdict::deliver);
    perform(SettleDelivery{.lease = leases[0],
                           .delivered = true,
                           .health_change = 1,
                           .begun_at = s.now,
                           .retry_at = s.now});
    CHECK_FALSE(s.ruby_sees_jobs());
    CHECK_FALSE(is_marked(s));
    CHECK(perform(CountJobs{"main"}) == QueueStatus{});
}

TEST_CASE("redis: an event that Ruby workers cannot read hides its batch from Ruby workers") {
    RedisScene s;
    SUBCASE("the batch is SCHEDULED") { s.subscribe(); }
    SUBCASE("the batch is READY") {
        s.subscribe();
        s.publish();
        s.now += Duration{500};
        // The acquisition promotes the batch, but returns no lease.
        s.perform(AcquireJobs{.queue = "main",
                              .worker = s.worker,
                              .limit = 10,
                              .destinations = std::vector<std::string>{"audit"}});
        CHECK(s.other({"LLEN", "jobs:instant:main"}).number == 1);
    }
    if (s.other({"EXISTS", "batches:" + batch_x}).number == 0) {
        s.publish();
        CHECK(s.other({"ZCARD", "jobs:scheduled:main"}).number == 1);
    }
    publish_unreadable(s);
    CHECK_FALSE(s.ruby_sees_jobs());
    s.now += Duration{500};
    CHECK(s.begin(s.acquire()).messages.size() == 2);
}

TEST_CASE("redis: unreadable events sent in one call are hidden from Ruby workers") {
    RedisScene s;
    s.perform(Subscribe{.token = "billing",
                        .topics = {"cats"},
                        .options = {.callback = "https://billing.example/", .max_events = 100}});
    s.publish(batch_x);
    std::vector<Step> steps;
    for (int i = 0; i < 40; ++i)
        steps.emplace_back(publication_of_size(s, i == 20 ? 65 : 64, batch_y));
    std::promise<std::size_t> done;
    s.store.submit(steps, s.now,
                   [&](std::span<Outcome> outcomes) { done.set_value(outcomes.size()); });
    CHECK(done.get_future().get() == 40);
    CHECK_FALSE(s.ruby_sees_jobs());
    CHECK(s.other({"LLEN", "batches:" + batch_x}).number == 44);
    s.now += Duration{500};
    CHECK(s.begin(s.acquire()).messages.size() == 41);
}

TEST_CASE("redis: an event without a URL for one subscriber is hidden from Ruby workers") {
    RedisScene s;
    s.subscribe();
    Event event{.topic = "timers", .type = EventType::noop};
    event.data = Value{Value::Map{{"a", 1}}};
    s.perform(PublishEvent{.topic = "timers",
                           .publisher = std::nullopt,
                           .message = encode_message(event, s.now),
                           .timestamp = s.now,
                           .uid = *Uid::parse(batch_x),
                           .subscriber = "billing"});
    CHECK_FALSE(s.ruby_sees_jobs());
    s.now += Duration{500};
    CHECK(s.acquire_all().size() == 1);
}

TEST_CASE("redis: a DEAD batch that Ruby workers cannot read stays hidden when redelivered") {
    RedisScene s;
    s.perform(Subscribe{
        .token = "billing",
        .topics = {"cats"},
        .options = {.callback = "https://billing.example/", .max_events = 1, .attempts_max = 1}});
    publish_unreadable(s);
    const auto lease = s.acquire();
    s.begin(lease);
    CHECK(s.settle(lease, false) == Settlement::dead);
    RedisStore mixed{{.addresses = {s.server.address()}, .mixed_fleet = true}};
    SUBCASE("the batch is redelivered") {
        CHECK(perform(mixed, RedeliverDeadBatches{"billing"}, s.now).value() == Count{1});
        CHECK_FALSE(s.ruby_sees_jobs());
        CHECK(s.acquire_all().size() == 1);
    }
    SUBCASE("the batch is dropped") {
        CHECK(perform(mixed, DropDeadBatches{"billing"}, s.now).has_value());
        CHECK_FALSE(is_marked(s));
    }
}

TEST_CASE(
    "redis: a blocked batch that Ruby workers cannot read returns to keys that they do not read") {
    RedisScene s;
    subscribe_lone(s);
    s.publish(batch_x);
    publish_unreadable(s, batch_y);
    CHECK(s.other({"SCARD", "routemaster:blocked:main"}).number == 1);
    RedisStore mixed{{.addresses = {s.server.address()}, .mixed_fleet = true}};
    CHECK(perform(mixed, ScrubWorkers{Duration{30'000}}, s.now).value().jobs == 1);
    CHECK(s.other({"SCARD", "routemaster:blocked:main"}).number == 0);
    CHECK(s.other({"ZCARD", "jobs:scheduled:main"}).number == 0);
    CHECK(s.other({"ZCARD", "jobs:scheduled:main:callbacks"}).number == 1);
}

TEST_CASE("redis: batches that Ruby workers cannot read go only to workers that deliver to URLs") {
    for (const bool mixed : {false, true}) {
        CAPTURE(mixed);
        RedisScene s;
        subscribe_lone(s);
        publish_unreadable(s);
        RedisStore later{{.addresses = {s.server.address()}, .mixed_fleet = mixed}};
        const auto acquire = [&](std::vector<std::string> destinations) {
            return perform(later,
                           AcquireJobs{.queue = "main",
                                       .worker = s.worker,
                                       .limit = 10,
                                       .destinations = std::move(destinations)},
                           s.now)
                .value()
                .leases.size();
        };
        CHECK(acquire({"audit"}) == 0);
        CHECK(acquire({"", "audit"}) == 1);
    }
}

TEST_CASE(
    "redis: a batch that Ruby workers cannot read follows its subscriber to a callback, and back") {
    for (const bool mixed : {false, true}) {
        CAPTURE(mixed);
        RedisScene s;
        subscribe_lone(s);
        publish_unreadable(s);
        RedisStore later{{.addresses = {s.server.address()}, .mixed_fleet = mixed}};
        const auto subscribe = [&](const std::string& callback) {
            CHECK(perform(later,
                          Subscribe{.token = "billing",
                                    .topics = {"cats"},
                                    .options = {.callback = callback, .max_events = 1}},
                          s.now));
        };
        const auto acquire = [&](const std::string& destination) {
            return perform(later,
                           AcquireJobs{.queue = "main",
                                       .worker = s.worker,
                                       .limit = 10,
                                       .destinations = std::vector{destination}},
                           s.now)
                .value()
                .leases.size();
        };
        subscribe("local:audit");
        CHECK(s.other({"LLEN", "routemaster:callback:audit"}).number == 1);
        CHECK(acquire("") == 0);
        subscribe("https://billing.example/");
        CHECK_FALSE(s.ruby_sees_jobs());
        CHECK(acquire("audit") == 0);
        CHECK(acquire("") == 1);
    }
}

TEST_CASE("redis: batches that Ruby workers cannot read wake workers that deliver to URLs") {
    RedisScene s;
    const auto is_asleep = [&] {
        return s.other({"EXISTS", "routemaster:waiting:main"}).number == 1;
    };
    SUBCASE("the batch is READY") {
        subscribe_lone(s);
        CHECK(s.acquire_for({""}).empty());
        CHECK(is_asleep());
        publish_unreadable(s);
        CHECK_FALSE(is_asleep());
    }
    SUBCASE("the batch is SCHEDULED") {
        s.subscribe();
        CHECK(s.acquire_for({""}).empty());
        publish_unreadable(s);
        CHECK_FALSE(is_asleep());
        CHECK(s.perform(AcquireJobs{.queue = "main", .worker = s.worker, .limit = 10}).next_due ==
              s.now + Duration{500});
    }
    SUBCASE("the batch was blocked by an earlier batch") {
        bool mixed = false;
        SUBCASE("there are no Ruby workers") {}
        SUBCASE("the deployment is mixed") { mixed = true; }
        CAPTURE(mixed);
        subscribe_lone(s);
        publish_unreadable(s, batch_x);
        publish_unreadable(s, batch_y);
        RedisStore later{{.addresses = {s.server.address()}, .mixed_fleet = mixed}};
        const AcquireJobs step{.queue = "main", .worker = s.worker, .limit = 10};
        if (mixed) CHECK(perform(later, ScrubWorkers{Duration{30'000}}, s.now));
        const auto leases = perform(later, step, s.now).value().leases;
        REQUIRE(leases.size() == 1);
        CHECK(is_asleep());
        CHECK(perform(later, BeginDelivery{leases[0], Duration{60'000}, 0}, s.now));
        CHECK(perform(later,
                      SettleDelivery{.lease = leases[0],
                                     .delivered = true,
                                     .health_change = 1,
                                     .begun_at = s.now,
                                     .retry_at = s.now},
                      s.now));
        CHECK_FALSE(is_asleep());
        CHECK(perform(later, step, s.now).value().leases.size() == 1);
    }
}

TEST_CASE("redis: a removed batch that Ruby workers cannot read leaves no Redis key") {
    RedisScene s;
    subscribe_lone(s);
    publish_unreadable(s);
    REQUIRE(is_marked(s));
    SUBCASE("the batch is dropped") {
        CHECK(s.perform(DropBatch{"billing", *Uid::parse(batch_x)}) == BatchAction::done);
    }
    SUBCASE("the batch is dropped for lack of space") {
        CHECK(s.perform(DropOldestBatches{10}) == Dropped{1, 1});
    }
    SUBCASE("the batch has no subscriber") {
        s.perform(RemoveSubscriber{"billing"});
        CHECK(s.begin(s.acquire()).verdict == Verdict::vanished);
    }
    SUBCASE("the batch is ended by another program") {
        s.other({"DEL", "batches:" + batch_x});
        CHECK(s.begin(s.acquire()).verdict == Verdict::vanished);
    }
    CHECK_FALSE(is_marked(s));
    CHECK(s.perform(CountJobs{"main"}) == QueueStatus{});
}

TEST_CASE("redis: events that Ruby workers can read stay in the keys of Ruby Routemaster") {
    RedisScene s;
    subscribe_lone(s);
    s.perform(publication_of_size(s, 64, batch_x));
    CHECK(s.other({"LLEN", "jobs:instant:main"}).number == 1);
    CHECK_FALSE(is_marked(s));
}
