// Timers in the keys of dtimer: what stands there, whom it tells, and what others may leave there.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redis/steps/timer_event.hpp"
#include "redis_scene.hpp"
#include "routemaster/action_runner.hpp"
#include "routemaster/action_timers.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/runner.hpp"
#include "support/await.hpp"
#include "support/random_value.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

const Value hello{Value::Map{{"text", "hello"}}};

/// A scene with timers in the namespace of dtimer.
struct TimerScene : RedisScene {
    TimerPosted post(const std::string& id, Duration delay, std::uint32_t retries_max = 0,
                     const Value& payload = hello, Duration confirm_within = {}) {
        return perform(PostTimer{.space = "dt",
                                 .id = id,
                                 .payload = encode(payload),
                                 .due_at = now + delay,
                                 .retries_max = retries_max,
                                 .confirm_within = confirm_within});
    }

    TakenTimers take(const std::string& listener = "ours", std::uint32_t limit = 8) {
        return perform(TakeTimers{.space = "dt", .listener = listener, .limit = limit});
    }

    TimerConfirmed confirm(const std::string& id, std::optional<std::uint32_t> retries = {}) {
        return perform(ConfirmTimer{"dt", id, retries});
    }

    TimerCounts counts() { return perform(CountTimers{"dt"}); }

    /// What another program leaves: an event that is due after a delay.
    void leave(const std::string& id, const std::string& event, const std::string& due_at) {
        other({"ZADD", "dt:ei", due_at, id});
        other({"HSET", "dt:ed", id, event});
    }
    void leave(const std::string& id, const std::string& event, Duration delay = {}) {
        leave(id, event, text(delay));
    }
    [[nodiscard]] std::string event(const std::string& id) {
        return other({"HGET", "dt:ed", id}).text;
    }
    [[nodiscard]] std::string told() { return other({"HGET", "dt:gl", "expiresAt"}).text; }
    [[nodiscard]] std::string text(Duration from_now) const {
        return std::to_string(to_milliseconds(now + from_now));
    }
};

/// A listener of Node, as the server sees it, which does as it is told or does not.
class ChannelReader {
public:
    ChannelReader(TimerScene& scene, const std::string& name)
        : client_{scene.server.address()}, channel_{"dt:ch:" + name}, scene_{scene} {
        client_.command({"SUBSCRIBE", channel_});
        join();
    }
    void join() {
        scene_.other({"LREM", "dt:ch", "0", channel_});
        scene_.other({"LPUSH", "dt:ch", channel_});
    }

    /// The messages since it was asked last.
    std::vector<std::string> messages() {
        // The reply comes behind them.
        std::vector<std::string> all;
        auto reply = client_.command({"PING"});
        while (reply.list.at(0).text != "pong") {
            all.push_back(reply.list.at(2).text);
            reply = client_.more();
        }
        return all;
    }
    /// The one message since then.
    std::string message() {
        const auto all = messages();
        REQUIRE(all.size() == 1);
        return all.front();
    }

private:
    test::RedisClient client_;
    std::string channel_;
    TimerScene& scene_;
};

std::string interval(std::int64_t milliseconds) {
    return R"({"interval":)" + std::to_string(milliseconds) + "}";
}

}  // namespace

TEST_CASE("redis: a timer leaves the keys of dtimer, in every state") {
    TimerScene s;
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

TEST_CASE("redis: every payload stands in an event, and is read again as it was") {
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

TEST_CASE("redis: every event that another program wrote has a payload") {
    CHECK(redis::timer_payload(R"({"a":[],"id":"x","maxRetries":1,"_numRetries":2,"b":null})") ==
          Value{Value::Map{{"a", Value::Array{}}, {"b", Value{}}}});
    CHECK(redis::timer_payload("[1,2]") == Value{Value::Array{1, 2}});
    CHECK(redis::timer_payload("no JSON") == Value{"no JSON"});
    CHECK(redis::timer_payload("") == Value{""});
    CHECK(redis::timer_payload("\xff{") == Value{"\xef\xbf\xbd{"});
}

TEST_CASE("redis: an event that is none costs no other of its batch, and is handed out once") {
    TimerScene s;
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

TEST_CASE("redis: what comes back keeps its text, and only _numRetries is another") {
    TimerScene s;
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
    // As Node writes it, when it puts back a timer.
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

TEST_CASE("redis: an event may have been due at any number") {
    TimerScene s;
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

TEST_CASE("redis: pages of timers with one due time have each of them once") {
    TimerScene s;
    for (int i = 0; i < 250; ++i) s.post("t" + std::to_string(i), Duration{i % 3});
    std::vector<std::string> ids;
    ListTimers page{.space = "dt", .limit = 7};
    for (auto some = s.perform(page); !some.empty(); some = s.perform(page)) {
        for (const auto& timer : some) ids.push_back(timer.id);
        page.from = some.back().at;
        page.after = some.back().id;
        // The last one may go meanwhile.
        if (ids.size() % 2 == 0) s.perform(CancelTimer{"dt", page.after});
    }
    CHECK(ids.size() == 250);
    std::sort(ids.begin(), ids.end());
    CHECK(std::unique(ids.begin(), ids.end()) == ids.end());
}

TEST_CASE("redis: an id that is not there is not postponed, nor put there") {
    TimerScene s;
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

TEST_CASE("redis: a confirmation does not end the timer that was posted meanwhile") {
    TimerScene s;
    s.post("a", {}, 1);
    CHECK(s.take().timers.size() == 1);
    SUBCASE("by us") { CHECK(s.post("a", Duration{50}, 1) == TimerPosted::replaced); }
    SUBCASE("by Node, which leaves it among the FIRED ones") {
        s.leave("a", R"({"text":"hello","id":"a","maxRetries":1})", Duration{50});
        CHECK(s.perform(ListTimers{.space = "dt", .state = TimerState::fired}).empty());
    }
    CHECK(s.confirm("a", 0) == TimerConfirmed::unknown);
    CHECK(s.counts().pending == 1);
    CHECK(s.counts().fired == 0);
    s.now += Duration{50};
    CHECK(s.take().timers.at(0).payload == encode(hello));
}

TEST_CASE("redis: a timer that Node posted again is not put back, nor given up") {
    TimerScene s;
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

TEST_CASE("redis: what Node ended leaves little behind") {
    TimerScene s;
    for (int i = 0; i < 500; ++i) {
        const auto id = "t" + std::to_string(i);
        s.post(id, Duration{1'000}, 1, hello, Duration{500});
        s.other({"ZREM", "dt:ei", id});
        s.other({"HDEL", "dt:ed", id});
    }
    CHECK(s.other({"HLEN", "dt:routemaster:confirm"}).number < 50);
}

TEST_CASE("redis: more than 1,000 DEAD timers are forgotten, the first ones first, and counted") {
    TimerScene s;
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

TEST_CASE("redis: a listener of Node is told a millisecond more, as it rounds down") {
    TimerScene s;
    ChannelReader node{s, "node"};
    s.post("a", Duration{300});
    CHECK(node.message() == interval(301));
    CHECK(s.told() == s.text(Duration{300}));
    s.post("later", Duration{301});
    CHECK(node.messages().empty());
    s.post("now", Duration{0});
    CHECK(node.message() == interval(0));
}

TEST_CASE("redis: a timer that is a little sooner is told, too") {
    TimerScene s;
    ChannelReader node{s, "node"};
    s.post("a", Duration{300});
    CHECK(node.message() == interval(301));
    s.post("b", Duration{299});
    CHECK(node.message() == interval(300));
}

TEST_CASE("redis: whoever has the turn is told again when the next timer is another one") {
    TimerScene s;
    ChannelReader node{s, "node"};
    s.post("a", Duration{300});
    s.post("b", Duration{600});
    node.messages();
    SUBCASE("it was cancelled") {
        s.perform(CancelTimer{"dt", "a"});
        CHECK(node.message() == interval(601));
    }
    SUBCASE("it was postponed") {
        s.perform(PostponeTimer{"dt", "a", s.now + Duration{400}});
        CHECK(node.message() == interval(401));
    }
    SUBCASE("it was posted for later") {
        s.post("a", Duration{500});
        CHECK(node.message() == interval(501));
    }
    SUBCASE("another listener took it") {
        s.take();
        s.now += Duration{300};
        CHECK(s.take().timers.size() == 1);
        CHECK(node.message() == interval(301));
    }
    SUBCASE("it came back, and was confirmed") {
        s.leave("c", R"({"id":"c","maxRetries":1})");
        s.perform(TakeTimers{.space = "dt", .listener = "ours", .confirm_within = Duration{100}});
        CHECK(node.message() == interval(101));
        CHECK(s.confirm("c") == TimerConfirmed::confirmed);
        CHECK(node.message() == interval(301));
    }
}

TEST_CASE("redis: the next listener is told when the one with the turn leaves") {
    TimerScene s;
    const auto watch = s.store.watch(timer_watch("dt", "ours"), [] {});
    s.take();
    ChannelReader node{s, "node"};
    s.post("a", Duration{300});
    CHECK(node.messages().empty());
    SUBCASE("by itself") { s.perform(LeaveTimers{"dt", "ours"}); }
    SUBCASE("because it is busy") { s.take("ours", 0); }
    CHECK(node.message() == interval(301));
}

TEST_CASE("redis: the last listener leaves nothing behind") {
    TimerScene s;
    SUBCASE("of one") { s.take(); }
    SUBCASE("of two") {
        s.take("other");
        s.take();
        s.perform(LeaveTimers{"dt", "other"});
    }
    CHECK(s.other({"EXISTS", "dt:routemaster:turn"}).number == 1);
    s.perform(LeaveTimers{"dt", "ours"});
    CHECK(s.other({"EXISTS", "dt:routemaster:turn", "dt:routemaster:listeners", "dt:ch"}).number ==
          0);
}

TEST_CASE("redis: a listener that took nothing, or did not ask, is told again") {
    TimerScene s;
    ChannelReader node{s, "node"};
    s.post("a", Duration{300});
    s.post("b", Duration{900});
    node.messages();
    s.now += Duration{310};
    s.post("c", Duration{5'000});
    CHECK(node.messages().empty());  // It may be on its way.
    s.now += Duration{10};
    s.post("d", Duration{5'000});
    CHECK(node.message() == interval(0));
    s.post("e", Duration{5'000});
    CHECK(node.messages().empty());
    s.now += Duration{20};
    s.post("f", Duration{5'000});
    CHECK(node.message() == interval(0));
}

TEST_CASE("redis: beside a listener of Node, ours asks soon after the next timer is due") {
    TimerScene s;
    ChannelReader node{s, "node"};
    CHECK(s.take().wake_at == s.now + Duration{2'000});
    s.post("a", Duration{300});
    CHECK(s.take().wake_at == s.now + Duration{305});
    s.perform(PostponeTimer{"dt", "a", s.now + Duration{60'000}});
    CHECK(s.take().wake_at == s.now + Duration{2'000});
    s.other({"HSET", "dt:gl", "baseInterval", "300", "gracePeriod", "40"});
    CHECK(s.take().wake_at == s.now + Duration{600});
    s.perform(PostponeTimer{"dt", "a", s.now + Duration{100}});
    CHECK(s.take().wake_at == s.now + Duration{110});
}

TEST_CASE("redis: a listener of Node is told nothing beyond its next poll") {
    TimerScene s;
    ChannelReader node{s, "node"};
    s.post("a", Duration{981});
    CHECK(node.messages().empty());
    CHECK(s.told().empty());
    s.post("b", Duration{979});
    CHECK(node.message() == interval(980));
    s.perform(CancelTimer{"dt", "b"});
    CHECK(node.messages().empty());
    CHECK(s.told().empty());
}

TEST_CASE("redis: a silent listener of Node loses its turn after a second, and stays") {
    TimerScene s;
    ChannelReader node{s, "node"};
    const auto watch = s.store.watch(timer_watch("dt", "ours"), [] {});
    s.take();
    s.post("a", Duration{300});
    s.post("b", Duration{1'299});
    s.post("c", Duration{1'900});
    const auto first = [&] { return s.other({"LINDEX", "dt:ch", "-1"}).text; };
    s.now += Duration{300};
    CHECK(s.take().timers.size() == 1);
    s.now += Duration{999};
    CHECK(s.take().timers.size() == 1);
    CHECK(first() == "dt:ch:node");
    s.now += Duration{1};
    CHECK(s.take().timers.empty());
    CHECK(first() == "dt:ch:ours");
    CHECK(s.counts().listeners == 2);
}

TEST_CASE("redis: a listener whose connection is gone leaves when it is to be told") {
    TimerScene s;
    s.other({"RPUSH", "dt:ch", "dt:ch:gone", "dt:ch:gone too"});
    ChannelReader node{s, "node"};
    s.post("a", Duration{300});
    CHECK(node.message() == interval(301));
    CHECK(s.counts().listeners == 1);
}

TEST_CASE("redis: whoever asks is among the listeners, and keeps its place") {
    TimerScene s;
    s.take("a");
    s.take("b");
    s.take("c");
    const auto list = [&] { return s.other({"LRANGE", "dt:ch", "0", "-1"}).dump(); };
    CHECK(list() == "[dt:ch:c, dt:ch:b, dt:ch:a]");
    s.take("b");
    CHECK(list() == "[dt:ch:c, dt:ch:b, dt:ch:a]");
    s.other({"LREM", "dt:ch", "0", "dt:ch:b"});
    s.take("b");
    CHECK(list() == "[dt:ch:b, dt:ch:c, dt:ch:a]");
}

TEST_CASE(
    "redis: a listener hears what is published, and joins again when its connection was lost") {
    TimerScene s;
    std::atomic<int> woken = 0;
    const auto watch = s.store.watch(timer_watch("dt", "ours"), [&] { ++woken; });
    CHECK(s.other({"PUBSUB", "NUMSUB", "dt:ch:ours"}).list.at(1).number == 1);
    s.take();
    auto before = woken.load();
    s.post("a", Duration{300});
    CHECK(test::await([&] { return woken > before; }));
    before = woken;
    s.other({"CLIENT", "KILL", "TYPE", "pubsub"});
    CHECK(test::await([&] { return woken > before; }));
    s.take();
    before = woken;
    s.other({"PUBLISH", "dt:ch:ours", "anything"});
    CHECK(test::await([&] { return woken > before; }));
}

TEST_CASE("redis: a watch that ended is not subscribed to, while another goes on") {
    TimerScene s;
    const auto subscribers = [&](const std::string& channel) {
        return s.other({"PUBSUB", "NUMSUB", channel}).list.at(1).number;
    };
    auto one = s.store.watch(timer_watch("dt", "ours"), [] {});
    auto two = s.store.watch(timer_watch("dt", "ours"), [] {});
    const auto other = s.store.watch(timer_watch("dt", "others"), [] {});
    one = {};
    CHECK(subscribers("dt:ch:ours") == 1);
    two = {};
    CHECK(test::await([&] { return subscribers("dt:ch:ours") == 0; }));
    CHECK(subscribers("dt:ch:others") == 1);
}

TEST_CASE("redis: with a prefix, all of a timer stands behind it") {
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

TEST_CASE("redis: of two processes each action is done by one, and what is refused is DEAD") {
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
}
