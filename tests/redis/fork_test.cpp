// A store on Redis, in forked children of its process.

#include <doctest/doctest.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "routemaster/delayer.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/store/redis.hpp"
#include "routemaster/timer_listener.hpp"
#include "support/await.hpp"
#include "support/forked_child.hpp"
#include "support/recorded_log.hpp"
#include "support/redis_server.hpp"

using namespace routemaster;
using test::in_child;

TEST_CASE(
    "a forked child neither uses the connections of its parent nor waits for the parent's thread") {
    test::RedisServer server;
    test::RecordedLog log;
    static std::optional<RedisStore> store;
    static std::optional<TimerListener> listener;
    store.emplace(RedisOptions{.addresses = {server.address()}, .log = log.sink()});
    int fired = 0;
    listener.emplace(Delayer{*store, "calls"}.listen([&](const Timer&) { ++fired; }));
    JobQueue jobs{*store, "work"};
    jobs.push({"resize", {0}}).value();
    const auto clients = [&] { return server.info("connected_clients"); };
    const auto before = clients();
    const auto expected =
        "invalid: store: opened by process " + std::to_string(getpid()) + "; open it after fork";

    for (const auto end : {test::ChildEnd::at_once, test::ChildEnd::after_statics}) {
        const auto report = in_child(
            [&]() -> std::string {
                const auto pushed = jobs.push({"resize", {1}});
                if (pushed || test::text_of(pushed.error()) != expected) return "pushed";
                const auto watch = [] { static_cast<void>(store->watch("work", [] {})); };
                if (const auto text = test::thrown_by(watch); text != expected) return text;
                if (end == test::ChildEnd::at_once) {
                    listener.reset();
                    store.reset();
                }
                return "refused";
            },
            end);
        CHECK(report.exited());
        CHECK(report.text == "refused");
        CHECK(jobs.push({"resize", {2}}).has_value());
    }
    CHECK(clients() == before);
    CHECK(jobs.status().value().ready == 2);
    CHECK(log.count(LogLevel::warning, "connection lost") == 0);
    Delayer{*store, "calls"}.post("now", Duration{0}).value();
    CHECK(test::await([&] { return listener->status().handled == 1; }));
    listener.reset();
    store.reset();
}

TEST_CASE("a forked child opens a connection of its own to the same server" *
          doctest::skip(!test::child_may_start_threads)) {
    test::RedisServer server;
    const RedisStore parents{{.addresses = {server.address()}}};
    const auto report = in_child([&]() -> std::string {
        RedisStore own{{.addresses = {server.address()}}};
        return JobQueue{own, "work"}.push({"resize", {1}}) ? "pushed" : "not pushed";
    });
    CHECK(report.exited());
    CHECK(report.text == "pushed");
}
