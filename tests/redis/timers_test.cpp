// Timers in the keys of dtimer: routemaster's data, and data that other programs may leave there.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dtimer_scene.hpp"
#include "redis/steps/timer_event.hpp"
#include "routemaster/action_runner.hpp"
#include "routemaster/action_timers.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/runner.hpp"
#include "support/await.hpp"
#include "support/random_value.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using test::DtimerScene;
using test::hello;

TEST_CASE("redis: a timer has the Redis keys of dtimer in every state") {
    DtimerScene s;
    CHECK(s.post("a", Duration{500}, 1) == TimerPosted::posted);
    CHECK(s.keys() == R"(dt:ed
    a = {"text":"hello","id":"a","maxRetries":1}
dt:ei
    a@1795222854191
)");
    s.now += Duration{500};
    const auto taken = s.take();
    REQUIRE(taken.timers.size() == 1);
    CHECK(taken.timers[0] == FiredTimer{.id = "a",
                                        .payload = encode(hello),
                                        .due_at = s.now,
                                        .retries = 0,
                                        .retries_max = 1,
                                        .confirm_by = s.now + Duration{10'000},
                                        .firing = taken.timers[0].firing});
    CHECK(s.keys() == R"(dt:ch
    dt:ch:ours
dt:ed
    a = {"text":"hello","id":"a","maxRetries":1,"_numRetries":0}
dt:et
    a@1795222864191
dt:gl
    expiresAt = 1795222864191
dt:routemaster:listeners
    dt:ch:ours = 1795222864191
dt:routemaster:turn
    latest = 1795222864191
)");
    s.now += Duration{10'000};
    CHECK(s.take().timers.at(0).retries == 1);
    CHECK(s.event("a") == R"({"text":"hello","id":"a","maxRetries":1,"_numRetries":1})");
    s.now += Duration{10'000};
    CHECK(s.take().timers.empty());
    CHECK(s.keys() == R"(dt:ch
    dt:ch:ours
dt:routemaster:dead
    a@1795222874191
dt:routemaster:dead_events
    a = {"text":"hello","id":"a","maxRetries":1,"_numRetries":1}
dt:routemaster:listeners
    dt:ch:ours = 9007199254740991
dt:routemaster:turn
    latest = 9007199254740991
)");
}

TEST_CASE("redis: every payload is stored in an event, and is read back unchanged") {
    const auto same = [](const Value& payload) {
        const auto event = redis::timer_event("a", encode(payload), 3);
        CAPTURE(event);
        CHECK(redis::timer_payload(event) == payload);
    };
    CHECK(redis::timer_event("a", encode(Value{5}), 0) ==
          R"({"_payload":5,"id":"a","maxRetries":0})");
    CHECK(redis::timer_event("a", encode(Value{Value::Map{}}), 2) ==
          R"({"id":"a","maxRetries":2})");
    CHECK(redis::timer_event("\"\n", encode(Value{Value::Map{{"id", 1}}}), 0) ==
          R"({"_payload":{"id":1},"id":"\"\u000a","maxRetries":0})");
    for (const auto* name : {"id", "maxRetries", "_numRetries", "_payload"}) {
        same(Value::Map{{"x", 1}, {name, Value::Array{}}});
    }
    for (const double number : {0.1 + 0.2, 1.0, -0.0, 1e300, 5e-324, 1'790'000'000'000'123.5}) {
        same(number);
    }
    same(std::uint64_t{18'446'744'073'709'551'615U});
    same(std::string{"\0\x1f\"\\", 4});
    Random random{test::seed(1)};
    for (int i = 0; i < 1'000; ++i) same(test::random_value(random));
}

TEST_CASE("redis: every event written by another program has a payload") {
    CHECK(redis::timer_payload(R"({"a":[],"id":"x","maxRetries":1,"_numRetries":2,"b":null})") ==
          Value{Value::Map{{"a", Value::Array{}}, {"b", Value{}}}});
    CHECK(redis::timer_payload("[1,2]") == Value{Value::Array{1, 2}});
    CHECK(redis::timer_payload("no JSON") == Value{"no JSON"});
    CHECK(redis::timer_payload("") == Value{""});
    CHECK(redis::timer_payload("\xff{") == Value{"\xef\xbf\xbd{"});
}

TEST_CASE("redis: a malformed event loses no other event of its batch, and is handed out once") {
    DtimerScene s;
    s.leave("a", R"({"n":1,"id":"a","maxRetries":0})");
    s.leave("b", "[1,2]");
    s.leave("c", "7");
    s.leave("d", R"({"n":4,"id":"d"})");
    s.leave("e", "{ no JSON");
    s.leave("f", R"({"n":6,"id":"f","maxRetries":"2"})");
    s.leave("g", R"({"n":7,"id":"g","maxRetries":1})");
    s.other({"ZADD", "dt:ei", s.text({}), "orphan"});
    const auto taken = s.take("ours", 100);
    std::vector<std::pair<std::string, Value>> got;
    for (const auto& one : taken.timers) {
        got.emplace_back(one.id, decode_value(one.payload).value());
        CHECK((one.confirm_by == never) == (one.id != "g"));
    }
    const auto map = [](int n) { return Value{Value::Map{{"n", n}}}; };
    CHECK(got == std::vector<std::pair<std::string, Value>>{{"a", map(1)},
                                                            {"b", Value::Array{1, 2}},
                                                            {"c", 7},
                                                            {"d", map(4)},
                                                            {"e", "{ no JSON"},
                                                            {"f", map(6)},
                                                            {"g", map(7)}});
    CHECK(s.counts().pending == 0);
    CHECK(s.counts().fired == 1);
    CHECK(s.confirm("g", 0) == TimerConfirmed::confirmed);
    CHECK(s.other({"EXISTS", "dt:ed"}).number == 0);
}

TEST_CASE("redis: a timer that fires again keeps its text, and only _numRetries changes") {
    DtimerScene s;
    const std::vector<std::pair<std::string, std::string>> events{
        {R"({"n":1790000000000123,"a":[],"third":0.3333333333333333,"id":"a","maxRetries":2)", "}"},
        {R"({"id":"a","a":{"_numRetries":5},"s":"\"_numRetries\":1}","maxRetries":2)", "}"},
        {R"({"maxRetries" : 2 , "id":"a" )", "} \n"},
    };
    for (const auto& [head, tail] : events) {
        s.leave("a", head + tail);
        auto timer = s.take().timers.at(0);
        CHECK(timer.retries == 0);
        CHECK(timer.retries_max == 2);
        CHECK(s.event("a") == head + R"(,"_numRetries":0})");
        s.now += Duration{10'000};
        timer = s.take().timers.at(0);
        CHECK(timer.retries == 1);
        CHECK(s.event("a") == head + R"(,"_numRetries":1})");
        CHECK(s.confirm("a", 0) == TimerConfirmed::unknown);
        CHECK(s.confirm("a", 1) == TimerConfirmed::confirmed);
    }
    // The event in Node's format, when Node puts back a timer.
    s.leave("a", R"({"_numRetries":1,"x":"_numRetries","id":"a","maxRetries":3})");
    CHECK(s.take().timers.at(0).retries == 1);
    s.now += Duration{10'000};
    CHECK(s.take().timers.at(0).retries == 2);
    CHECK(s.event("a") == R"({"_numRetries":2,"x":"_numRetries","id":"a","maxRetries":3})");
    s.now += Duration{10'000};
    CHECK(s.take().timers.at(0).retries == 3);
    s.now += Duration{10'000};
    CHECK(s.take().timers.empty());
    CHECK(s.perform(RepostDeadTimers{"dt", "a", s.now}) == Count{1});
    CHECK(s.event("a") == R"({"x":"_numRetries","id":"a","maxRetries":3})");
}

TEST_CASE("redis: any number is a valid due time of an event") {
    DtimerScene s;
    s.leave("long ago", R"({"id":"long ago","maxRetries":0})", "-5.5");
    s.leave("always", R"({"id":"always","maxRetries":0})", "-inf");
    s.leave("never", R"({"id":"never","maxRetries":0})", "inf");
    s.leave("soon", R"({"id":"soon","maxRetries":0})", s.text({}) + ".5");
    const auto all = s.perform(ListTimers{.space = "dt"});
    REQUIRE(all.size() == 4);
    CHECK(all[0].id == "always");
    CHECK(all[1].at == from_milliseconds(-5));
    CHECK(all[2].at == s.now + Duration{1});
    CHECK(all[3].at == due_at_max);
    auto taken = s.take();
    CHECK(taken.timers.size() == 2);
    CHECK(taken.wake_at == s.now + Duration{1});
    s.now += Duration{1};
    taken = s.take();
    CHECK(taken.timers.at(0).id == "soon");
    CHECK(taken.timers.at(0).due_at == s.now);
    CHECK(taken.wake_at == never);
    CHECK(s.perform(CancelTimer{"dt", "never"}) == Removal::removed);
}

TEST_CASE("redis: pages of timers with equal due times list each timer once") {
    DtimerScene s;
    for (int i = 0; i < 250; ++i) s.post("t" + std::to_string(i), Duration{i % 3});
    std::vector<std::string> ids;
    ListTimers page{.space = "dt", .limit = 7};
    for (auto some = s.perform(page); !some.empty(); some = s.perform(page)) {
        for (const auto& timer : some) ids.push_back(timer.id);
        page.from = some.back().at;
        page.after = some.back().id;
        // The last timer of a page may be removed before the next page is read.
        if (ids.size() % 2 == 0) s.perform(CancelTimer{"dt", page.after});
    }
    CHECK(ids.size() == 250);
    std::sort(ids.begin(), ids.end());
    CHECK(std::unique(ids.begin(), ids.end()) == ids.end());
}

TEST_CASE("redis: postponing an unknown timer changes nothing") {
    DtimerScene s;
    CHECK(s.perform(PostponeTimer{"dt", "a", s.now}) == Count{0});
    CHECK(s.perform(CancelTimer{"dt", "a"}) == Removal::unknown);
    CHECK(s.keys().empty());
    s.other({"ZADD", "dt:ei", s.text({}), "orphan"});
    CHECK(s.perform(PostponeTimer{"dt", "orphan", s.now}) == Count{0});
    CHECK_FALSE(s.perform(FindTimer{"dt", "orphan"}));
    CHECK(s.perform(ListTimers{.space = "dt"}).empty());
    CHECK(s.perform(CancelTimer{"dt", "orphan"}) == Removal::unknown);
    CHECK(s.keys().empty());
}

TEST_CASE("redis: a confirmation does not end a timer that was posted again meanwhile") {
    DtimerScene s;
    s.post("a", {}, 1);
    CHECK(s.take().timers.size() == 1);
    SUBCASE(
        "routemaster posts the timer "
        "again") {
        CHECK(s.post("a", Duration{50}, 1) == TimerPosted::replaced);
    }
    SUBCASE("Node posts the timer again, and leaves it among the FIRED timers") {
        s.leave("a", R"({"text":"hello","id":"a","maxRetries":1})", Duration{50});
        CHECK(s.perform(ListTimers{.space = "dt", .state = TimerState::fired}).empty());
    }
    CHECK(s.confirm("a", 0) == TimerConfirmed::unknown);
    CHECK(s.counts().pending == 1);
    CHECK(s.counts().fired == 0);
    s.now += Duration{50};
    CHECK(s.take().timers.at(0).payload == encode(hello));
}

TEST_CASE("redis: a timer posted again by Node is neither retried nor made DEAD") {
    DtimerScene s;
    s.post("a", {}, 1);
    CHECK(s.take().timers.size() == 1);
    s.leave("a", R"({"text":"again","id":"a","maxRetries":1})", Duration{60'000});
    s.now += Duration{10'000};
    CHECK(s.take().timers.empty());
    CHECK(s.event("a") == R"({"text":"again","id":"a","maxRetries":1})");
    CHECK(s.perform(FindTimer{"dt", "a"})->state == TimerState::pending);

    s.post("b", {}, 1);
    for (int i = 0; i < 2; ++i, s.now += Duration{10'000}) CHECK(s.take().timers.size() == 1);
    CHECK(s.take().timers.empty());
    CHECK(s.counts().dead == 1);
    s.leave("b", R"({"id":"b","maxRetries":0})", Duration{60'000});
    CHECK(s.perform(FindTimer{"dt", "b"})->state == TimerState::pending);
    CHECK(s.perform(ListTimers{.space = "dt", .state = TimerState::dead}).empty());
    CHECK(s.perform(RepostDeadTimers{"dt", {}, s.now}) == Count{0});
    CHECK(s.counts().dead == 0);
    CHECK(s.event("b") == R"({"id":"b","maxRetries":0})");
}

TEST_CASE("redis: timers that Node has ended leave few records of time limits behind") {
    DtimerScene s;
    for (int i = 0; i < 500; ++i) {
        const auto id = "t" + std::to_string(i);
        s.post(id, Duration{1'000}, 1, hello, Duration{500});
        s.other({"ZREM", "dt:ei", id});
        s.other({"HDEL", "dt:ed", id});
    }
    CHECK(s.other({"HLEN", "dt:routemaster:confirm"}).number < 50);
}

TEST_CASE("redis: of more than 1,000 DEAD timers the oldest are removed and counted") {
    DtimerScene s;
    const auto die = [&s](const std::string& kind, int how_many) {
        for (int i = 0; i < how_many; ++i) {
            s.other({"ZADD", "dt:et", s.text({}), kind + std::to_string(i)});
            s.other({"HSET", "dt:ed", kind + std::to_string(i), R"({"maxRetries":0})"});
        }
        s.take();
        s.now += Duration{1};
    };
    die("old", 20);
    die("new", 995);
    CHECK(s.counts().dead == 1'000);
    CHECK_FALSE(s.perform(FindTimer{"dt", "old0"}));
    CHECK(s.perform(FindTimer{"dt", "new0"}));
    CHECK(s.other({"HLEN", "dt:routemaster:dead_events"}).number == 1'000);
    const auto counters = s.perform(ListCounters{});
    REQUIRE(counters.size() == 1);
    CHECK(counters[0].key == CounterKey{"timers.forgotten", {{"namespace", "dt"}}});
    CHECK(counters[0].value == 15);
}

TEST_CASE("redis: with a prefix, all keys and channels of a timer begin with the prefix") {
    test::RedisServer server;
    RedisStore store{{.addresses = {server.address()}, .prefix = "shop:"}};
    const auto now = from_milliseconds(1'795'222'853'691);
    const auto watch = store.watch(timer_watch("dt", "ours"), [] {});
    perform(store, TakeTimers{.space = "dt", .listener = "ours"}, now).value();
    perform(store, PostTimer{.space = "dt", .id = "a", .payload = encode(hello), .due_at = now},
            now)
        .value();
    for (const auto& key : server.command({"KEYS", "*"}).list) {
        CHECK(key.text.starts_with("shop:dt:"));
    }
    CHECK(server.command({"PUBSUB", "CHANNELS", "*:ch:*"}).dump() == "[shop:dt:ch:ours]");
    CHECK(perform(store, CountTimers{"dt"}, now).value().listeners == 1);
}

TEST_CASE("redis: each action is done by one of two processes, and a refused action is DEAD") {
    const test::RedisServer server;
    RedisStore store{{.addresses = {server.address()}}};
    RedisStore another{{.addresses = {server.address()}}};
    ActionRunner first{store};
    ActionRunner second{another};
    const Runner running{first};
    const Runner running_too{second};
    Bus bus{store};
    bus.subscriber("billing")
        .subscribe({"refunds"}, {.callback = "https://billing.example/"})
        .value();
    ActionTimers actions{store};
    for (std::int64_t i = 0; i < 50; ++i) {
        actions
            .post(
                PushAction{
                    .queue = "images", .job = {"resize", {}}, .options = {.unique = Unique::off()}},
                Duration{i})
            .value();
    }
    const Event event{
        .topic = "timers", .type = EventType::noop, .data = Value{Value::Map{{"order", 42}}}};
    actions.post(DeliverAction{"billing", event}, Duration{20}).value();
    actions.post(DeliverAction{"nobody", event}, Duration{20}, "lost").value();
    REQUIRE(test::await([&] {
        const auto counts = actions.counts().value();
        return counts.pending + counts.fired == 0;
    }));
    CHECK(JobQueue{store, "images"}.status().value().ready == 50);
    CHECK(bus.subscriber("billing").status().value()->events_queued == 1);
    const auto dead = actions.dead().value();
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].id == "lost");
    CHECK(dead[0].payload == to_value(DeliverAction{"nobody", event}));
    CHECK(dead[0].reason.starts_with("deliver: subscriber: does not exist"));
    const PushAction late{.queue = "images", .job = {"resize", {}}, .options = {.batch = 7}};
    actions.post(late, Duration{0}, "late").value();
    REQUIRE(test::await([&] { return actions.counts().value().dead == 2; }));
    CHECK(actions.peek("late").value()->reason.starts_with("push: batch: there is no batch 7"));
}
