/// @file
/// The functions of a namespace of timers.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/follow_ups.hpp"
#include "routemaster/testing/faulty_store.hpp"
#include "support/timer_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

std::vector<std::string> ids_of(const std::vector<TimerStatus>& timers) {
    std::vector<std::string> ids;
    for (const auto& timer : timers) ids.push_back(timer.id);
    return ids;
}

}  // namespace

TEST_CASE("a posted timer can be found, with its settings") {
    TimerScene scene;
    const auto posted = scene.calls.post(Value::Map{{"to", "Ada"}}, Duration{1'500},
                                         {.id = "a/1", .retries_max = 3});
    CHECK(posted.value() == PostedTimer{"a/1", TimerPosted::posted});
    const auto found = scene.calls.peek("a/1").value();
    REQUIRE(found);
    CHECK(*found == TimerStatus{.id = "a/1",
                                .payload = Value::Map{{"to", "Ada"}},
                                .state = TimerState::pending,
                                .at = scene.clock.now() + Duration{1'500},
                                .retries = 0,
                                .retries_max = 3});
    CHECK(!scene.calls.peek("a/2").value());
    const auto at = scene.clock.now() + Duration{60'000};
    CHECK(scene.calls.post("later", at, {.id = "b"}).value().outcome == TimerPosted::posted);
    CHECK(scene.calls.peek("b").value()->at == at);
}

TEST_CASE("a timer without an id gets a generated id") {
    TimerScene scene;
    const auto a = scene.post("a");
    const auto b = scene.post("b");
    CHECK(a.size() == Uid::length);
    CHECK(a != b);
    CHECK(scene.counts().pending == 2);
}

TEST_CASE("a post with an existing id replaces the timer, and the result reports this") {
    TimerScene scene;
    scene.post("old", Duration{1'000}, {.id = "a"});
    CHECK(scene.calls.post("new", Duration{5'000}, {.id = "a"}).value().outcome ==
          TimerPosted::replaced);
    CHECK(scene.counts().pending == 1);
    const auto found = scene.calls.peek("a").value();
    CHECK(found->payload == Value{"new"});
    CHECK(found->at == scene.clock.now() + Duration{5'000});
}

TEST_CASE(
    "a timer with a negative delay is due now, and with an endless delay at the last instant") {
    TimerScene scene;
    scene.post("now", Duration{-5}, {.id = "now"});
    scene.post("now", Duration{std::numeric_limits<std::int64_t>::min()}, {.id = "min"});
    scene.post("never", Duration{std::numeric_limits<std::int64_t>::max()}, {.id = "max"});
    CHECK(scene.calls.peek("now").value()->at == scene.clock.now());
    CHECK(scene.calls.peek("min").value()->at == scene.clock.now());
    CHECK(scene.calls.peek("max").value()->at == due_at_max);
    CHECK(scene.calls.postpone("now", Duration{std::numeric_limits<std::int64_t>::max()}).value());
    CHECK(scene.calls.peek("now").value()->at == due_at_max);
}

TEST_CASE("an invalid post is refused with the name of the field, and changes nothing") {
    TimerScene scene;
    const auto refused = [&](const TimerPost& post, const std::string& field) {
        const auto reply = post.at ? scene.calls.post(post.payload, *post.at, post.options)
                                   : scene.calls.post(post.payload, post.delay, post.options);
        REQUIRE(!reply);
        CHECK(reply.error().code() == Errc::invalid);
        CHECK(reply.error().context().find(field) != std::string::npos);
        CHECK(scene.calls.check(post).error() == reply.error());
    };
    refused({.payload = "\xff"}, "payload");
    refused({.payload = std::string(timer_bytes_max + 1, 'a')}, "payload");
    refused({.payload = 1, .options = {.id = std::string(timer_id_length_max + 1, 'a')}}, "id");
    refused({.payload = 1, .options = {.id = std::string{"a\0b", 3}}}, "id");
    refused({.payload = 1, .options = {.retries_max = timer_retries_max + 1}}, "retries_max");
    refused({.payload = 1, .options = {.confirm_within = Duration{-1}}}, "confirm_within");
    refused({.payload = 1, .options = {.confirm_within = Duration{1}}},
            "confirm_within: is allowed only with retries");
    refused({.payload = 1, .at = TimePoint::max()}, "due_at");
    CHECK(scene.counts() == TimerCounts{});
    Delayer bad{scene.memory, "no space", scene.clock};
    CHECK(bad.post(1, Duration{0}).error().code() == Errc::invalid);
    CHECK(bad.counts().error().code() == Errc::invalid);
    CHECK_THROWS_AS((TimerListener{scene.memory, "no space", TimerHandler{[](const Timer&) {}}}),
                    Failure);
}

TEST_CASE("an invalid id is refused by every call that names a timer") {
    TimerScene scene;
    for (const auto& id : {std::string{}, std::string(timer_id_length_max + 1, 'a'),
                           std::string{"a\0b", 3}, std::string{"\xff"}}) {
        const auto refused = [](const auto& reply) {
            return !reply && reply.error().code() == Errc::invalid &&
                   reply.error().context().starts_with("id:");
        };
        CHECK(refused(scene.calls.cancel(id)));
        CHECK(refused(scene.calls.postpone(id, Duration{5})));
        CHECK(refused(scene.calls.peek(id)));
        CHECK(refused(scene.calls.confirm(id)));
        CHECK(refused(scene.calls.confirm(id, {}, {})));
        CHECK(refused(scene.calls.complete(id, 0, {}, {})));
        CHECK(refused(scene.calls.repost_dead(id)));
        CHECK(refused(scene.calls.drop_dead(id)));
        int calls = 0;
        const auto count = [&](const Result<TimerConfirmed>& reply) {
            calls += refused(reply) ? 1 : 0;
        };
        scene.calls.confirm(id, {}, {}, count);
        scene.calls.complete(id, 0, {}, {}, count);
        CHECK(calls == 2);
    }
}

TEST_CASE("many timers are posted in one submission, each with its own result") {
    TimerScene scene;
    scene.post("old", Duration{0}, {.id = "c"});
    const std::vector<TimerPost> posts{
        {.payload = "a", .delay = Duration{100}},
        {.payload = "\xff"},
        {.payload = "c", .at = scene.clock.now() + Duration{50}, .options = {.id = "c"}}};
    const auto results = scene.calls.post_many(posts);
    REQUIRE(results.size() == 3);
    CHECK(results[0].value().outcome == TimerPosted::posted);
    CHECK(results[1].error().code() == Errc::invalid);
    CHECK(results[2].value() == PostedTimer{"c", TimerPosted::replaced});
    CHECK(ids_of(scene.calls.upcoming().value()) ==
          std::vector<std::string>{"c", results[0].value().id});
    CHECK(scene.calls.post_many({}).empty());
}

TEST_CASE("a post whose reply was lost is in doubt, and is not repeated") {
    TimerScene scene;
    testing::FaultyStore faulty{scene.memory};
    Delayer calls{faulty, "calls", scene.clock};
    faulty.script({testing::Fault::lost_reply});
    CHECK(calls.post("a", Duration{0}, {.id = "a"}).error().code() == Errc::timed_out);
    CHECK(calls.post("a", Duration{0}, {.id = "a"}).value().outcome == TimerPosted::replaced);
    CHECK(calls.counts().value().pending == 1);
    // `postpone` may be repeated, `cancel` may not.
    faulty.script({testing::Fault::lost_reply});
    CHECK(calls.postpone("a", Duration{5}).value());
    faulty.script({testing::Fault::lost_request});
    CHECK(calls.cancel("a").error().code() == Errc::unavailable);
}

TEST_CASE("a waiting timer is cancelled or postponed") {
    TimerScene scene;
    scene.post("a", Duration{100}, {.id = "a"});
    CHECK(scene.calls.postpone("a", Duration{500}).value());
    CHECK(scene.calls.peek("a").value()->at == scene.clock.now() + Duration{500});
    const auto at = scene.clock.now() + Duration{20};
    CHECK(scene.calls.postpone("a", at).value());
    CHECK(scene.calls.peek("a").value()->at == at);
    CHECK(scene.calls.cancel("a").value() == Removal::removed);
    CHECK(scene.calls.cancel("a").value() == Removal::unknown);
    CHECK(!scene.calls.postpone("a", Duration{5}).value());
    CHECK(scene.counts() == TimerCounts{});
}

TEST_CASE("timers due within a span are listed in the order of their due times") {
    TimerScene scene;
    scene.post("overdue", Duration{0}, {.id = "overdue"});
    scene.clock.advance(Duration{10'000});
    scene.post("b", Duration{2'000}, {.id = "b"});
    scene.post("a", Duration{1'000}, {.id = "a"});
    scene.post("c", Duration{3'000}, {.id = "c"});
    using Ids = std::vector<std::string>;
    CHECK(ids_of(scene.calls.upcoming().value()) == Ids{"overdue", "a", "b", "c"});
    CHECK(ids_of(scene.calls.upcoming({.limit = 2}).value()) == Ids{"overdue", "a"});
    CHECK(ids_of(scene.calls.upcoming({.offset = Duration{0}}).value()) == Ids{"a", "b", "c"});
    CHECK(ids_of(scene.calls.upcoming({.duration = Duration{1'500}}).value()) ==
          Ids{"overdue", "a"});
    CHECK(ids_of(scene.calls.upcoming({.offset = Duration{1'500}, .duration = Duration{1'000}})
                     .value()) == Ids{"b"});
    CHECK(scene.calls.upcoming({.limit = 0}).error().code() == Errc::invalid);
}

TEST_CASE("timers are listed by state, page by page") {
    TimerScene scene;
    for (int i = 0; i < 5; ++i) {
        scene.post(i, Duration{100}, {.id = std::string(1, static_cast<char>('a' + i))});
    }
    auto page = scene.calls.list(TimerState::pending, {.limit = 2}).value();
    REQUIRE(ids_of(page) == std::vector<std::string>{"a", "b"});
    page = scene.calls.list(TimerState::pending, TimerPage::following(page.back(), 2)).value();
    REQUIRE(ids_of(page) == std::vector<std::string>{"c", "d"});
    page = scene.calls.list(TimerState::pending, TimerPage::following(page.back(), 2)).value();
    CHECK(ids_of(page) == std::vector<std::string>{"e"});
    CHECK(scene.calls.list(TimerState::dead).value().empty());
}

TEST_CASE("DEAD timers are kept, posted again and dropped") {
    TimerScene scene;
    HandListener listener{scene, {.confirm_within = Duration{100}}, [](const Timer& timer) {
                              if (timer.payload != Value{"good"}) throw std::runtime_error{"no"};
                          }};
    for (const char* id : {"a", "b", "c"})
        scene.post(id, Duration{0}, {.id = id, .retries_max = 1});
    listener.run_for(Duration{1'000});
    CHECK(listener.got.size() == 6);
    const auto dead = scene.calls.dead().value();
    CHECK(ids_of(dead) == std::vector<std::string>{"a", "b", "c"});
    CHECK(dead[0].state == TimerState::dead);
    CHECK(dead[0].payload == Value{"a"});
    CHECK(ids_of(scene.calls.dead({.limit = 1}).value()) == std::vector<std::string>{"a"});
    CHECK(scene.calls.repost_dead("b", Duration{10'000}).value() == 1);
    CHECK(scene.calls.repost_dead("b").value() == 0);
    CHECK(scene.calls.peek("b").value()->at == scene.clock.now() + Duration{10'000});
    CHECK(scene.calls.drop_dead("a").value() == 1);
    CHECK(scene.calls.drop_dead("a").value() == 0);
    CHECK(scene.calls.repost_dead({}).value() == 1);
    CHECK(scene.counts().pending == 2);
    listener.run_for(Duration{500});
    CHECK(scene.calls.drop_dead({}).value() == 1);
    CHECK(scene.counts().dead == 0);
}

TEST_CASE("each call about timers also exists with a completion, and with an equal result") {
    TimerScene scene;
    int calls = 0;
    scene.calls.post("a", Duration{100}, {.id = "a"}, [&](const Result<PostedTimer>& reply) {
        CHECK(reply.value() == PostedTimer{"a", TimerPosted::posted});
        ++calls;
    });
    scene.calls.post("a", scene.clock.now(), {.id = "a"}, [&](const Result<PostedTimer>& reply) {
        CHECK(reply.value().outcome == TimerPosted::replaced);
        ++calls;
    });
    const std::vector<TimerPost> posts{{.payload = 1, .options = {.id = "b"}}};
    scene.calls.post_many(posts, [&](const std::vector<Result<PostedTimer>>& replies) {
        CHECK(replies.at(0).value().id == "b");
        ++calls;
    });
    scene.calls.postpone("a", Duration{5}, [&](const Result<bool>& reply) {
        CHECK(reply.value());
        ++calls;
    });
    scene.calls.postpone("a", scene.clock.now() + Duration{1}, [&](const Result<bool>& reply) {
        CHECK(reply.value());
        ++calls;
    });
    scene.calls.peek("a", [&](const Result<std::optional<TimerStatus>>& reply) {
        CHECK(reply.value()->at == scene.clock.now() + Duration{1});
        ++calls;
    });
    scene.calls.upcoming({}, [&](const Result<std::vector<TimerStatus>>& reply) {
        CHECK(reply.value().size() == 2);
        ++calls;
    });
    scene.calls.list(TimerState::fired, {}, [&](const Result<std::vector<TimerStatus>>& reply) {
        CHECK(reply.value().empty());
        ++calls;
    });
    scene.calls.dead({}, [&](const Result<std::vector<TimerStatus>>& reply) {
        CHECK(reply.value().empty());
        ++calls;
    });
    scene.calls.counts([&](const Result<TimerCounts>& reply) {
        CHECK(reply.value().pending == 2);
        ++calls;
    });
    scene.calls.confirm("a", 0, {}, [&](const Result<TimerConfirmed>& reply) {
        CHECK(reply.value() == TimerConfirmed::unknown);
        ++calls;
    });
    scene.calls.repost_dead({}, Duration{0}, [&](const Result<std::uint64_t>& reply) {
        CHECK(reply.value() == 0);
        ++calls;
    });
    scene.calls.drop_dead({}, [&](const Result<std::uint64_t>& reply) {
        CHECK(reply.value() == 0);
        ++calls;
    });
    scene.calls.cancel("a", [&](const Result<Removal>& reply) {
        CHECK(reply.value() == Removal::removed);
        ++calls;
    });
    CHECK(calls == 14);
}
