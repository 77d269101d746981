/// @file
/// Several processes of a bus on a Redis server.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "support/await.hpp"
#include "support/batch_receiver.hpp"
#include "support/redis_server.hpp"
#include "support/running_bus.hpp"
#include "support/running_fleet.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::RunningWeb;
using test::RunningWorker;

namespace {

using Stopwatch = std::chrono::steady_clock;
using std::chrono::milliseconds;

const std::vector<std::string> subscribers{"billing", "audit", "search"};

std::string order(int number) { return "https://shop.example/orders/" + std::to_string(number); }

std::vector<std::string> orders(int from, int to) {
    std::vector<std::string> urls;
    for (int number = from; number <= to; ++number) urls.push_back(order(number));
    return urls;
}

milliseconds since(Stopwatch::time_point begin) {
    return std::chrono::duration_cast<milliseconds>(Stopwatch::now() - begin);
}

/// Removes repeated orders, and keeps the order of the rest.
std::vector<std::string> without_repeats(const std::vector<std::string>& urls) {
    std::vector<std::string> first;
    for (const auto& url : urls) {
        const bool seen = std::find(first.begin(), first.end(), url) != first.end();
        if (!seen && url != "https://shop.example/refused") first.push_back(url);
    }
    return first;
}

/// The name of the only delivering worker of a bus. Its scheduler is a separate worker.
std::string only_worker(const test::RedisServer& redis) {
    std::vector<std::string> names;
    for (const auto& name : redis.command({"HKEYS", "workers"}).list) {
        const auto queues = redis.command({"HGET", "routemaster:worker:" + name.text, "queues"});
        if (!queues.text.starts_with(":recurring")) names.push_back(name.text);
    }
    REQUIRE(names.size() == 1);
    return names.front();
}

/// Waits until a worker has been silent for a while: shorter than its heartbeat interval, but
/// longer than the noise of the measurement.
void await_silence(const test::RedisServer& redis, const std::string& worker) {
    const auto silence = [&] {
        const auto time = redis.command({"TIME"}).list;
        const auto now = std::stoll(time.at(0).text) * 1'000 + std::stoll(time.at(1).text) / 1'000;
        return now - std::stoll(redis.command({"HGET", "workers", worker}).text);
    };
    REQUIRE(test::await([&] { return silence() >= 200; }));
}

/// For each subscriber, a batch at its receiver without a response, and a batch behind it.
struct Undelivered {
    explicit Undelivered(const RunningWeb& web) {
        for (std::size_t i = 0; i < subscribers.size(); ++i) {
            receivers[i].pause();
            REQUIRE(web.subscribe(subscribers[i], R"(["orders"])", receivers[i].url(), R"("max":1)")
                        .status == 204);
        }
        for (const auto& url : orders(1, 2)) REQUIRE(web.publish("orders", url).status == 200);
        for (const auto& receiver : receivers) REQUIRE(receiver.await_deliveries(1));
    }

    test::BatchReceiver receivers[3];
};

}  // namespace

TEST_CASE("two worker processes deliver the events of two web processes, in order and once") {
    const test::RedisServer redis;
    const RunningWeb webs[2]{RunningWeb{redis.url()}, RunningWeb{redis.url()}};
    RunningWorker first{redis.url(), {"--log-level", "debug"}};
    RunningWorker second{redis.url(), {"--log-level", "debug"}};
    const test::BatchReceiver receivers[3];
    for (std::size_t i = 0; i < subscribers.size(); ++i) {
        REQUIRE(webs[i % 2]
                    .subscribe(subscribers[i], R"(["orders"])", receivers[i].url(),
                               R"("timeout":10,"max":7)")
                    .status == 204);
    }
    constexpr int count = 400;
    for (int number = 1; number <= count; ++number) {
        REQUIRE(webs[number % 2].publish("orders", order(number)).status == 200);
    }
    for (const auto& receiver : receivers) {
        REQUIRE(receiver.await_event(order(count)));
        CHECK(receiver.accepted() == orders(1, count));
    }
    CHECK(first.stop() == 0);
    CHECK(second.stop() == 0);
    for (auto* worker : {&first, &second}) {
        CHECK_MESSAGE(worker->process().errors().find("DEBUG: delivered ") != std::string::npos,
                      "both took part");
    }
    CHECK(webs[0].ask("GET", "/topics", test::root_key).body ==
          R"([{"name":"orders","publisher":"shop","events":400}])");
}

TEST_CASE("a second worker process delivers the batches of a killed worker process within 5 s") {
    const test::RedisServer redis;
    const RunningWeb web{redis.url()};
    RunningWorker doomed{redis.url()};
    Undelivered batches{web};
    const auto name = only_worker(redis);
    RunningWorker heir{redis.url()};
    await_silence(redis, name);

    const auto begin = Stopwatch::now();
    doomed.kill();
    for (auto& receiver : batches.receivers) {
        REQUIRE(receiver.await_deliveries(2));
        const auto took = since(begin);
        MESSAGE("delivered again after ", took.count(), " ms");
        CHECK(took < milliseconds{5'000});
        receiver.resume();
        REQUIRE(receiver.await_event(order(2)));
        // The receiver got the first order from both workers.
        CHECK(receiver.accepted() == std::vector{order(1), order(1), order(2)});
    }
    CHECK(heir.stop() == 0);
}

TEST_CASE("a stopped worker process releases the jobs that exceed its grace period at once") {
    const test::RedisServer redis;
    const RunningWeb web{redis.url()};
    RunningWorker leaving{redis.url(), {"--stop-grace", "0.3"}};
    Undelivered batches{web};
    RunningWorker heir{redis.url()};

    CHECK(leaving.stop() == 0);
    const auto begin = Stopwatch::now();
    CHECK(leaving.process().errors().find("INFO: stopped\n") != std::string::npos);
    for (auto& receiver : batches.receivers) {
        REQUIRE(receiver.await_deliveries(2));
        const auto took = since(begin);
        MESSAGE("delivered again after ", took.count(), " ms");
        CHECK_MESSAGE(took < milliseconds{900}, "nobody waited for a second");
        receiver.resume();
        REQUIRE(receiver.await_event(order(2)));
    }
    CHECK(heir.stop() == 0);
}

TEST_CASE("a stopped worker process lets its deliveries end, and they are not repeated") {
    const test::RedisServer redis;
    const RunningWeb web{redis.url()};
    RunningWorker leaving{redis.url(), {"--stop-grace", "20"}};
    Undelivered batches{web};
    RunningWorker heir{redis.url()};

    leaving.process().signal(SIGTERM);
    REQUIRE(leaving.process().await_error("INFO: stopping\n"));
    for (auto& receiver : batches.receivers) receiver.resume();
    CHECK(leaving.process().wait() == 0);
    for (auto& receiver : batches.receivers) {
        REQUIRE(receiver.await_event(order(2)));
        CHECK(receiver.accepted() == orders(1, 2));
    }
    CHECK(heir.stop() == 0);
}

TEST_CASE(
    "a web process accepts events without a worker process, which later delivers the events") {
    const test::RedisServer redis;
    const test::BatchReceiver receiver;
    {
        RunningWeb web{redis.url()};
        REQUIRE(web.subscribe("billing", R"(["orders"])", receiver.url()).status == 204);
        for (const auto& url : orders(1, 10)) REQUIRE(web.publish("orders", url).status == 200);
        web.process().signal(SIGTERM);
        CHECK(web.process().wait() == 0);
    }
    RunningWorker worker{redis.url()};
    REQUIRE(receiver.await_event(order(10)));
    CHECK(receiver.accepted() == orders(1, 10));
    CHECK(worker.stop(SIGINT) == 0);
}

TEST_CASE("acknowledged events are delivered in order, even after crashes of the Redis server") {
    test::RedisServer redis{{"--appendonly", "yes", "--appendfsync", "always"}};
    const RunningWeb web{redis.url() + "/0?timeout=500"};
    RunningWorker worker{redis.url()};
    const test::BatchReceiver receiver;
    REQUIRE(web.subscribe("billing", R"(["orders"])", receiver.url(), R"("timeout":10,"max":3)")
                .status == 204);
    // A sync of the disk may take longer than the timeout. Then the response is 504, and the event
    // is published again.
    const auto publish = [&](int number) {
        REQUIRE(test::await([&] { return web.publish("orders", order(number)).status == 200; }));
    };
    int published = 0;
    for (int crash = 0; crash < 2; ++crash) {
        for (int i = 0; i < 50; ++i) publish(++published);
        redis.kill();
        const auto status = web.publish("orders", "https://shop.example/refused").status;
        CHECK((status == 503 || status == 504));
        redis.start();
        publish(++published);
    }
    REQUIRE(receiver.await_event(order(published)));
    CHECK(without_repeats(receiver.accepted()) == orders(1, published));
    CHECK(worker.stop() == 0);
}

TEST_CASE("a complete bus in one process works on a Redis server, beside other processes") {
    const test::RedisServer redis;
    const test::TemporaryFolder folder;
    test::RunningBus bus{folder.path(), {"--store", redis.url()}};
    const RunningWeb web{redis.url()};
    const test::BatchReceiver receiver;
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("timeout":0)").status ==
            204);
    REQUIRE(web.publish("orders", order(1)).status == 200);
    REQUIRE(receiver.await_event(order(1)));
    CHECK(bus.stop() == 0);
}
