/// @file
/// Moving from Ruby processes to routemaster's and back, on one Redis server under load.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/event.hpp"
#include "routemaster/random.hpp"
#include "support/await.hpp"
#include "support/batch_receiver.hpp"
#include "support/ended.hpp"
#include "support/redis_server.hpp"
#include "support/ruby.hpp"
#include "support/running_fleet.hpp"

using namespace routemaster;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::RubyWeb;
using test::RubyWorker;
using test::RunningWeb;
using test::RunningWorker;

namespace {

const std::vector<std::string> mixed{"--mixed-fleet"};

std::string ruby_order(int number) {
    return "https://shop.example/orders/" + std::to_string(number);
}

int number_of(const std::string& url) { return std::stoi(url.substr(url.rfind('/') + 1)); }

/// The orders without repetitions, in the order of arrival.
std::vector<int> firsts(const std::vector<std::string>& urls) {
    std::set<int> seen;
    std::vector<int> ruby_order;
    for (const auto& url : urls) {
        if (seen.insert(number_of(url)).second) ruby_order.push_back(number_of(url));
    }
    return ruby_order;
}

/// The number of orders that arrived after an order with a greater number.
std::size_t late(const std::vector<int>& numbers) {
    std::size_t count = 0;
    int greatest = 0;
    for (const int number : numbers) {
        if (number < greatest) ++count;
        greatest = std::max(greatest, number);
    }
    return count;
}

std::int64_t blocked(const test::RedisServer& redis) {
    return redis.command({"SCARD", "routemaster:blocked:main"}).number;
}

/// Publishes an order every few milliseconds, through routemaster's or Ruby Routemaster's web
/// process. Counts the orders with a response of 200.
class RubyShop {
public:
    explicit RubyShop(const test::RedisServer& redis) : ruby_web_{redis.address(), 7} {
        thread_ = std::thread{[this] {
            while (!over_) {
                const auto web = current();
                const int number = published_ + 1;
                if (!web) {
                    ruby_web_.publish("orders", ruby_order(number));
                } else if (web->publish("orders", ruby_order(number)).status != 200) {
                    continue;
                }
                published_ = number;
                std::this_thread::sleep_for(milliseconds{4});
            }
        }};
    }

    /// Uses this web process from the next order on. Null means Ruby Routemaster's.
    void use(std::shared_ptr<RunningWeb> web) {
        const std::lock_guard lock{mutex_};
        web_ = std::move(web);
    }

    [[nodiscard]] int published() const { return published_; }

    /// Stops publishing. Returns the number of orders.
    int close() {
        over_ = true;
        thread_.join();
        return published_;
    }

private:
    std::shared_ptr<RunningWeb> current() {
        const std::lock_guard lock{mutex_};
        return web_;
    }

    RubyWeb ruby_web_;
    std::mutex mutex_;  // Guards the pointer.
    std::shared_ptr<RunningWeb> web_;
    std::atomic<bool> over_{false};
    std::atomic<int> published_{0};
    std::thread thread_;
};

/// Waits until the orders up to `count` have arrived. Returns false at the timeout.
bool await_orders(const test::BatchReceiver& receiver, int count) {
    return test::await(
        [&] { return firsts(receiver.accepted()).size() == static_cast<std::size_t>(count); },
        seconds{40});
}

/// Checks that no job is queued, or left in a key that no process reads.
void check_drained(const test::RedisServer& redis) {
    const auto is_gone = [&](const std::string& key) {
        return redis.command({"EXISTS", key}).number == 0;
    };
    CHECK(test::await([&] { return is_gone("jobs:index:main"); }));
    for (const auto* key : {"jobs:instant:main", "jobs:scheduled:main", "routemaster:blocked:main",
                            "batches:index", "batches:current:billing", "routemaster:untidy"}) {
        CAPTURE(key);
        CHECK(is_gone(key));
    }
    CHECK(redis.command({"HGET", "batches:gauges:batch", "billing"}).text == "0");
    CHECK(redis.command({"HGET", "batches:gauges:event", "billing"}).text == "0");
}

}  // namespace

TEST_CASE("back to Ruby Routemaster: Ruby workers deliver a backlog of routemaster") {
    const test::RedisServer redis;
    test::BatchReceiver receiver;
    receiver.delay_each(milliseconds{50});
    RunningWeb web{redis.url()};
    auto worker = std::make_unique<RunningWorker>(redis.url());
    REQUIRE(web.subscribe("billing", R"(["orders"])", receiver.url(), R"("max":1)").status == 204);
    constexpr int count = 400;
    for (int number = 1; number <= count; ++number) {
        REQUIRE(web.publish("orders", ruby_order(number)).status == 200);
    }
    CHECK(blocked(redis) > 300);
    CHECK(worker->stop() == 0);
    worker = std::make_unique<RunningWorker>(redis.url(), mixed);
    CHECK_MESSAGE(test::await([&] { return blocked(redis) == 0; }, seconds{1}), "the gate opens");
    SUBCASE("the Ruby worker is stopped") { CHECK(worker->stop() == 0); }
    SUBCASE("the Ruby worker is killed") { worker->kill(); }
    CHECK(blocked(redis) == 0);
    receiver.delay_each(milliseconds{0});
    const RubyWorker ruby{redis.address()};
    CHECK(await_orders(receiver, count));
    check_drained(redis);
}

TEST_CASE("in a mixed deployment, a worker process that stops at once leaves no job blocked") {
    const test::RedisServer redis;
    test::BatchReceiver receiver;
    RunningWeb web{redis.url()};
    REQUIRE(web.subscribe("billing", R"(["orders"])", receiver.url(), R"("max":1)").status == 204);
    for (int number = 1; number <= 50; ++number) {
        REQUIRE(web.publish("orders", ruby_order(number)).status == 200);
    }
    REQUIRE(blocked(redis) == 49);
    RunningWorker worker{redis.url(), mixed};
    CHECK(worker.stop() == 0);
    CHECK(blocked(redis) == 0);
}

TEST_CASE(
    "migration from Ruby Routemaster: batches that Ruby workers have delivered delay no batch") {
    const test::RedisServer redis;
    test::BatchReceiver receiver;
    RunningWeb web{redis.url()};
    REQUIRE(web.subscribe("billing", R"(["orders"])", receiver.url(), R"("max":1)").status == 204);
    // A backlog of routemaster's, which Ruby workers deliver after the move back.
    constexpr int backlog = 1'500;
    for (int number = 1; number <= backlog; ++number) {
        REQUIRE(web.publish("orders", ruby_order(number)).status == 200);
    }
    {
        RunningWorker between{redis.url(), mixed};
        CHECK(between.stop() == 0);
    }
    {
        RubyWorker ruby{redis.address()};
        CHECK(await_orders(receiver, backlog));
        ruby.stop();
    }
    RunningWorker ours{redis.url()};
    const auto began = std::chrono::steady_clock::now();
    REQUIRE(web.publish("orders", ruby_order(backlog + 1)).status == 200);
    CHECK(await_orders(receiver, backlog + 1));
    CHECK(std::chrono::steady_clock::now() - began < seconds{1});
    check_drained(redis);
}

TEST_CASE("beside a web process of Ruby Routemaster, events are prompt and in order") {
    const test::RedisServer redis;
    test::BatchReceiver receiver;
    const RunningWeb web{redis.url(), mixed};
    const RunningWorker worker{redis.url(), mixed};
    REQUIRE(web.subscribe("billing", R"(["orders"])", receiver.url(), R"("timeout":0)").status ==
            204);
    RubyWeb ruby{redis.address()};
    constexpr int count = 200;
    Random random{1};
    std::vector<double> waits;
    for (int number = 1; number <= count; ++number) {
        std::this_thread::sleep_for(milliseconds{random.below(20)});
        const auto began = std::chrono::steady_clock::now();
        ruby.publish("orders", ruby_order(number));
        if (number % 2 == 1) continue;  // The next order is published immediately.
        REQUIRE(receiver.await_event(ruby_order(number)));
        waits.push_back(
            std::chrono::duration<double, std::milli>{std::chrono::steady_clock::now() - began}
                .count());
    }
    REQUIRE(await_orders(receiver, count));
    std::sort(waits.begin(), waits.end());
    MESSAGE("p50 ", waits[waits.size() / 2], " ms, p99 ", waits[waits.size() - 2], " ms");
    CHECK(waits[waits.size() / 2] < 90);
    CHECK(late(firsts(receiver.accepted())) == 0);
}

TEST_CASE(
    "migration from Ruby Routemaster and back under load, with kills, loses and strands no event") {
    const test::RedisServer redis;
    test::BatchReceiver receiver;
    receiver.delay_each(milliseconds{5});
    auto web = std::make_shared<RunningWeb>(redis.url(), mixed);
    REQUIRE(web->subscribe("billing", R"(["orders"])", receiver.url(), R"("timeout":20,"max":3)")
                .status == 204);
    web.reset();
    constexpr int rounds = 2;
    RubyShop shop{redis};
    auto theirs = std::make_unique<RubyWorker>(redis.address(), 3, 100);
    for (int round = 1; round <= rounds; ++round) {
        CAPTURE(round);
        // Moving to routemaster: both kinds of processes, then only routemaster's with the flag,
        // then without it.
        std::this_thread::sleep_for(milliseconds{400});
        auto ours = std::make_unique<RunningWorker>(redis.url(), mixed);
        std::this_thread::sleep_for(milliseconds{300});
        shop.use(std::make_shared<RunningWeb>(redis.url(), mixed));
        if (round % 2 == 0) {
            theirs->kill();
        } else {
            theirs->stop();
        }
        ours->kill();
        ours = std::make_unique<RunningWorker>(redis.url(), mixed);
        std::this_thread::sleep_for(milliseconds{300});
        shop.use(std::make_shared<RunningWeb>(redis.url()));
        ours->kill();
        ours = std::make_unique<RunningWorker>(redis.url());
        // Only routemaster's processes. One of them dies.
        auto second = std::make_unique<RunningWorker>(redis.url());
        std::this_thread::sleep_for(milliseconds{500});
        ours->kill();
        std::this_thread::sleep_for(milliseconds{300});
        // Moving back: with the flag, then the check, then Ruby Routemaster's processes.
        CHECK(second->stop() == 0);
        ours = std::make_unique<RunningWorker>(redis.url(), mixed);
        shop.use(std::make_shared<RunningWeb>(redis.url(), mixed));
        CHECK(test::await([&] { return blocked(redis) == 0; }, seconds{2}));
        theirs = std::make_unique<RubyWorker>(redis.address(), 3,
                                              100 + static_cast<std::uint64_t>(round));
        shop.use(nullptr);
        std::this_thread::sleep_for(milliseconds{200});
        if (round % 2 == 0) {
            ours->kill();
        } else {
            CHECK(ours->stop() == 0);
        }
    }
    const int published = shop.close();
    MESSAGE(published, " orders, ", late(firsts(receiver.accepted())), " of them late, ",
            receiver.accepted().size(), " arrivals so far");
    CHECK_MESSAGE(await_orders(receiver, published), "all arrive");
    check_drained(redis);
}

TEST_CASE("back to Ruby Routemaster: Ruby workers never see batches that they cannot read") {
    const test::RedisServer redis;
    test::BatchReceiver receiver;
    receiver.pause();
    const std::vector<std::string> soon{"--stop-grace", "1"};
    const auto check = [&](std::vector<std::string> flags = {}) {
        flags.insert(flags.begin(), {"check-rollback", "--store", redis.url()});
        return test::run(flags);
    };
    auto web = std::make_unique<RunningWeb>(redis.url());
    auto worker = std::make_unique<RunningWorker>(redis.url(), soon);
    REQUIRE(web->subscribe("billing", R"(["orders"])", receiver.url(), R"("max":1)").status == 204);
    const auto publish_with_data = [&](int number) {
        const auto body = R"({"type":"update","url":")" + ruby_order(number) +
                          R"(","data":{"note":")" + std::string(100, 'x') + R"("}})";
        return web->ask("POST", "/topics/orders", "shop", body).status;
    };
    constexpr int count = 40;
    for (int number = 1; number <= count; ++number) {
        REQUIRE((number % 4 == 0 ? publish_with_data(number)
                                 : web->publish("orders", ruby_order(number)).status) == 200);
    }
    REQUIRE(
        web->ask("POST", "/v1/queues/aux/jobs", test::root_key, R"({"name":"resize"})").status ==
        200);
    REQUIRE(web->ask("POST", "/v1/actions", test::root_key,
                     R"({"deliver":{"subscriber":"billing","data":{"order":42}},"delay":1})")
                .status == 200);
    CHECK(test::await([&] {
        return redis.command({"ZCARD", "batches:index"}).number == count + 1;
    }));
    const auto before = check();
    CHECK(before.status == 1);
    CHECK(before.output.find("blocks the move: 11 batches of 'bill…' with an event") !=
          std::string::npos);
    CHECK(before.output.find("deliveries wait in an ordering group") != std::string::npos);
    CHECK(before.output.find("blocks the move: 1 job of 'aux'") != std::string::npos);

    // All processes of routemaster get the flag. Some are killed.
    SUBCASE("the processes are stopped") { CHECK(worker->stop() == 0); }
    SUBCASE("the processes are killed") { worker->kill(); }
    web = std::make_unique<RunningWeb>(redis.url(), mixed);
    worker = std::make_unique<RunningWorker>(redis.url(), mixed);
    CHECK(publish_with_data(count + 1) == 400);
    const auto is_kept_away = [&] {
        const auto output = check().output;
        return output.find("ordering group") == std::string::npos &&
               output.find("terminates when it acquires such a") == std::string::npos;
    };
    CHECK(test::await(is_kept_away, seconds{20}));
    RubyWorker ruby{redis.address()};
    receiver.resume();
    CHECK(test::await(
        [&] {
            const auto accepted = receiver.accepted();
            return std::set<std::string>{accepted.begin(), accepted.end()}.size() == count + 1;
        },
        seconds{40}));
    CHECK(test::await([&] { return check().status == 0; }, seconds{20}));
    CHECK(ruby.ended().empty());
    CHECK_MESSAGE(
        check().output.find("stays behind: 1 job of 'aux' set aside") != std::string::npos,
        check().output);
    CHECK(worker->stop() == 0);
    const auto after = check();
    CHECK(after.status == 0);
    CHECK(after.output.ends_with("nothing blocks the move\n"));
    check_drained(redis);
    CHECK(ruby.ended().empty());
}

TEST_CASE(
    "a command checks whether a bus can move back to Ruby Routemaster, and reports problems") {
    const auto nothing = test::run({"check-rollback", "--store", "redis://127.0.0.1:1"});
    CHECK(nothing.status == 1);
    CHECK(nothing.errors.find("Connection refused") != std::string::npos);
    const auto file = test::run({"check-rollback", "--store", "file:bus.db"});
    CHECK(file.status == 2);
    CHECK(file.errors.find("--store") != std::string::npos);

    // Imitates an earlier version of routemaster: unreadable events were left where Ruby workers
    // find them.
    const test::RedisServer redis;
    RunningWeb web{redis.url(), mixed};
    REQUIRE(web.subscribe("billing", R"(["orders"])", "https://a.example/").status == 204);
    REQUIRE(web.publish("orders", ruby_order(1)).status == 200);
    const auto uid = redis.command({"SRANDMEMBER", "batches:current:billing"}).text;
    Event event{.topic = "orders", .type = EventType::update, .url = ruby_order(2)};
    event.data = Value{Value::Map{{"note", std::string(100, 'x')}}};
    redis.command({"RPUSH", "batches:" + uid, encode_message(event, TimePoint{})});
    const std::string check = "check-rollback";
    CHECK(test::run({check, "--store", redis.url(), "--event-data-max", "1000"}).status == 0);
    const auto before = test::run({check, "--store", redis.url()});
    CHECK(before.status == 1);
    CHECK(before.output.find("run this command with --set-aside") != std::string::npos);
    CHECK(test::run({check, "--store", redis.url(), "--set-aside"}).status == 1);
    CHECK(redis.command({"ZCARD", "jobs:scheduled:main"}).number == 0);
    CHECK(redis.command({"ZCARD", "jobs:scheduled:main:callbacks"}).number == 1);
}

TEST_CASE("a subscriber without a callback, left by Ruby Routemaster, is listed with null") {
    const test::RedisServer redis;
    const RunningWeb web{redis.url(), mixed};
    REQUIRE(web.subscribe("billing", "[]", "https://billing.example").status == 204);
    redis.command({"HDEL", "subscriber:billing", "callback"});
    const auto listed = web.ask("GET", "/subscribers", test::root_key).body;
    CHECK(listed.find(R"("callback":null,)") != std::string::npos);
}
