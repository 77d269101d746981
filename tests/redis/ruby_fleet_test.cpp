// Moving from Ruby processes to routemaster's and back: leftovers of either kind delay no batch,
// and no batch is stranded.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "redis_scene.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/testing/scripted_transport.hpp"
#include "support/await.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

const std::string a = "BATCHBATCHBATCH1AAAA";
const std::string b = "BATCHBATCHBATCH2AAAA";

/// The id of batch `number`.
std::string uid(int number) {
    const auto digits = std::to_string(number);
    return "BATCH" + std::string(12 - digits.size(), '0') + digits + "AAA";
}

void subscribe_ruby(RedisScene& s, const std::string& token, std::uint32_t max_in_flight = 1) {
    s.perform(Subscribe{.token = token,
                        .topics = {"cats"},
                        .options = {.callback = "https://example.com/events",
                                    .timeout = Duration{500},
                                    .max_events = 1,
                                    .max_in_flight = max_in_flight}});
}

/// Publishes `count` full batches for each subscriber, one after another.
void publish(RedisScene& s, int count) {
    for (int number = 1; number <= count; ++number) {
        s.perform(PublishEvent{.topic = "cats",
                               .publisher = "pub",
                               .message = s.message(),
                               .timestamp = s.now,
                               .uid = *Uid::parse(uid(number))});
        s.now += Duration{1};
    }
}

/// Adds a READY batch as Ruby Routemaster's scripts do, with a begin and a due time.
void leave_ready(RedisScene& s, const std::string& token, const std::string& batch,
                 TimePoint begun_at) {
    const auto begun = std::to_string(to_milliseconds(begun_at));
    s.other({"ZADD", "batches:index", begun, batch});
    s.other({"RPUSH", "batches:" + batch, token, begun, "0", s.message()});
    s.other({"HINCRBY", "batches:gauges:batch", token, "1"});
    s.other({"HINCRBY", "batches:gauges:event", token, "1"});
    s.other({"SADD", "jobs:index:main", RedisScene::job(batch)});
    s.other({"LPUSH", "jobs:instant:main", RedisScene::job(batch)});
}

/// Adds the leftovers of routemaster's batches that Ruby workers have ended.
void leave_ended(RedisScene& s, const std::string& token, int count) {
    s.other({"EVAL",
             "for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], i, "
             "string.format('ENDEDENDED%010d', i)) end",
             "1", "routemaster:group:" + token, std::to_string(count)});
}

std::int64_t group_length(RedisScene& s, const std::string& token = "billing") {
    return s.other({"ZCARD", "routemaster:group:" + token}).number;
}
std::int64_t blocked(RedisScene& s) {
    return s.other({"SCARD", "routemaster:blocked:main"}).number;
}

/// Acquires deliveries. Returns their batches.
std::vector<std::string> acquired(RedisScene& s, std::uint32_t limit = 100) {
    std::vector<std::string> batches;
    const auto got = s.perform(AcquireJobs{.queue = "main", .worker = s.worker, .limit = limit});
    for (const auto& lease : got.leases) {
        batches.emplace_back(detail::batch_of(lease.job)->text());
    }
    return batches;
}

}  // namespace

TEST_CASE("ruby: 100,000 batches ended by Ruby workers delay routemaster only a little") {
    RedisScene s;
    subscribe_ruby(s, "billing");
    leave_ended(s, "billing", 100'000);
    publish(s, 2);
    CHECK_MESSAGE(group_length(s) >= 98'000, "one step looks at no more than 1,000 of them");
    testing::ScriptedTransport transport;
    transport.script({Result<void>{}, Result<void>{}});
    const auto began = std::chrono::steady_clock::now();
    Dispatcher dispatcher{s.store, {.transports = {&transport}}};
    Runner runner{dispatcher};
    REQUIRE(test::await([&] { return transport.deliveries().size() == 2; }));
    const auto took = std::chrono::steady_clock::now() - began;
    CHECK(took < std::chrono::seconds{3});  // 0.09 s normally; 1.04 s on a busy machine.
    runner.stop(Duration{1'000});
    CHECK(group_length(s) == 0);
    CHECK(s.other({"EXISTS", "routemaster:untidy"}).number == 0);
}

TEST_CASE("ruby: batches ended by Ruby workers are skipped after the batch under way") {
    RedisScene s;
    subscribe_ruby(s, "billing");
    publish(s, 2'502);
    const auto first = s.acquire();
    s.begin(first);
    for (int number = 2; number <= 2'501; ++number) {
        s.other({"DEL", "batches:" + uid(number)});
        s.other({"SREM", "routemaster:blocked:main", RedisScene::job(uid(number))});
    }
    s.settle(first);
    std::vector<std::string> got;
    int calls = 0;
    for (; got.empty() && calls < 10; ++calls) got = acquired(s);
    CHECK(got == std::vector{uid(2'502)});
    CHECK(calls <= 4);
}

TEST_CASE("ruby: an acquisition that unblocks further jobs reports that more are available") {
    RedisScene s;
    subscribe_ruby(s, "billing", 2);
    publish(s, 4);
    REQUIRE(blocked(s) == 2);
    std::vector<std::string> expected;
    SUBCASE("the first batches of the ordering group were ended") {
        for (int number = 1; number <= 2; ++number) {
            const auto job = RedisScene::job(uid(number));
            s.other({"DEL", "batches:" + uid(number)});
            s.other({"LREM", "jobs:instant:main", "0", job});
            s.other({"SREM", "jobs:index:main", job});
        }
        leave_ready(s, "billing", a, s.now);
        expected = {uid(3), uid(4)};
    }
    SUBCASE("many batches were ended, and the acquisition removes a part of them") {
        leave_ended(s, "billing", 2'500);
        expected = {uid(1), uid(2)};
    }
    std::vector<std::string> got;
    for (int calls = 0; calls < 5 && got.size() < 2; ++calls) {
        const auto acquired =
            s.perform(AcquireJobs{.queue = "main", .worker = s.worker, .limit = 10});
        for (const auto& lease : acquired.leases) {
            got.emplace_back(detail::batch_of(lease.job)->text());
        }
        if (got.size() < 2) CHECK(acquired.next_due <= s.now);
    }
    std::sort(got.begin(), got.end());
    CHECK(got == expected);
}

TEST_CASE("ruby: in a mixed deployment, no batch joins an ordering group") {
    RedisScene s{true};
    subscribe_ruby(s, "billing");
    publish(s, 3);
    CHECK(group_length(s) == 0);
}

TEST_CASE("ruby: batches ended by Ruby workers are removed with their subscriber") {
    RedisScene s;
    subscribe_ruby(s, "billing");
    leave_ended(s, "billing", 2'500);
    SUBCASE("the token of the subscriber is removed") { s.perform(RemoveToken{"billing"}); }
    SUBCASE("only the subscriber is removed") { s.perform(RemoveSubscriber{"billing"}); }
    for (int calls = 0; calls < 4; ++calls) acquired(s);
    CHECK(group_length(s) == 0);
}

TEST_CASE("ruby: in a mixed deployment, blocked jobs become READY again, 1,000 with each step") {
    RedisScene s;
    subscribe_ruby(s, "billing");
    publish(s, 2'501);
    REQUIRE(blocked(s) == 2'500);
    RedisStore mixed{{.addresses = {s.server.address()}, .mixed_fleet = true}};
    const auto steps = [&](const auto& step) {
        for (const std::uint64_t back : {1'000U, 1'000U, 500U}) {
            const ReleasedJobs expected{.jobs = back, .more = back == 1'000};
            CHECK(perform(mixed, step, s.now).value() == expected);
        }
    };
    SUBCASE("the step searches for dead workers") { steps(ScrubWorkers{Duration{30'000}}); }
    SUBCASE("the step retires a worker") { steps(RetireWorker{s.worker}); }
    SUBCASE("the step acquires jobs") {
        const AcquireJobs step{.queue = "main", .worker = s.worker, .limit = 1};
        CHECK(perform(mixed, step, s.now).value().next_due <= s.now);
        CHECK(perform(mixed, step, s.now).value().next_due <= s.now);
        CHECK(perform(mixed, step, s.now).has_value());
    }
    CHECK(blocked(s) == 0);
    const auto found =
        s.other({"ZCARD", "jobs:scheduled:main"}).number +
        s.other({"LLEN", "jobs:instant:main"}).number +
        s.other({"LLEN", "jobs:pending:main:" + std::string{s.worker.text()}}).number;
    CHECK(found == 2'501);
    CHECK_MESSAGE(s.other({"ZCOUNT", "jobs:scheduled:main",
                           "(" + std::to_string(to_milliseconds(s.now)), "+inf"})
                          .number == 0,
                  "all of it is due");
}

TEST_CASE("ruby: in a mixed deployment, blocked jobs become READY again in their order") {
    RedisScene s;
    subscribe_ruby(s, "billing");
    for (int number = 1; number <= 1'500; ++number) {
        // Ten batches each begin in the same millisecond, with ids in the opposite order.
        s.publish(uid(9'999 - number));
        if (number % 10 == 0) s.now += Duration{1};
    }
    RedisStore mixed{{.addresses = {s.server.address()}, .mixed_fleet = true}};
    while (perform(mixed, ScrubWorkers{Duration{30'000}}, s.now)->more) {
    }
    // Promotes jobs as Ruby's scheduler does.
    const auto due = s.other({"ZRANGEBYSCORE", "jobs:scheduled:main", "-inf",
                              std::to_string(to_milliseconds(s.now)), "LIMIT", "0", "2000"});
    REQUIRE(due.list.size() == 1'499);
    for (int number = 2; number <= 1'500; ++number) {
        const auto& job = due.list[static_cast<std::size_t>(number - 2)].text;
        REQUIRE(job == RedisScene::job(uid(9'999 - number)));
    }
}

TEST_CASE("ruby: jobs of a Ruby worker that exited because of an error are released") {
    for (const bool mixed : {false, true}) {
        CAPTURE(mixed);
        RedisScene s{mixed};
        subscribe_ruby(s, "billing");
        publish(s, 1);
        s.other({"SADD", "jobs:pending:index:main", "AAAAAAAAAAAAAAAAAAAA"});
        s.other({"RPOPLPUSH", "jobs:instant:main", "jobs:pending:main:AAAAAAAAAAAAAAAAAAAA"});
        SUBCASE("the worker is no longer known") {
            CHECK(s.perform(ScrubWorkers{Duration{30'000}}) == ReleasedJobs{1});
            CHECK(acquired(s) == std::vector{uid(1)});
            CHECK(s.other({"EXISTS", "jobs:pending:index:main"}).number == 1);
        }
        SUBCASE("the worker has sent a heartbeat") {
            s.other({"HSET", "workers", "AAAAAAAAAAAAAAAAAAAA",
                     std::to_string(to_milliseconds(s.now))});
            CHECK(s.perform(ScrubWorkers{Duration{30'000}}) == ReleasedJobs{0});
        }
    }
}

TEST_CASE(
    "ruby: a batch that a Ruby web process began earlier is delivered before routemaster's batch") {
    RedisScene s;
    subscribe_ruby(s, "billing");
    leave_ready(s, "billing", a, s.now);
    s.now += Duration{1};
    publish(s, 1);
    const auto first = s.acquire_all();
    REQUIRE(first.size() == 1);
    CHECK(s.begin(first[0]).batch.text() == a);
    s.settle(first[0]);
    CHECK(acquired(s) == std::vector{uid(1)});
}

TEST_CASE("ruby: in a mixed deployment, batches acquired together are delivered in order") {
    RedisScene s{true};
    subscribe_ruby(s, "billing");
    subscribe_ruby(s, "audit", 2);
    leave_ready(s, "billing", b, s.now + Duration{1});
    leave_ready(s, "billing", a, s.now);
    for (int number = 1; number <= 3; ++number) leave_ready(s, "audit", uid(number), s.now);
    const auto first = s.acquire_all();
    REQUIRE(first.size() == 3);
    CHECK(s.begin(first[0]).batch.text() == a);
    CHECK(s.begin(first[1]).batch.text() == uid(1));
    CHECK(s.begin(first[2]).batch.text() == uid(2));
    CHECK_MESSAGE(s.other({"LLEN", "jobs:instant:main"}).number == 2, "workers of it see the rest");
    CHECK(acquired(s).empty());
    s.worker = *Uid::parse("WORKERWORKERWORKER11");
    CHECK_MESSAGE(acquired(s).empty(), "nor does another worker of ours get them");
    s.settle(first[0]);
    CHECK(acquired(s) == std::vector{b});
    s.settle(first[2], false);
    CHECK(acquired(s) == std::vector{uid(3)});
    CHECK(s.other({"EXISTS", "routemaster:blocked:main"}).number == 0);
}

TEST_CASE("ruby: in a mixed deployment, no batch waits for a batch of a dead worker") {
    RedisScene s{true};
    subscribe_ruby(s, "billing");
    leave_ready(s, "billing", a, s.now);
    leave_ready(s, "billing", b, s.now + Duration{1});
    const auto lease = s.acquire();
    const auto doomed = "jobs:pending:main:" + std::string{s.worker.text()};
    const auto heir = *Uid::parse("WORKERWORKERWORKER11");
    SUBCASE("the worker retires") {
        s.perform(RetireWorker{s.worker});
        s.worker = heir;
        CHECK(acquired(s) == std::vector{a});
    }
    SUBCASE("the worker is silent") {
        s.now += Duration{30'000};
        s.worker = heir;
        CHECK(acquired(s) == std::vector{b});
    }
    SUBCASE("Ruby Routemaster's scrub took the worker's job") {
        s.other({"RPOPLPUSH", doomed, "jobs:instant:main"});
        CHECK(s.begin(lease).verdict == Verdict::lease_lost);
        s.worker = heir;
        CHECK(acquired(s).size() == 1);
    }
    SUBCASE("the worker's batch is missing") {
        s.other({"DEL", "batches:" + a});
        CHECK(s.begin(lease).verdict == Verdict::vanished);
        CHECK(acquired(s) == std::vector{b});
    }
}

TEST_CASE(
    "ruby: in a mixed deployment, 1,000 batches that wait for earlier batches delay no ready "
    "batch") {
    RedisScene s{true};
    subscribe_ruby(s, "billing");
    subscribe_ruby(s, "audit");
    for (int number = 1; number <= 1'100; ++number) leave_ready(s, "billing", uid(number), s.now);
    leave_ready(s, "audit", a, s.now);
    bool reached = false;
    for (int calls = 0; calls < 5 && !reached; ++calls) {
        for (const auto& batch : acquired(s)) reached = reached || batch == a;
    }
    CHECK(reached);
}

TEST_CASE(
    "ruby: in a mixed deployment, a worker sleeps while batches only wait for earlier batches") {
    RedisScene s{true};
    subscribe_ruby(s, "billing");
    leave_ready(s, "billing", a, s.now);
    leave_ready(s, "billing", b, s.now);
    const AcquireJobs step{.queue = "main", .worker = s.worker, .limit = 1};
    CHECK(s.perform(step).leases.size() == 1);
    CHECK(s.perform(step).next_due == never);
}

TEST_CASE("ruby: in a mixed deployment, unreadable records of waiting batches block no batch") {
    RedisScene s{true};
    subscribe_ruby(s, "billing");
    leave_ready(s, "billing", a, s.now);
    leave_ready(s, "billing", b, s.now);
    s.other({"SET", "routemaster:turns:billing", "nonsense"});
    const auto lease = s.acquire();
    CHECK(s.begin(lease).verdict == Verdict::deliver);
    CHECK(s.settle(lease) == Settlement::settled);
    CHECK(acquired(s) == std::vector{b});
}

TEST_CASE("ruby: in a mixed deployment, the batches of a subscriber are listed") {
    RedisScene s{true};
    subscribe_ruby(s, "billing");
    subscribe_ruby(s, "audit");
    leave_ready(s, "billing", b, s.now);
    s.now += Duration{1};
    publish(s, 2);
    const auto batches = s.perform(ListBatches{"billing"});
    REQUIRE(batches.size() == 3);
    CHECK(batches[0].status.uid.text() == b);
    CHECK(batches[0].delivery == JobStatus::State::ready);
    CHECK(s.perform(ListBatches{.token = "billing", .limit = 2}).size() == 2);
    const auto first = batches[0].status.uid;
    CHECK(s.perform(ListBatches{.token = "billing", .after = first}).size() == 2);
    CHECK(s.perform(FindBatch{"billing", first}) == batches[0]);
    CHECK(s.perform(DropBatch{"audit", first}) == BatchAction::unknown);
    CHECK(s.perform(DropBatch{"billing", first}) == BatchAction::done);
    CHECK(s.perform(DeliverBatch{"billing", batches[1].status.uid}) == BatchAction::done);
    CHECK(s.perform(ListBatches{"billing"}).size() == 2);
}
