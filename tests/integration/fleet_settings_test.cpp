/// @file
/// The settings of processes that share a Redis server.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "support/await.hpp"
#include "support/mentions.hpp"
#include "support/redis_server.hpp"
#include "support/running_bus.hpp"
#include "support/running_fleet.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::mentions;
using test::RunningWeb;
using test::RunningWorker;

namespace {

using Environment = test::Process::Environment;

/// The one-line error of a program that refuses to start.
std::string complaint(std::vector<std::string> command, const Environment& environment = {}) {
    test::Process process{command, environment};
    CHECK(process.wait() == 2);
    const auto text = process.errors();
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    return text;
}

/// Adds a worker to the store that has been silent for `silence`.
void leave_silent_worker(const test::RedisServer& redis, const std::string& name,
                         std::chrono::seconds silence) {
    const auto now = std::stoll(redis.command({"TIME"}).list.at(0).text);
    redis.command({"HSET", "workers", name, std::to_string((now - silence.count()) * 1'000)});
}

bool knows_worker(const test::RedisServer& redis, const std::string& name) {
    return redis.command({"HEXISTS", "workers", name}).number == 1;
}

/// Names as long as the names of real workers.
const std::string first_worker = "AAAAAAAAAAAAAAAAAAAA";
const std::string second_worker = "BBBBBBBBBBBBBBBBBBBB";

}  // namespace

TEST_CASE("a store URL that belongs to one process is refused by web and worker processes") {
    const test::TemporaryFolder folder;
    const auto file = "file:" + (folder.path() / "bus.db").string();
    for (const auto& store : {file, std::string{"memory:"}, std::string{"http://a.example"}}) {
        for (const auto& text :
             {complaint({test::web_binary, "--root-key", "r", "--store", store}),
              complaint({test::worker_binary, "--store", store}),
              complaint({test::worker_binary}, {{"ROUTEMASTER_REDIS_URL", store}})}) {
            CHECK(mentions(text, "--store ("));
            CHECK(mentions(text, store));
            CHECK(mentions(text, "`routemaster serve`"));
        }
    }
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the environment variables of Ruby Routemaster set up web and worker processes") {
    const test::RedisServer redis;
    RunningWeb web{redis.url()};
    for (int i = 1; i <= 3; ++i) {
        REQUIRE(web.publish("cats", "https://shop.example/cats/" + std::to_string(i)).status ==
                200);
    }
    const auto worker = [](const Environment& environment) {
        return std::make_unique<test::Process>(std::vector{test::worker_binary}, environment);
    };
    SUBCASE("URL, name and interval are set by Ruby Routemaster's variables") {
        const auto process = worker({{"ROUTEMASTER_REDIS_URL", redis.url()},
                                     {"ROUTEMASTER_APP_NAME", "Cattery"},
                                     {"RACK_ENV", "staging"},
                                     {"ROUTEMASTER_MONITOR_INTERVAL", "0.05"}});
        REQUIRE(process->await_error("INFO: started on " + redis.url() + "\n"));
        REQUIRE(
            process->await_error("INFO: counter:events.published:3 "
                                 "(app:cattery,env:staging,publisher:malformed,topic:cats)\n"));
        REQUIRE(web.publish("cats", "https://shop.example/cats/4").status == 200);
        CHECK(process->await_error("INFO: counter:events.published:4 "));
        CHECK(
            process->await_error("INFO: counter:process:1 "
                                 "(app:cattery,env:staging,status:start,type:worker)\n"));
        CHECK(process->await_error("type:web)\n"));
        CHECK(process->await_error("INFO: gauge:store.bytes_used:"));
        // With the default interval this would take more than a minute, longer than the timeout of
        // `await`.
        CHECK(test::await([&] {
            std::size_t measurements = 0;
            const auto lines = process->errors();
            const std::string gauge = "INFO: gauge:store.bytes_used:";
            for (auto at = lines.find(gauge); at != std::string::npos;
                 at = lines.find(gauge, at + 1)) {
                ++measurements;
            }
            return measurements >= 10;
        }));
        CHECK(!mentions(process->errors(), "gauge:store.max_mem"));
    }
    SUBCASE("a variable of Ruby Routemaster names another variable") {
        const auto process = worker({{"REDIS_ENV_KEY", "ROUTEMASTER_TEST_REDIS"},
                                     {"ROUTEMASTER_TEST_REDIS", redis.url()},
                                     {"ROUTEMASTER_REDIS_URL", "redis://127.0.0.1:1"},
                                     {"METRIC_COLLECTION_SERVICE", "none"}});
        REQUIRE(process->await_error("INFO: started on " + redis.url() + "\n"));
        process->signal(SIGTERM);
        CHECK(process->wait() == 0);
        CHECK(!mentions(process->errors(), "gauge:"));
    }
    SUBCASE("metrics meant for Datadog are written to the log, with a warning") {
        const auto process = worker({{"ROUTEMASTER_REDIS_URL", redis.url()},
                                     {"METRIC_COLLECTION_SERVICE", "datadog"},
                                     {"ROUTEMASTER_MONITOR_INTERVAL", "0.05"}});
        REQUIRE(process->await_error("WARN: metrics cannot be sent to Datadog"));
        CHECK(process->await_error("INFO: gauge:store.bytes_used:"));
    }
    SUBCASE("a variable of Ruby Routemaster names a missing variable") {
        const auto process = worker(
            {{"REDIS_ENV_KEY", "ROUTEMASTER_TEST_REDIS"}, {"ROUTEMASTER_REDIS_URL", redis.url()}});
        CHECK(process->await_error("INFO: started on " + redis.url() + "\n"));
    }
    SUBCASE("a variable of routemaster takes precedence, and a flag takes precedence over both") {
        const auto process = worker({{"ROUTEMASTER_REDIS_URL", "redis://127.0.0.1:1"},
                                     {"ROUTEMASTER_STORE", redis.url()},
                                     {"ROUTEMASTER_MONITOR_INTERVAL", "600"}});
        CHECK(process->await_error("INFO: started on " + redis.url() + "\n"));
        test::Process flagged{{test::worker_binary, "--store", redis.url()},
                              {{"ROUTEMASTER_STORE", "redis://127.0.0.1:1"}}};
        CHECK(flagged.await_error("INFO: started on " + redis.url() + "\n"));
    }
}

TEST_CASE("a variable of Ruby Routemaster takes precedence over the settings file") {
    const test::RedisServer redis;
    const test::TemporaryFolder folder;
    const auto file = (folder.path() / "worker.toml").string();
    std::ofstream{file} << "store = \"redis://127.0.0.1:1\"\nmetrics = \"none\"\n";
    const test::Process process{{test::worker_binary, "--config", file},
                                {{"ROUTEMASTER_REDIS_URL", redis.url()}}};
    CHECK(process.await_error("INFO: started on " + redis.url() + "\n"));
}

TEST_CASE("the password of a Redis server is not logged") {
    const test::RedisServer redis{{"--requirepass", "5ecret"}};
    const auto place = "127.0.0.1:" + std::to_string(redis.port());
    RunningWorker worker{"redis://:5ecret@" + place + "/3"};
    CHECK(worker.process().await_error("INFO: started on redis://***@" + place + "/3\n"));
    CHECK(mentions(worker.process().errors(),
                   "settings: store=redis://***@" + place + "/3 (command"));
    CHECK(worker.stop() == 0);
    CHECK(!mentions(worker.process().errors(), "5ecret"));

    test::Process stranger{
        {test::worker_binary, "--store", "redis://:other5ecret@" + place + "/?timeout=200"}};
    CHECK(stranger.wait() == 1);
    CHECK(mentions(stranger.errors(), place));
    CHECK(!mentions(stranger.errors(), "other5ecret"));
}

TEST_CASE("a worker process without a Redis server does not start, and prints one line") {
    test::Process process{{test::worker_binary, "--store", "redis://127.0.0.1:1/?timeout=200"}};
    CHECK(process.wait() == 1);
    const auto text = process.errors();
    CHECK(mentions(text, "routemaster-worker: "));
    CHECK(mentions(text, "127.0.0.1:1"));
}

TEST_CASE("a memory limit makes a worker drop the oldest batches, and log the drop") {
    const test::RedisServer redis;
    RunningWeb web{redis.url()};
    REQUIRE(
        web.subscribe("billing", R"(["orders"])", "https://billing.example", R"("timeout":3600000)")
            .status == 204);
    for (int i = 1; i <= 5; ++i) {
        REQUIRE(web.publish("orders", "https://shop.example/orders/" + std::to_string(i)).status ==
                200);
    }
    const auto queued = [&] { return web.ask("GET", "/subscribers", test::root_key).body; };
    REQUIRE(mentions(queued(), R"("queued":5)"));
    SUBCASE("by default there is no limit") {
        RunningWorker worker{redis.url(), {"--monitor-interval", "0.05"}};
        REQUIRE(worker.process().await_error("INFO: gauge:subscriber.queue.events:"));
        CHECK(!mentions(worker.process().errors(), "dropped"));
    }
    SUBCASE("the limit is set by Ruby Routemaster's variables") {
        // An empty server already uses more memory than this.
        RunningWorker worker{
            redis.url(),
            {"--monitor-interval", "0.05"},
            {{"ROUTEMASTER_REDIS_MAX_MEM", "400000"}, {"ROUTEMASTER_REDIS_MIN_FREE", "100000"}}};
        REQUIRE(worker.process().await_error("ERROR: there is no batch left to drop"));
        CHECK(mentions(worker.process().errors(),
                       "WARN: dropped the oldest 1 batches, with 5 events: "));
        CHECK(mentions(queued(), R"("queued":0)"));
        CHECK(worker.process().await_error("INFO: gauge:store.max_mem:400000 ("));
        CHECK(worker.process().await_error("INFO: gauge:store.high_mark:300000 ("));
        CHECK(worker.process().await_error("INFO: gauge:store.low_mark:200000 ("));
        CHECK_MESSAGE(worker.process().await_error("INFO: gauge:redis.max_mem:400000 ("),
                      "dashboards of Ruby Routemaster find them, too");
        CHECK(worker.process().await_error("INFO: gauge:redis.high_mark:300000 ("));
        CHECK(worker.process().await_error("INFO: gauge:redis.low_mark:200000 ("));
        CHECK(worker.process().await_error("INFO: gauge:redis.bytes_used:"));
        CHECK(worker.process().await_error("INFO: counter:events.autodropped:5 ("));
    }
    SUBCASE("the limit itself is set by routemaster's settings") {
        RunningWorker worker{redis.url(),
                             {"--monitor-interval", "0.05", "--drop-oldest-above", "300kB",
                              "--drop-oldest-free", "100kB"},
                             {{"ROUTEMASTER_REDIS_MAX_MEM", "5"}}};
        REQUIRE(worker.process().await_error("ERROR: there is no batch left to drop"));
        CHECK(mentions(queued(), R"("queued":0)"));
        CHECK(worker.process().await_error("INFO: gauge:store.high_mark:300000 ("));
        CHECK(worker.process().await_error("INFO: gauge:store.low_mark:200000 ("));
    }
}

TEST_CASE("invalid settings of a worker process are refused with their names") {
    const auto with = [](const std::string& variable, const std::string& value) {
        return complaint({test::worker_binary}, {{variable, value}});
    };
    CHECK(mentions(with("ROUTEMASTER_MONITOR_INTERVAL", "0"), "(ROUTEMASTER_MONITOR_INTERVAL)"));
    CHECK(mentions(with("ROUTEMASTER_REDIS_MAX_MEM", "much"), "ROUTEMASTER_REDIS_MAX_MEM: 'much'"));
    CHECK(mentions(with("METRIC_COLLECTION_SERVICE", "statsd"), "(METRIC_COLLECTION_SERVICE)"));
    CHECK(mentions(with("MAX_BACKOFF_MS", "0"), "--max-backoff (MAX_BACKOFF_MS)"));
    CHECK(mentions(complaint({test::worker_binary, "--root-key", "r"}), "--root-key"));
    CHECK(mentions(complaint({test::web_binary}), "--root-key (ROUTEMASTER_ROOT_KEY)"));
    CHECK(mentions(complaint({test::routemaster_binary, "serve", "--root-key", "r", "--store",
                              "memory:", "--mixed-fleet"}),
                   "--mixed-fleet (ROUTEMASTER_MIXED_FLEET): "));
    CHECK(mentions(
        complaint({test::routemaster_binary, "serve", "--root-key", "r", "--store", "memory:"},
                  {{"ROUTEMASTER_REDIS_MAX_MEM", "100"}, {"ROUTEMASTER_REDIS_MIN_FREE", "50"}}),
        "ROUTEMASTER_REDIS_MIN_FREE: "));
}

TEST_CASE("in a mixed deployment, READY delivery jobs are in the keys that Ruby workers read") {
    const test::RedisServer redis;
    std::vector<std::string> flags;
    std::int64_t taken = 1;
    SUBCASE("without Ruby workers, the later jobs are blocked") {}
    SUBCASE("the deployment is mixed") {
        flags = {"--mixed-fleet"};
        taken = 3;
    }
    RunningWeb web{redis.url(), flags};
    REQUIRE(
        web.subscribe("billing", R"(["orders"])", "https://billing.example", R"("max":1)").status ==
        204);
    for (int i = 1; i <= 3; ++i) {
        REQUIRE(web.publish("orders", "https://shop.example/orders/1").status == 200);
    }
    CHECK(redis.command({"LLEN", "jobs:instant:main"}).number == taken);
}

TEST_CASE("in a mixed deployment, a Ruby worker may be silent for half a minute") {
    const test::RedisServer redis;
    leave_silent_worker(redis, first_worker, std::chrono::seconds{10});
    leave_silent_worker(redis, second_worker, std::chrono::seconds{40});
    const auto forgotten = [&](const std::string& name) {
        return test::await([&] { return !knows_worker(redis, name); });
    };
    SUBCASE("there are no Ruby workers") {
        const RunningWorker worker{redis.url()};
        CHECK(forgotten(first_worker));
        CHECK(forgotten(second_worker));
    }
    SUBCASE("the flag sets a mixed deployment") {
        RunningWorker worker{redis.url(), {"--mixed-fleet", "--monitor-interval", "0.05"}};
        CHECK(forgotten(second_worker));
        CHECK(knows_worker(redis, first_worker));
        CHECK_MESSAGE(worker.process().await_error("queue:aux"),
                      "their housekeeping queue is counted");
    }
    SUBCASE("the store URL sets a mixed deployment") {
        const RunningWorker worker{redis.url() + "/?mixed_fleet=yes"};
        CHECK(forgotten(second_worker));
        CHECK(knows_worker(redis, first_worker));
    }
    SUBCASE("a variable sets a mixed deployment, and the store URL sets other options") {
        const RunningWorker worker{
            redis.url() + "/0?timeout=1000", {}, {{"ROUTEMASTER_MIXED_FLEET", "yes"}}};
        CHECK(forgotten(second_worker));
        CHECK(knows_worker(redis, first_worker));
    }
}

TEST_CASE("in a mixed deployment, events must follow the rules of Ruby Routemaster") {
    const test::RedisServer redis;
    const std::vector<std::string> command{
        test::web_binary, "--root-key",    "r",         "--listen", "127.0.0.1:0", "--store",
        redis.url(),      "--mixed-fleet", "--clients", "shop--1"};
    const auto with = [&](std::vector<std::string> flags) {
        flags.insert(flags.begin(), command.begin(), command.end());
        return flags;
    };
    for (const char* flag : {"--event-urls", "--topic-names"}) {
        const auto text = complaint(with({flag, "any"}));
        CHECK(mentions(text, flag));
        CHECK(mentions(text, "--mixed-fleet"));
    }
    test::Process web{command};
    test::HttpClient client{test::announced_port(web.line())};
    const auto reply = client.ask("POST", "/topics/orders.v2",
                                  R"({"type":"create","url":"https://shop.example/1"})",
                                  test::authorization("shop--1"));
    CHECK(reply.status == 400);
    CHECK(reply.body == "bad topic: topic: must be 1 to 64 of a-z and _");
}
