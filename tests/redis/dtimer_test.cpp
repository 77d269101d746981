// routemaster's listeners together with listeners of dtimer 0.3.3 in real Node processes: see
// tests/node.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis_scene.hpp"
#include "routemaster/clock.hpp"
#include "support/await.hpp"
#include "support/node.hpp"
#include "support/timer_taker.hpp"

using namespace routemaster;
using test::NodePeer;
using test::TimerTaker;

namespace {

/// A server, a store that posts, and listeners of both kinds.
struct Fleet : test::RedisScene {
    TimerPosted post(const std::string& id, Duration delay, std::uint32_t retries_max = 0,
                     const Value& payload = Value::Map{{"text", "hello"}},
                     Duration confirm_within = {}) {
        now = system_clock().now();
        return perform(PostTimer{.space = "dt",
                                 .id = id,
                                 .payload = encode(payload),
                                 .due_at = now + delay,
                                 .retries_max = retries_max,
                                 .confirm_within = confirm_within});
    }
    /// Posts timers, one per `interval`. Returns their due times.
    std::map<std::string, TimePoint> post_many(int count, Duration interval, Duration first) {
        std::map<std::string, TimePoint> due;
        for (int i = 0; i < count; ++i) {
            const auto id = std::to_string(i);
            const auto delay = first + i * interval;
            post(id, delay);
            due[id] = now + delay;
        }
        return due;
    }

    NodePeer node(const std::string& id, bool confirms = false, int confirm_seconds = 10) {
        return {server, {.id = id, .confirms = confirms, .confirm_seconds = confirm_seconds}};
    }
    std::unique_ptr<TimerTaker> ours(const std::string& name, TimerTaker::Settings settings = {}) {
        auto taker = std::make_unique<TimerTaker>(server.address(), name, std::move(settings));
        CHECK(test::await([&] { return taker->asked() > 0; }));
        return taker;
    }
    TimerCounts counts() { return perform(CountTimers{"dt"}); }
};

/// The limit for a timer without a timeout on its way, including delays on a busy machine.
constexpr Duration prompt{600};

/// The lateness of an event. Checks that the event was not early.
Duration late(TimePoint at, TimePoint due_at) {
    CHECK(at >= due_at);
    return at - due_at;
}

}  // namespace

TEST_CASE(
    "redis: dtimer: a timer posted by routemaster fires in Node, with the payload as fields") {
    if (!test::has_node()) return;
    Fleet f;
    auto node = f.node("node");
    f.post("a", Duration{300}, 2, Value::Map{{"n", 1}, {"list", Value::Array{}}});
    f.post("b", Duration{350}, 0, Value::Array{1, "two"});
    const auto a = node.event();
    CHECK(a.event ==
          Value{Value::Map{{"n", 1}, {"list", Value::Array{}}, {"id", "a"}, {"maxRetries", 2}}});
    CHECK(late(a.at, f.now - Duration{50} + Duration{300}) < prompt);
    const auto b = node.event();
    CHECK(b.event ==
          Value{Value::Map{{"_payload", Value::Array{1, "two"}}, {"id", "b"}, {"maxRetries", 0}}});
    CHECK(node.call("confirm", R"(["a"])") == Value{1});
    CHECK(f.counts() == TimerCounts{.listeners = 1});
}

TEST_CASE(
    "redis: dtimer: a timer posted by Node fires in routemaster, as a map without reserved names") {
    if (!test::has_node()) return;
    Fleet f;
    const auto ours = f.ours("ours");
    NodePeer poster{f.server, {}};
    const auto before = system_clock().now();
    const auto id = poster.call("post", R"([{"text":"hello","n":[1,{"id":2}]},300])");
    const auto got = ours->wait_for(*id.get_if<std::string>());
    REQUIRE(got);
    CHECK(
        decode_value(got->timer.payload).value() ==
        Value{Value::Map{{"text", "hello"}, {"n", Value::Array{1, Value{Value::Map{{"id", 2}}}}}}});
    CHECK(late(got->at, got->timer.due_at) < prompt);
    CHECK(got->timer.due_at - before >= Duration{300});
    CHECK(got->timer.confirm_by == never);
    CHECK(f.counts() == TimerCounts{.listeners = 1});
}

TEST_CASE("redis: dtimer: routemaster and Node show, cancel and postpone timers of each other") {
    if (!test::has_node()) return;
    Fleet f;
    NodePeer poster{f.server, {}};
    f.post("a", Duration{60'000});
    poster.call("post", R"([{"id":"b","maxRetries":3},60000])");
    const auto peeked = poster.call("peek", R"(["a"])");
    CHECK(*(*peeked.get_if<Value::Array>()).at(1).find("text") == Value{"hello"});
    const auto found = f.perform(FindTimer{"dt", "b"});
    REQUIRE(found);
    CHECK(found->payload == Value{Value::Map{}});
    CHECK(found->retries_max == 3);
    CHECK(poster.call("changeDelay", R"(["a",30000])") == Value{1});
    CHECK(f.perform(FindTimer{"dt", "a"})->at < f.now + Duration{31'000});
    CHECK(f.perform(PostponeTimer{"dt", "b", f.now + Duration{90'000}}) == Count{1});
    CHECK(poster.call("upcoming").find("b")->find("expireAt")->get_if<std::int64_t>() != nullptr);
    CHECK(poster.call("cancel", R"(["a"])") == Value{1});
    CHECK_FALSE(f.perform(FindTimer{"dt", "a"}));
    CHECK(f.perform(CancelTimer{"dt", "b"}) == Removal::removed);
    CHECK(poster.call("cancel", R"(["b"])") == Value{0});
    CHECK(f.counts() == TimerCounts{});
}

TEST_CASE(
    "redis: dtimer: listeners of routemaster and Node alternate, and no timer is early or "
    "repeated") {
    if (!test::has_node()) return;
    Fleet f;
    auto one = f.node("one");
    auto two = f.node("two");
    const auto ours = f.ours("ours");
    constexpr int count = 90;
    const auto due = f.post_many(count, Duration{25}, Duration{500});
    std::map<std::string, std::size_t> times;
    std::vector<Duration> lateness;
    f.now = system_clock().now() + count * Duration{25} + Duration{500};
    CHECK(test::await([&] { return f.counts().pending == 0; }));
    // The reply to `peek` comes after all events: then all events are known.
    for (auto* node : {&one, &two}) {
        node->call("peek", R"(["nothing"])");
        const auto before = times.size();
        while (auto event = node->event_so_far()) {
            ++times[event->id()];
            lateness.push_back(late(event->at, due.at(event->id())));
        }
        CHECK(times.size() > before);
    }
    // Timers that have left the server may still be on their way to routemaster's listener.
    const auto left = count - times.size();
    CHECK(left > 0);
    CHECK(test::await([&] { return ours->taken().size() >= left; }));
    for (const auto& taken : ours->taken()) {
        ++times[taken.timer.id];
        lateness.push_back(late(taken.at, due.at(taken.timer.id)));
    }
    CHECK(times.size() == count);
    CHECK(std::all_of(times.begin(), times.end(), [](const auto& one) { return one.second == 1; }));
    std::sort(lateness.begin(), lateness.end());
    CHECK(lateness[count / 2] < prompt);
    WARN(lateness[count - 2] < Duration{100});
}

TEST_CASE(
    "redis: dtimer: a timer that Node does not confirm fires in routemaster, and vice versa") {
    if (!test::has_node()) return;
    Fleet f;
    SUBCASE("Node takes the timer and does not confirm it") {
        auto node = f.node("node", false, 1);
        f.post("a", Duration{50}, 1, Value::Map{{"n", 1'790'000'000'000'123}});
        CHECK(node.event().event.find("_numRetries") == nullptr);
        node.kill();
        const auto ours = f.ours("ours");
        const auto got = ours->wait_for("a");
        REQUIRE(got);
        CHECK(got->timer.retries == 1);
        CHECK(late(got->at, got->timer.due_at) < prompt);
        CHECK(test::await([&] { return f.counts() == TimerCounts{.listeners = 1}; }));
    }
    SUBCASE("routemaster takes the timer and does not confirm it") {
        auto ours = f.ours("ours", {.confirms = false, .confirm_within = Duration{1'000}});
        f.post("a", Duration{50}, 2, Value::Map{{"n", 1}});
        CHECK(ours->wait_for("a"));
        ours->leave();
        auto node = f.node("node", true);
        const auto got = node.event();
        CHECK(*got.event.find("_numRetries") == Value{1});
        CHECK(*got.event.find("n") == Value{1});
        CHECK(test::await([&] { return f.counts() == TimerCounts{.listeners = 1}; }));
    }
    SUBCASE("a timer fires until it is DEAD") {
        auto node = f.node("node", false, 1);
        const auto ours = f.ours("ours", {.confirms = false, .confirm_within = Duration{200}});
        f.post("a", Duration{50}, 1, Value{"text"}, Duration{300});
        CHECK(test::await([&] {
            f.now = system_clock().now();
            return f.counts().dead == 1 || f.counts() == TimerCounts{.listeners = 2};
        }));
    }
}

TEST_CASE(
    "redis: an unconfirmed timer fires again on time, even if no listener polls at that time") {
    Fleet f;
    const auto ours = f.ours("ours", {.confirms = false, .confirm_within = Duration{1'200}});
    f.post("a", Duration{50}, 1);
    const auto first = ours->wait_for("a");
    const auto second = ours->wait_for("a", 2);
    REQUIRE(first);
    REQUIRE(second);
    CHECK(second->timer.due_at == first->timer.confirm_by);
    // A listener of dtimer would be 800 ms late.
    CHECK(late(second->at, second->timer.due_at) < prompt);
    CHECK(test::await([&] { return f.counts().dead == 1; }));
}

namespace {

/// The lateness of all timers, sorted, while one of four listeners failed.
template <class Fail>
std::vector<Duration> lateness_when(Fail fail) {
    Fleet f;
    auto one = f.node("one");
    auto two = f.node("two");
    const auto ours = f.ours("ours");
    auto more = f.ours("more");
    const auto due = f.post_many(200, Duration{20}, Duration{500});
    ::usleep(1'500'000);
    fail(one, more);
    CHECK(test::await([&] { return f.counts().pending == 0; }));
    std::map<std::string, Duration> lateness;
    for (const auto* taker : {ours.get(), more.get()}) {
        if (taker == nullptr) continue;
        for (const auto& taken : taker->taken()) {
            lateness[taken.timer.id] = late(taken.at, due.at(taken.timer.id));
        }
    }
    two.call("peek", R"(["nothing"])");
    while (auto event = two.event_so_far()) {
        lateness[event->id()] = late(event->at, due.at(event->id()));
    }
    // The events of the failed Node listener are not read.
    CHECK(lateness.size() > 120);
    std::vector<Duration> all;
    for (const auto& [id, duration] : lateness) all.push_back(duration);
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

TEST_CASE(
    "redis: dtimer: a killed or suspended listener delays other listeners for at most a second") {
    if (!test::has_node()) return;
    using Ours = std::unique_ptr<TimerTaker>;
    std::function<void(NodePeer&, Ours&)> fail;
    SUBCASE("a listener of Node is killed") {
        fail = [](NodePeer& one, Ours&) { one.kill(); };
    }
    SUBCASE("a listener of Node is suspended") {
        fail = [](NodePeer& one, Ours&) { one.freeze(); };
    }
    SUBCASE("a listener of routemaster is killed") {
        fail = [](NodePeer&, Ours& more) { more.reset(); };
    }
    SUBCASE("a listener of routemaster is suspended") {
        fail = [](NodePeer&, Ours& more) { more->freeze(true); };
    }
    // A busy machine may cause the same delay, but not in three runs.
    bool in_time = false;
    for (int i = 0; i < 3 && !in_time; ++i) {
        const auto lateness = lateness_when(fail);
        in_time = lateness[lateness.size() / 2] < Duration{60} && lateness.back() < Duration{1'300};
    }
    CHECK(in_time);
}

TEST_CASE(
    "redis: dtimer: beside a suspended listener, the running listeners share the due timers") {
    if (!test::has_node()) return;
    Fleet f;
    const auto one = f.node("one");
    auto two = f.node("two");
    const auto ours = f.ours("ours");
    constexpr int count = 300;
    f.post_many(count, Duration{10}, Duration{500});
    one.freeze();
    f.now = system_clock().now() + count * Duration{10} + Duration{500};
    CHECK(test::await([&] { return f.counts().pending == 0; }));
    two.call("peek", R"(["nothing"])");
    std::size_t taken = 0;
    while (two.event_so_far()) ++taken;
    MESSAGE(taken, " of ", count, " by Node, ", ours->taken().size(), " here");
    // The suspended listener has a turn of a second, and this listener has about two turns.
    CHECK(taken > count / 12);
}

TEST_CASE("redis: dtimer: after SCRIPT FLUSH the listeners of routemaster keep working") {
    if (!test::has_node()) return;
    Fleet f;
    const auto ours = f.ours("ours");
    f.other({"SCRIPT", "FLUSH"});
    f.post("a", Duration{200}, 1);
    const auto got = ours->wait_for("a");
    REQUIRE(got);
    CHECK(late(got->at, got->timer.due_at) < prompt);
    CHECK(test::await([&] { return f.counts().fired == 0; }));
}

TEST_CASE("redis: dtimer: cancelling, postponing and leaving do not delay listeners of Node") {
    if (!test::has_node()) return;
    Fleet f;
    auto node = f.node("node");
    const auto expect_prompt = [&](const std::string& id, TimePoint due_at) {
        const auto got = node.event();
        CHECK(got.id() == id);
        // dtimer alone would be 700 ms late, or 1.5 s.
        CHECK(late(got.at, due_at) < prompt);
    };
    SUBCASE("the next timer is cancelled") {
        f.post("a", Duration{2'000});
        f.post("b", Duration{2'300});
        const auto due_at = f.now + Duration{2'300};
        f.perform(CancelTimer{"dt", "a"});
        expect_prompt("b", due_at);
    }
    SUBCASE("the next timer is postponed") {
        f.post("a", Duration{2'000});
        f.perform(PostponeTimer{"dt", "a", f.now + Duration{2'300}});
        expect_prompt("a", f.now + Duration{2'300});
    }
    SUBCASE("the notified listener leaves") {
        const auto ours = f.ours("ours");
        f.other({"LREM", "dt:ch", "0", "dt:ch:ours"});
        f.other({"RPUSH", "dt:ch", "dt:ch:ours"});
        f.post("b", Duration{2'000});
        const auto due_at = f.now + Duration{2'000};
        ours->leave();
        expect_prompt("b", due_at);
    }
}
