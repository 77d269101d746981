/// @file
/// Listeners of timers, on a manual clock.

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/follow_ups.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/reject.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/testing/faulty_store.hpp"
#include "support/timer_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a timer fires at its due time, and not one millisecond sooner") {
    TimerScene scene;
    HandListener listener{scene};
    const auto due = scene.clock.now() + Duration{2'000};
    scene.post("a", Duration{2'000}, {.id = "a"});
    listener.run_for(Duration{1'999});
    CHECK(listener.got.empty());
    listener.run_for(Duration{1});
    REQUIRE(listener.got.size() == 1);
    const auto& [timer, at] = listener.got[0];
    CHECK(timer == Timer{.space = "calls", .id = "a", .payload = "a", .due_at = due});
    CHECK(at == due);
    CHECK(scene.counts().pending + scene.counts().fired == 0);
    CHECK(listener.listener.status() == TimerListenerStatus{.taken = 1, .handled = 1});
}

TEST_CASE("a timer posted during the sleep of its listener wakes the listener") {
    TimerScene scene;
    HandListener listener{scene};
    scene.post("late", Duration{60'000});
    listener.run();
    scene.post("soon", Duration{10});
    listener.run();
    CHECK(listener.runner.next() == scene.clock.now() + Duration{10});
    listener.run_for(Duration{10});
    CHECK(listener.texts() == Texts{"soon"});
}

TEST_CASE("timers with large payloads arrive in chunks, without a wait between chunks") {
    TimerScene scene;
    HandListener listener{scene, {.concurrency = 100}};
    for (int i = 0; i < 100; ++i) scene.post(std::string(65'000, 'x'));
    listener.run();
    CHECK(listener.got.size() == 100);
}

TEST_CASE("a confirmed timer fires once, and an unconfirmed timer fires repeatedly") {
    TimerScene scene;
    int failures = 2;
    HandListener listener{scene, {.confirm_within = Duration{500}}, [&](const Timer& timer) {
                              if (timer.payload == Value{"bad"} && failures-- > 0) {
                                  throw std::runtime_error{"not now"};
                              }
                          }};
    const auto begin = scene.clock.now();
    scene.post("good", Duration{0}, {.id = "good", .retries_max = 5});
    scene.post("bad", Duration{0}, {.id = "bad", .retries_max = 5});
    listener.run_for(Duration{3'000});
    REQUIRE(listener.texts() == Texts{"bad", "good", "bad", "bad"});
    CHECK(listener.got[0].timer.confirm_by == begin + Duration{500});
    CHECK(listener.got[2].at == begin + Duration{500});
    CHECK(listener.got[2].timer.retries == 1);
    CHECK(listener.got[3].at == begin + Duration{1'000});
    CHECK(listener.got[3].timer.retries == 2);
    CHECK(scene.counts().pending + scene.counts().fired + scene.counts().dead == 0);
    CHECK(scene.log.count(LogLevel::warning,
                          "timer bad of calls failed, and it fires again: not now") == 2);
    CHECK(listener.listener.status() == TimerListenerStatus{.taken = 4, .handled = 2, .failed = 2});
}

TEST_CASE("a timer can set the time limit for its own confirmation") {
    TimerScene scene;
    HandListener listener{scene, {}, [](const Timer&) { throw 42; }};
    const auto begin = scene.clock.now();
    scene.post("a", Duration{0}, {.retries_max = 1, .confirm_within = Duration{30}});
    listener.run_for(Duration{100});
    REQUIRE(listener.got.size() == 2);
    CHECK(listener.got[1].at == begin + Duration{30});
    CHECK(listener.got[1].timer.last());
    CHECK(scene.counts().dead == 1);
    CHECK(scene.log.count(LogLevel::warning, "it becomes DEAD: the handler threw something") == 1);
}

TEST_CASE("a timer whose time limit was over before its handler began fires again") {
    TimerScene scene;
    HandListener listener{
        scene, {.concurrency = 2, .confirm_within = Duration{500}}, [&](const Timer& timer) {
            if (timer.retries == 0) scene.clock.advance(Duration{600});
        }};
    scene.post("slow", Duration{0}, {.id = "a", .retries_max = 1});
    scene.post("late", Duration{0}, {.id = "b", .retries_max = 1});
    listener.run();
    CHECK(scene.log.count(LogLevel::warning, "its deadline passed before its handler began") == 1);
    listener.run_for(Duration{5'000});
    const auto texts = listener.texts();
    CHECK(std::count(texts.begin(), texts.end(), "late") == 1);
    CHECK(scene.counts().pending + scene.counts().fired + scene.counts().dead == 0);
}

TEST_CASE("a timer rejected by its handler is DEAD at once, even with retries left") {
    TimerScene scene;
    HandListener listener{scene, {}, [](const Timer&) { throw Reject{"no such order"}; }};
    scene.store.refuse<GiveUpTimer>(2);
    scene.post("a", Duration{0}, {.id = "a", .retries_max = 5});
    scene.post("b", Duration{0}, {.id = "b"});
    listener.run_for(Duration{60'000});
    CHECK(listener.got.size() == 2);
    CHECK(scene.counts().dead == 1);
    CHECK(scene.counts().pending + scene.counts().fired == 0);
    CHECK(scene.log.count(LogLevel::warning,
                          "timer a of calls failed, and it becomes DEAD: no such order") == 1);
    CHECK(scene.calls.peek("a").value()->reason == "no such order");
    CHECK(scene.log.count(LogLevel::warning,
                          "timer b of calls failed, and it does not fire again: no such order") ==
          1);
    CHECK(listener.listener.status() == TimerListenerStatus{.taken = 2, .failed = 2});
}

TEST_CASE("a timer is rejected by its responder, or by an exception of its handler") {
    TimerScene scene;
    TimerListener listener{scene.store, "calls",
                           AsyncTimerHandler{[](const TimerResponder& responder) {
                               if (responder.timer().id == "a") return responder.reject("no");
                               throw Reject{"never"};
                           }},
                           scene.complete({.concurrency = 2})};
    HandRunner runner{listener};
    for (const char* id : {"a", "b"}) scene.post(id, Duration{0}, {.id = id, .retries_max = 5});
    runner.run(scene.clock.now());
    CHECK(scene.counts().dead == 2);
    CHECK(scene.calls.peek("a").value()->reason == "no");
    CHECK(scene.calls.peek("b").value()->reason == "never");
    CHECK(scene.log.count(LogLevel::warning, "it becomes DEAD: no") == 1);
    CHECK(scene.log.count(LogLevel::warning, "it becomes DEAD: never") == 1);
}

TEST_CASE("a timer without retries is removed however its handler ends") {
    TimerScene scene;
    HandListener listener{scene, {}, [](const Timer&) { throw std::runtime_error{"no\n\x1b[2J"}; }};
    scene.post("a", Duration{0}, {.id = "a"});
    listener.run_for(Duration{60'000});
    CHECK(listener.got.size() == 1);
    CHECK(scene.counts().dead == 0);
    CHECK(scene.log.count(LogLevel::warning,
                          "timer a of calls failed, and it does not fire again: no  [2J") == 1);
}

TEST_CASE("timers due at once arrive in order, as many at a time as there are slots") {
    TimerScene scene;
    for (int i = 9; i >= 0; --i) scene.post(std::to_string(i), Duration{i});
    HandListener listener{scene, {.concurrency = 3}};
    scene.clock.advance(Duration{10});
    listener.run();
    CHECK(listener.texts() == Texts{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
    CHECK(scene.store.times_of<TakeTimers>().size() >= 4);
}

TEST_CASE("an asynchronous handler confirms later, and its slot is taken until then") {
    TimerScene scene;
    std::vector<TimerResponder> kept;
    TimerListener listener{
        scene.store, "calls",
        AsyncTimerHandler{[&](const TimerResponder& responder) { kept.push_back(responder); }},
        scene.complete({.concurrency = 2})};
    HandRunner runner{listener};
    for (const char* id : {"a", "b", "c"})
        scene.post(id, Duration{0}, {.id = id, .retries_max = 1});
    runner.run(scene.clock.now());
    REQUIRE(kept.size() == 2);
    CHECK(listener.status().running == 2);
    CHECK(scene.counts().fired == 2);
    kept[0].confirm();
    kept[0].fail("too late to say so");
    runner.run(scene.clock.now());
    REQUIRE(kept.size() == 3);
    CHECK(kept[2].timer().id == "c");
    kept[1].fail("no");
    kept.pop_back();  // The responder ends without a report.
    runner.run(scene.clock.now());
    CHECK(listener.status() == TimerListenerStatus{.taken = 3, .handled = 1, .failed = 2});
    CHECK(scene.counts().fired == 2);
    CHECK(scene.log.count(LogLevel::warning, "the handler ended without a report") == 1);
    CHECK(scene.log.count(LogLevel::warning, "too late to say so") == 0);
}

TEST_CASE("a report of a responder after the end of its listener is ignored") {
    TimerScene scene;
    std::optional<TimerResponder> kept;
    {
        TimerListener listener{
            scene.store, "calls",
            AsyncTimerHandler{[&](TimerResponder responder) { kept = std::move(responder); }},
            scene.complete({})};
        HandRunner runner{listener};
        scene.post("a", Duration{0}, {.retries_max = 1});
        runner.run(scene.clock.now());
        listener.close(scene.clock.now());
        runner.wake();
        runner.run(scene.clock.now());
        CHECK(listener.closed());
    }
    REQUIRE(kept);
    CHECK(kept->timer().push("next", Job{"a"}).error().code() == Errc::invalid);
    kept->confirm();
    CHECK(scene.counts().fired == 1);
}

TEST_CASE("a listener without free slots reports this, and the next listener gets the timers") {
    TimerScene scene;
    std::vector<TimerResponder> kept;
    TimerListener busy{
        scene.store, "calls",
        AsyncTimerHandler{[&](const TimerResponder& responder) { kept.push_back(responder); }},
        scene.complete({.name = "busy"})};
    HandRunner runner{busy};
    scene.post("first");
    runner.run(scene.clock.now());
    REQUIRE(kept.size() == 1);
    scene.post("second");
    runner.run(scene.clock.now());
    scene.clock.advance(Duration{2});
    runner.run(scene.clock.now());
    // A busy listener is not one of the listeners.
    CHECK(scene.counts().listeners == 0);
    HandListener other{scene, {.name = "other"}};
    other.run();
    CHECK(other.texts() == Texts{"second"});
    scene.post("third", Duration{100});
    other.run_for(Duration{100});
    CHECK(other.texts() == Texts{"second", "third"});
    kept[0].confirm();
    runner.run(scene.clock.now());
    CHECK(scene.counts().listeners == 2);
}

TEST_CASE("listeners of one namespace take turns") {
    TimerScene scene;
    HandListener a{scene, {.name = "a"}};
    HandListener b{scene, {.name = "b"}};
    HandListener c{scene, {.name = "c"}};
    for (int i = 1; i <= 30; ++i) scene.post(std::to_string(i), Duration{100 * i});
    run_all_for(scene, {&a, &b, &c}, Duration{4'000});
    CHECK(a.got.size() + b.got.size() + c.got.size() == 30);
    for (const auto* each : {&a, &b, &c}) CHECK(each->got.size() >= 8);
    for (const auto* each : {&a, &b, &c}) {
        for (const auto& [timer, at] : each->got) CHECK(at == timer.due_at);
    }
}

TEST_CASE("timers of a silent listener reach the next listener after the allowed silence") {
    TimerScene scene;
    HandListener dead{scene, {.name = "dead"}};
    HandListener alive{scene, {.name = "alive"}};
    scene.post("a", Duration{1'000});
    dead.run();
    alive.run();
    alive.run_for(Duration{1'000} + timer_listener_silence + Duration{100});
    CHECK(alive.texts() == Texts{"a"});
}

TEST_CASE("when the clock is set forward, overdue timers fire in order") {
    TimerScene scene;
    HandListener listener{scene, {.concurrency = 10}};
    scene.post("b", Duration{20'000});
    scene.post("a", Duration{10'000});
    scene.post("c", Duration{86'400'000});
    listener.run();
    scene.clock.advance(Duration{3'600'000});
    listener.run();
    CHECK(listener.texts() == Texts{"a", "b"});
}

TEST_CASE("when the clock is set back, no timer fires twice or early") {
    TimerScene scene;
    int failures = 1;
    HandListener listener{scene, {}, [&](const Timer&) {
                              if (failures-- > 0) throw std::runtime_error{"no"};
                          }};
    scene.post("again", Duration{1'000}, {.retries_max = 3});
    scene.post("once", Duration{1'001});
    listener.run_for(Duration{1'002});
    CHECK(listener.texts() == Texts{"again", "once"});
    scene.post("later", Duration{5'000});
    scene.clock.advance(Duration{-3'600'000});
    listener.runner.wake();
    listener.run_for(Duration{3'600'000});
    CHECK(listener.texts() == Texts{"again", "once"});
    listener.run_for(Duration{60'000});
    CHECK(listener.texts() == Texts{"again", "once", "later", "again"});
}

TEST_CASE("after the clock was set back, a listener polls as often as before") {
    TimerScene scene;
    HandListener listener{scene, {.poll_interval = Duration{1'000}}};
    listener.run();
    scene.clock.advance(Duration{-3'600'000});
    listener.runner.wake();
    listener.run();
    CHECK(listener.runner.next() <= scene.clock.now() + Duration{1'000});
}

TEST_CASE("a listener with a failing store retries after growing waits, and logs this once") {
    TimerScene scene;
    HandListener listener{scene};
    scene.post("a");
    scene.store.refuse<TakeTimers>(6);
    listener.run_for(Duration{10'000});
    CHECK(listener.texts() == Texts{"a"});
    CHECK(scene.log.count(LogLevel::warning, "cannot take timers of calls") == 1);
    scene.store.refuse<TakeTimers>(1'000);
    listener.run_for(Duration{7'000});
    CHECK(listener.listener.trouble()->starts_with("cannot take timers"));
    scene.store.accept<TakeTimers>();
    listener.run_for(Duration{2'000});
    CHECK(!listener.listener.trouble());
}

TEST_CASE("a lost reply loses timers without retries, and timers with retries fire again") {
    TimerScene scene;
    HandListener listener{scene, {.confirm_within = Duration{200}}};
    scene.post("a", Duration{0}, {.id = "a"});
    scene.store.lose_replies<TakeTimers>(1);
    listener.run_for(Duration{1'000});
    CHECK(listener.got.empty());
    CHECK(scene.counts().pending == 0);
    scene.store.lose_replies<TakeTimers>(1);
    scene.post("b", Duration{0}, {.id = "b", .retries_max = 1});
    listener.run_for(Duration{1'000});
    CHECK(listener.texts() == Texts{"b"});
    CHECK(listener.got[0].timer.retries == 1);
    CHECK(scene.counts().fired == 0);
}

TEST_CASE("a confirmation that the store refused is repeated, and the timer does not fire again") {
    TimerScene scene;
    HandListener listener{scene};
    scene.post("refused", Duration{0}, {.retries_max = 1});
    scene.store.refuse<ConfirmTimer>(5);
    listener.run_for(Duration{9'000});
    CHECK(listener.got.size() == 1);
    CHECK(scene.counts().fired == 0);
    CHECK(scene.log.count(LogLevel::warning, "cannot confirm timers of calls") == 1);
    scene.post("lost", Duration{0}, {.retries_max = 1});
    scene.store.lose_replies<ConfirmTimer>(1);
    listener.run_for(Duration{20'000});
    CHECK(listener.got.size() == 2);
    CHECK(listener.listener.status().late == 0);
    CHECK(scene.log.count(LogLevel::warning, "but confirmed too late") == 0);
}

TEST_CASE("a confirmation after the time limit is dropped and counted") {
    TimerScene scene;
    HandListener listener{scene, {.confirm_within = Duration{300}}};
    scene.post("a", Duration{0}, {.retries_max = 1});
    scene.store.refuse<ConfirmTimer>(3);
    listener.run_for(Duration{2'000});
    CHECK(listener.got.size() == 2);
    CHECK(listener.listener.status().late == 1);
    CHECK(scene.counts().fired + scene.counts().pending + scene.counts().dead == 0);
}

TEST_CASE("a confirmation that the store refused is not repeated once its timer has fired again") {
    TimerScene scene;
    HandListener listener{scene, {.confirm_within = Duration{300}}};
    const auto begin = scene.clock.now();
    scene.post("a", Duration{0}, {.retries_max = 1});
    scene.store.refuse<ConfirmTimer>(100);
    listener.run_for(Duration{5'000});
    CHECK(listener.got.size() == 2);
    CHECK(listener.listener.status().late == 2);
    // Each firing has 300 ms. The last repetition may have been scheduled before.
    CHECK(scene.store.times_of<ConfirmTimer>().back() <= begin + Duration{1'000});
    CHECK(scene.counts().dead == 1);
}

TEST_CASE("a handler beyond the time limit runs again, and its late confirmation has no effect") {
    TimerScene scene;
    HandListener other{scene, {.name = "other"}};
    HandListener slow{scene, {.name = "slow", .confirm_within = Duration{300}}, [&](const Timer&) {
                          scene.clock.advance(Duration{500});
                          scene.store.delay<ConfirmTimer>();
                          other.run();
                      }};
    scene.post("a", Duration{0}, {.retries_max = 1});
    slow.run();
    scene.store.release();
    slow.run();
    CHECK(slow.got.size() == 1);
    REQUIRE(other.got.size() == 1);
    CHECK(other.got[0].timer.retries == 1);
    CHECK(slow.listener.status().late == 1);
    CHECK(scene.log.count(LogLevel::warning, "but confirmed too late") == 1);
    other.run();
    CHECK(other.listener.status().late == 0);
    CHECK(scene.counts().fired + scene.counts().pending + scene.counts().dead == 0);
}

TEST_CASE("on an unreliable network, every timer with retries is handled") {
    TimerScene scene;
    testing::FaultyStore faulty{scene.memory,
                                {.seed = 7, .lost_requests = 0.2, .lost_replies = 0.2}};
    std::vector<int> times(200);
    TimerListener listener{
        faulty, "calls", TimerHandler{[&](const Timer& timer) {
            ++times[static_cast<std::size_t>(*timer.payload.get_if<std::int64_t>())];
        }},
        scene.complete({.concurrency = 4, .confirm_within = Duration{1'000}})};
    HandRunner runner{listener};
    for (int i = 0; i < 200; ++i) scene.post(i, Duration{10 * i}, {.retries_max = 50});
    const auto end = scene.clock.now() + Duration{120'000};
    for (auto next = runner.run(scene.clock.now()); next < end;
         next = runner.run(scene.clock.now())) {
        scene.clock.set(std::max(next, scene.clock.now()));
    }
    for (const auto count : times) CHECK(count >= 1);
    CHECK(scene.counts().pending + scene.counts().fired + scene.counts().dead == 0);
}

TEST_CASE("a closed listener leaves its namespace, and takes no further timer") {
    TimerScene scene;
    HandListener listener{scene};
    listener.run();
    CHECK(scene.counts().listeners == 1);
    listener.close(Duration{1'000});
    CHECK(listener.listener.closed());
    CHECK(scene.counts().listeners == 0);
    scene.post("a");
    listener.run_for(Duration{2'000});
    CHECK(listener.got.empty());
}

TEST_CASE("timers under way when a listener closes get the grace period, and are confirmed") {
    TimerScene scene;
    std::vector<TimerResponder> kept;
    TimerListener listener{
        scene.store, "calls",
        AsyncTimerHandler{[&](const TimerResponder& responder) { kept.push_back(responder); }},
        scene.complete({.concurrency = 2})};
    HandRunner runner{listener};
    scene.post("a", Duration{0}, {.retries_max = 1});
    scene.post("b", Duration{0}, {.retries_max = 1});
    runner.run(scene.clock.now());
    listener.close(scene.clock.now() + Duration{1'000});
    runner.wake();
    runner.run(scene.clock.now());
    CHECK(!listener.closed());
    CHECK(scene.counts().listeners == 0);
    kept[0].confirm();
    runner.run(scene.clock.now());
    CHECK(scene.counts().fired == 1);
    scene.clock.advance(Duration{1'000});
    runner.run(scene.clock.now());
    CHECK(listener.closed());
}

TEST_CASE("a listener can close even if its store does not reply") {
    TimerScene scene;
    HandListener listener{scene};
    scene.post("a", Duration{0}, {.retries_max = 1});
    scene.store.refuse<ConfirmTimer>(1'000);
    scene.store.refuse<LeaveTimers>(1'000);
    listener.run();
    listener.close(Duration{100});
    CHECK(!listener.listener.closed());
    listener.run_for(Duration{5'200});
    CHECK(listener.listener.closed());
    CHECK(scene.log.count(LogLevel::warning,
                          "could not deregister the listener of namespace calls") == 1);
}

TEST_CASE("listener options out of range are refused") {
    TimerScene scene;
    const auto refused = [&](TimerListenerOptions options) {
        CHECK_THROWS_AS((TimerListener{scene.memory, "calls", TimerHandler{[](const Timer&) {}},
                                       std::move(options)}),
                        Failure);
    };
    refused({.name = "no name"});
    refused({.batch_max = 0});
    refused({.batch_max = taken_timers_max + 1});
    refused({.confirm_within = Duration{0}});
    refused({.poll_interval = Duration{0}});
    CHECK_THROWS_AS((TimerListener{scene.memory, "calls", TimerHandler{}}), Failure);
    TimerListener polled{scene.memory, "calls", TimerHandler{[](const Timer&) {}}, {.threads = 0}};
    CHECK_THROWS_AS(polled.start(), Failure);
    CHECK(polled.name().size() == Uid::length);
}

TEST_CASE(
    "follow-up jobs and events of a timer exist when the timer is confirmed, and not before") {
    TimerScene scene;
    JobQueue jobs{scene.memory, "next", scene.clock};
    int failures = 1;
    HandListener listener{
        scene, {.confirm_within = Duration{500}}, [&](TimerContext& timer) {
            timer.push("next", Job{"b", {1}}, {.delay = Duration{50}}).value();
            CHECK(timer.post("calls", "later", Duration{60'000}, {.id = "later"}).value() ==
                  "later");
            CHECK(timer.post("calls", 1, Duration{60'000}).value().size() == Uid::length);
            if (failures-- > 0) throw std::runtime_error{"no"};
        }};
    scene.post("a", Duration{0}, {.retries_max = 1});
    listener.run();
    CHECK(jobs.status().value() == QueueStatus{});
    CHECK(scene.counts().pending == 0);
    listener.run_for(Duration{500});
    CHECK(jobs.status().value() == QueueStatus{.scheduled = 1});
    CHECK(scene.counts().pending == 2);
    CHECK(scene.counts().fired == 0);
    CHECK(listener.listener.status() == TimerListenerStatus{.taken = 2, .handled = 1, .failed = 1});
}

TEST_CASE("repeating a confirmation with follow-up jobs and events adds them once") {
    TimerScene scene;
    JobQueue jobs{scene.memory, "next", scene.clock};
    HandListener listener{scene, {}, [&](TimerContext& timer) {
                              timer.push("next", Job{"b"}, {.unique = Unique::off()}).value();
                          }};
    scene.post("a", Duration{0}, {.retries_max = 1});
    scene.store.refuse<CompleteTimer>(2);
    scene.store.lose_replies<CompleteTimer>(1);
    listener.run_for(Duration{5'000});
    CHECK(jobs.status().value() == QueueStatus{.ready = 1});
    CHECK(listener.got.size() == 1);
    CHECK(listener.listener.status().late == 0);
}

TEST_CASE("a timer whose follow-up job or event is refused fails, and fires again") {
    TimerScene scene;
    Bus shop{scene.memory, {.publisher = "shop", .clock = &scene.clock}};
    const Event event{
        .topic = "orders", .type = EventType::update, .url = "https://shop.example/1"};
    shop.publish(event).value();
    HandListener listener{scene, {.confirm_within = Duration{500}}, [&](TimerContext& timer) {
                              timer.publish(event).value();
                          }};
    scene.post("a", Duration{0}, {.id = "a", .retries_max = 1});
    listener.run_for(Duration{2'000});
    CHECK(listener.got.size() == 2);
    CHECK(scene.counts().dead == 1);
    CHECK(scene.log.count(LogLevel::warning, "timer a of calls failed: publications[0]") == 2);
}

TEST_CASE("an error about a follow-up job of a timer is reported at once") {
    TimerScene scene;
    HandListener listener{
        scene, {}, [&](TimerContext& timer) {
            const auto pushed = timer.push("next", Job{"b"});
            if (timer.payload == Value{"once"}) {
                CHECK(pushed.error().code() == Errc::invalid);
                return;
            }
            CHECK(pushed);
            CHECK(timer.push("no queue", Job{"b"}).error().code() == Errc::invalid);
            CHECK(timer.post("no space", 1, Duration{0}).error().code() == Errc::invalid);
            const auto all = timer.take_follow_ups();
            REQUIRE(all);
            CHECK(all->size() == 1);
            CHECK(timer.push("next", Job{"c"}).error().code() == Errc::invalid);
        }};
    scene.post("once");
    scene.post("twice", Duration{0}, {.retries_max = 1});
    listener.run();
    CHECK(listener.got.size() == 2);
}

TEST_CASE("a timer that posts its successor goes on after any losses, with one timer at a time") {
    TimerScene scene;
    testing::FaultyStore faulty{scene.memory,
                                {.seed = 3, .lost_requests = 0.2, .lost_replies = 0.2}};
    int ticks = 0;
    TimerListener listener{faulty, "calls", TimerHandler{[&](TimerContext& timer) {
                               ++ticks;
                               timer
                                   .post("calls", timer.payload, Duration{100},
                                         {.id = timer.id, .retries_max = 1'000})
                                   .value();
                           }},
                           scene.complete({.confirm_within = Duration{1'000}})};
    HandRunner runner{listener};
    scene.post("tick", Duration{0}, {.id = "tick", .retries_max = 1'000});
    const auto end = scene.clock.now() + Duration{60'000};
    for (auto next = runner.run(scene.clock.now()); next < end;
         next = runner.run(scene.clock.now())) {
        scene.clock.set(std::max(next, scene.clock.now()));
        const auto counts = scene.counts();
        REQUIRE(counts.pending + counts.fired == 1);
    }
    CHECK(ticks > 50);
}
