// Turns among listeners of timers, including Node listeners of dtimer, and the messages to them.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dtimer_scene.hpp"
#include "support/await.hpp"

using namespace routemaster;
using test::DtimerScene;
using test::hello;
using test::RedisClient;

namespace {

/// A Node listener as seen by the server. The test decides whether it obeys its messages.
class ChannelReader {
public:
    ChannelReader(DtimerScene& scene, const std::string& name)
        : client_{scene.server.address()}, channel_{"dt:ch:" + name}, scene_{scene} {
        client_.command({"SUBSCRIBE", channel_});
        join();
    }
    void join() {
        scene_.other({"LREM", "dt:ch", "0", channel_});
        scene_.other({"LPUSH", "dt:ch", channel_});
    }

    /// The messages since the last call.
    std::vector<std::string> messages() {
        // The reply comes after all messages.
        std::vector<std::string> all;
        auto reply = client_.command({"PING"});
        while (reply.list.at(0).text != "pong") {
            all.push_back(reply.list.at(2).text);
            reply = client_.more();
        }
        return all;
    }
    /// The only message since the last call.
    std::string message() {
        const auto all = messages();
        REQUIRE(all.size() == 1);
        return all.front();
    }

private:
    RedisClient client_;
    std::string channel_;
    DtimerScene& scene_;
};

std::string interval(std::int64_t milliseconds) {
    return R"({"interval":)" + std::to_string(milliseconds) + "}";
}

}  // namespace

TEST_CASE("redis: a Node listener is told to wait a millisecond longer, because Node rounds down") {
    DtimerScene s;
    ChannelReader node{s, "node"};
    s.post("a", Duration{300});
    CHECK(node.message() == interval(301));
    CHECK(s.told() == s.text(Duration{300}));
    s.post("later", Duration{301});
    CHECK(node.messages().empty());
    s.post("now", Duration{0});
    CHECK(node.message() == interval(0));
}

TEST_CASE("redis: a timer due only 1 ms earlier than the announced timer is announced, too") {
    DtimerScene s;
    ChannelReader node{s, "node"};
    s.post("a", Duration{300});
    CHECK(node.message() == interval(301));
    s.post("b", Duration{299});
    CHECK(node.message() == interval(300));
}

TEST_CASE("redis: the listener next in turn is notified again when the next timer changes") {
    DtimerScene s;
    ChannelReader node{s, "node"};
    s.post("a", Duration{300});
    s.post("b", Duration{600});
    node.messages();
    SUBCASE("the next timer was cancelled") {
        s.perform(CancelTimer{"dt", "a"});
        CHECK(node.message() == interval(601));
    }
    SUBCASE("the next timer was postponed") {
        s.perform(PostponeTimer{"dt", "a", s.now + Duration{400}});
        CHECK(node.message() == interval(401));
    }
    SUBCASE("the next timer was posted for later") {
        s.post("a", Duration{500});
        CHECK(node.message() == interval(501));
    }
    SUBCASE("another listener took the next timer") {
        s.take();
        s.now += Duration{300};
        CHECK(s.take().timers.size() == 1);
        CHECK(node.message() == interval(301));
    }
    SUBCASE("the next timer was retried, and then confirmed") {
        s.leave("c", R"({"id":"c","maxRetries":1})");
        s.perform(TakeTimers{.space = "dt", .listener = "ours", .confirm_within = Duration{100}});
        CHECK(node.message() == interval(101));
        CHECK(s.confirm("c") == TimerConfirmed::confirmed);
        CHECK(node.message() == interval(301));
    }
}

TEST_CASE("redis: the next listener is notified when the listener before it in turn leaves") {
    DtimerScene s;
    const auto watch = s.store.watch(timer_watch("dt", "ours"), [] {});
    s.take();
    ChannelReader node{s, "node"};
    s.post("a", Duration{300});
    CHECK(node.messages().empty());
    SUBCASE("the listener leaves by its own request") { s.perform(LeaveTimers{"dt", "ours"}); }
    SUBCASE("the listener leaves because it is busy") { s.take("ours", 0); }
    CHECK(node.message() == interval(301));
}

TEST_CASE(
    "redis: a Node listener that does not take the announced timer is moved to the end of the "
    "list") {
    DtimerScene s;
    ChannelReader frozen{s, "frozen"};
    ChannelReader healthy{s, "healthy"};
    s.take();
    s.post("a", Duration{300});
    s.post("b", Duration{600});
    CHECK(frozen.message() == interval(301));
    SUBCASE("the listener stays first while its request may still be under way") {
        s.now += Duration{304};
        CHECK(s.take().timers.size() == 1);
        CHECK(frozen.message() == interval(297));
        CHECK(healthy.messages().empty());
    }
    SUBCASE("another listener polls after the due time plus the grace period") {
        s.now += Duration{305};
        CHECK(s.take().timers.size() == 1);
        CHECK(frozen.messages().empty());
        CHECK(healthy.message() == interval(296));
        CHECK_MESSAGE(s.other({"LINDEX", "dt:ch", "0"}).text == "dt:ch:frozen", "it is the last");
    }
    SUBCASE("the listener stays first when the other listener finds no timer") {
        s.now += Duration{305};
        s.other({"ZREM", "dt:ei", "a"});
        CHECK(s.take().timers.empty());
        CHECK(frozen.message() == interval(296));
        CHECK(healthy.messages().empty());
    }
}

TEST_CASE("redis: when the last listener leaves, no Redis keys of listeners remain") {
    DtimerScene s;
    SUBCASE("there was one listener") { s.take(); }
    SUBCASE("there were two listeners") {
        s.take("other");
        s.take();
        s.perform(LeaveTimers{"dt", "other"});
    }
    CHECK(s.other({"EXISTS", "dt:routemaster:turn"}).number == 1);
    s.perform(LeaveTimers{"dt", "ours"});
    CHECK(s.other({"EXISTS", "dt:routemaster:turn", "dt:routemaster:listeners", "dt:ch"}).number ==
          0);
}

TEST_CASE("redis: a Node listener that took no timer, or did not poll, is notified again") {
    DtimerScene s;
    ChannelReader node{s, "node"};
    s.post("a", Duration{300});
    s.post("b", Duration{900});
    node.messages();
    s.now += Duration{310};
    s.post("c", Duration{5'000});
    CHECK(node.messages().empty());  // The listener's request may be on its way.
    s.now += Duration{10};
    s.post("d", Duration{5'000});
    CHECK(node.message() == interval(0));
    s.post("e", Duration{5'000});
    CHECK(node.messages().empty());
    s.now += Duration{20};
    s.post("f", Duration{5'000});
    CHECK(node.message() == interval(0));
}

TEST_CASE(
    "redis: beside a Node listener, routemaster's listener polls soon after the next due time") {
    DtimerScene s;
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

TEST_CASE("redis: a Node listener is not notified of timers that are due after its next poll") {
    DtimerScene s;
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

TEST_CASE(
    "redis: a silent Node listener moves to the end of the list after a second, and stays in it") {
    DtimerScene s;
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

TEST_CASE("redis: a listener with a lost connection is removed at the next notification") {
    DtimerScene s;
    s.other({"RPUSH", "dt:ch", "dt:ch:gone", "dt:ch:gone too"});
    ChannelReader node{s, "node"};
    s.post("a", Duration{300});
    CHECK(node.message() == interval(301));
    CHECK(s.counts().listeners == 1);
}

TEST_CASE("redis: each listener that polls is in the list of listeners, and keeps its position") {
    DtimerScene s;
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

TEST_CASE("redis: a listener gets each notification, and joins again after a lost connection") {
    DtimerScene s;
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

TEST_CASE("redis: a watch that ended is unsubscribed, while another watch continues") {
    DtimerScene s;
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
