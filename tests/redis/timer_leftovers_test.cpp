// Entries of timers that a step removes together with a timer or a listener.

#include <doctest/doctest.h>

#include <string>

#include "dtimer_scene.hpp"

using namespace routemaster;
using test::DtimerScene;

TEST_CASE("redis: a DEAD timer that is removed leaves neither a reason nor a time limit") {
    DtimerScene s;
    const auto give_up = [&](const std::string& id) {
        s.post(id, Duration{0}, 1, test::hello, Duration{1'000});
        CHECK(s.take().timers.size() == 1);
        CHECK(s.perform(GiveUpTimer{.space = "dt", .id = id, .reason = "no use"}).value == 1);
        CHECK(s.other({"EXISTS", "dt:et"}).number == 0);
    };
    give_up("first");
    const std::string events = "dt:routemaster:dead_events", reason{"\0first", 6};
    CHECK(s.other({"HEXISTS", events, reason}).number == 1);
    CHECK(s.other({"HEXISTS", "dt:routemaster:confirm", "first"}).number == 1);
    SUBCASE("the timer is removed by request") {
        CHECK(s.perform(DropDeadTimers{"dt"}).value == 1);
    }
    SUBCASE("the timer is the oldest of too many") {
        s.other({"EVAL",
                 "for i = 1, 999 do redis.call('ZADD', KEYS[1], ARGV[1], 'other-' .. i) end", "1",
                 "dt:routemaster:dead", s.text(Duration{1'000})});
        s.now += Duration{1'000};
        give_up("last");
        CHECK(s.other({"HEXISTS", "dt:routemaster:confirm", "last"}).number == 1);
    }
    SUBCASE("a timer with its id is posted") {
        CHECK(s.post("first", Duration{100}) == TimerPosted::replaced);
    }
    CHECK(s.other({"HEXISTS", events, "first"}).number == 0);
    CHECK(s.other({"HEXISTS", events, reason}).number == 0);
    CHECK(s.other({"HEXISTS", "dt:routemaster:confirm", "first"}).number == 0);
}

TEST_CASE("redis: a listener of timers that ended without leaving is removed after a minute") {
    DtimerScene s;
    const auto watch = s.store.watch(timer_watch("dt", "ours"), [] {});
    s.take();
    const std::string listeners = "dt:routemaster:listeners";
    s.other({"HSET", listeners, "dt:ch:gone", s.text(Duration{-60'000})});
    s.other({"HSET", listeners, "dt:ch:recent", s.text(Duration{-59'999})});
    s.post("soon", Duration{100});
    CHECK(s.other({"HEXISTS", listeners, "dt:ch:gone"}).number == 0);
    CHECK(s.other({"HEXISTS", listeners, "dt:ch:ours"}).number == 1);
}

TEST_CASE("redis: a Node listener stays next in turn after its last notification became void") {
    DtimerScene s;
    test::RedisClient node{s.server.address()};
    node.command({"SUBSCRIBE", "dt:ch:node"});
    s.other({"LPUSH", "dt:ch", "dt:ch:node"});
    s.post("a", Duration{300});
    CHECK(s.other({"HLEN", "dt:routemaster:turn"}).number == 4);
    s.perform(CancelTimer{"dt", "a"});
    CHECK(s.other({"EXISTS", "dt:routemaster:turn"}).number == 0);
    // Node announces a timer long after the void notification.
    s.now += Duration{2'000};
    s.leave("b", R"({"id":"b"})", Duration{50});
    s.other({"HSET", "dt:gl", "expiresAt", s.text(Duration{50})});
    s.take();
    CHECK(s.other({"LINDEX", "dt:ch", "-1"}).text == "dt:ch:node");
}

TEST_CASE("redis: a timer that is posted again is no longer FIRED") {
    DtimerScene s;
    SUBCASE("routemaster posts the timer") {
        s.post("a", Duration{0}, 1);
        CHECK(s.take().timers.size() == 1);
        CHECK(s.other({"EXISTS", "dt:et"}).number == 1);
        CHECK(s.post("a", Duration{100}, 1) == TimerPosted::replaced);
    }
    SUBCASE("Node posts the timer, and it fires for the last time") {
        s.leave("a", R"({"id":"a","maxRetries":0})");
        s.other({"ZADD", "dt:et", s.text(Duration{10'000}), "a"});
        CHECK(s.take().timers.size() == 1);
    }
    CHECK(s.other({"EXISTS", "dt:et"}).number == 0);
}

TEST_CASE(
    "redis: the record of the latest poll of listeners is removed when each listener was woken") {
    DtimerScene s;
    const auto watch = s.store.watch(timer_watch("dt", "ours"), [] {});
    const auto second = s.store.watch(timer_watch("dt", "other"), [] {});
    s.take("ours");
    s.take("other");
    CHECK(s.other({"HEXISTS", "dt:routemaster:turn", "latest"}).number == 1);
    s.post("soon", Duration{100});
    CHECK(s.other({"HVALS", "dt:routemaster:listeners"}).list.at(0).text.at(0) == 'w');
    CHECK(s.other({"HVALS", "dt:routemaster:listeners"}).list.at(1).text.at(0) == 'w');
    CHECK(s.other({"HEXISTS", "dt:routemaster:turn", "latest"}).number == 0);
}
