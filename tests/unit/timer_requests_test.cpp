/// @file
/// Timers for remote listeners, on a manual clock.

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/store/step.hpp"
#include "routemaster/timer_requests.hpp"
#include "support/timer_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// The result of a request; nothing while the request waits.
using Answer = std::shared_ptr<std::optional<Result<std::vector<FiredTimer>>>>;

std::vector<std::string> ids_in(const Answer& answer) {
    REQUIRE(answer->has_value());
    std::vector<std::string> ids;
    for (const auto& timer : (*answer)->value()) ids.push_back(timer.id);
    return ids;
}

/// Requests of a scene, polled by the test.
struct HandRequests {
    explicit HandRequests(TimerScene& in, TimerRequestsOptions options = {})
        : scene{in}, requests{in.store, complete(std::move(options))} {}

    [[nodiscard]] TimerRequestsOptions complete(TimerRequestsOptions options) const {
        options.log = scene.log.sink();
        return options;
    }

    void run() { runner.run(scene.clock.now()); }

    void run_for(Duration span) {
        const auto end = scene.clock.now() + span;
        for (run(); runner.next() < end; run()) scene.clock.set(runner.next());
        scene.clock.set(end);
        run();
    }

    Answer take(TimerRequest request = {}) {
        if (request.space.empty()) request.space = "calls";
        const auto answer = std::make_shared<std::optional<Result<std::vector<FiredTimer>>>>();
        requests.take(std::move(request), [answer](Result<std::vector<FiredTimer>> result) {
            CHECK_MESSAGE(!answer->has_value(), "answered twice");
            answer->emplace(std::move(result));
        });
        run();
        return answer;
    }

    void close() {
        requests.close(scene.clock.now());
        runner.wake();
        run();
    }

    TimerScene& scene;
    TimerRequests requests;
    HandRunner runner{requests};
};

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("a request for timers gets due timers at once") {
    TimerScene scene;
    HandRequests hand{scene};
    CHECK(ids_in(hand.take()).empty());
    for (const char* id : {"a", "b", "c"})
        scene.post(id, Duration{0}, {.id = id, .retries_max = 1});
    const auto taken = hand.take({.limit = 2, .confirm_within = Duration{3'000}});
    CHECK(ids_in(taken) == Ids{"a", "b"});
    CHECK((*taken)->value()[0].confirm_by == scene.clock.now() + Duration{3'000});
    CHECK(ids_in(hand.take({.limit = 5})) == Ids{"c"});
    CHECK(scene.counts().fired == 3);
}

TEST_CASE("a request for timers waits for a timer, and gets the timer when due") {
    TimerScene scene;
    HandRequests hand{scene};
    const auto waiting = hand.take({.wait = Duration{10'000}});
    CHECK(!waiting->has_value());
    scene.post("a", Duration{1'500}, {.id = "a"});
    hand.run_for(Duration{1'499});
    CHECK(!waiting->has_value());
    hand.run_for(Duration{1});
    CHECK(ids_in(waiting) == Ids{"a"});
}

TEST_CASE("timers that do not fit into a response are in the next response, without a wait") {
    TimerScene scene;
    HandRequests hand{scene};
    for (int i = 0; i < 100; ++i) scene.post(std::string(65'000, 'x'));
    const auto first = hand.take({.limit = 100, .wait = Duration{10'000}});
    const auto second = hand.take({.limit = 100, .wait = Duration{10'000}});
    REQUIRE(first->has_value());
    REQUIRE(second->has_value());
    CHECK((*first)->value().size() == 64);
    CHECK((*second)->value().size() == 36);
}

TEST_CASE("a request for timers gets an empty response after its wait if no timer is due") {
    TimerScene scene;
    HandRequests hand{scene};
    const auto waiting = hand.take({.wait = Duration{2'000}});
    hand.run_for(Duration{1'999});
    CHECK(!waiting->has_value());
    hand.run_for(Duration{1});
    CHECK(ids_in(waiting).empty());
}

TEST_CASE("waiting requests for timers are served separately and in order") {
    TimerScene scene;
    HandRequests hand{scene};
    const auto first = hand.take({.limit = 2, .wait = Duration{10'000}});
    const auto second = hand.take({.limit = 2, .wait = Duration{10'000}});
    const auto third = hand.take({.limit = 2, .wait = Duration{1'000}});
    for (const char* id : {"a", "b", "c"}) scene.post(id, Duration{500}, {.id = id});
    hand.run_for(Duration{600});
    CHECK(ids_in(first) == Ids{"a", "b"});
    CHECK(ids_in(second) == Ids{"c"});
    CHECK(!third->has_value());
    hand.run_for(Duration{400});
    CHECK(ids_in(third).empty());
}

TEST_CASE("without requests, the next listener in turn gets timers, and the requests leave later") {
    TimerScene scene;
    HandRequests hand{scene};
    const auto first = hand.take({.wait = Duration{1'000}});
    CHECK(scene.counts().listeners == 1);
    scene.post("a", Duration{10}, {.id = "a"});
    hand.run_for(Duration{10});
    CHECK(ids_in(first) == Ids{"a"});
    scene.post("b", Duration{10}, {.id = "b"});
    hand.run_for(Duration{40});
    CHECK(scene.counts().listeners == 0);
    CHECK(scene.counts().pending == 1);
    CHECK(ids_in(hand.take()) == Ids{"b"});
    hand.run_for(Duration{12'000});
    CHECK(scene.counts().listeners == 0);
    CHECK(!scene.store.times_of<LeaveTimers>().empty());
    scene.post("c", Duration{0}, {.id = "c"});
    CHECK(ids_in(hand.take()) == Ids{"c"});
}

TEST_CASE("a disconnected client gets no timer") {
    TimerScene scene;
    HandRequests hand{scene};
    const auto gone = std::make_shared<std::atomic<bool>>(false);
    const auto lost = hand.take({.wait = Duration{10'000}, .gone = gone});
    const auto other = hand.take({.wait = Duration{10'000}});
    gone->store(true);
    scene.post("a", Duration{100}, {.id = "a"});
    hand.run_for(Duration{200});
    CHECK(ids_in(lost).empty());
    CHECK(ids_in(other) == Ids{"a"});
}

TEST_CASE("timers that were taken for disconnected clients are logged") {
    TimerScene scene;
    HandRequests hand{scene};
    const auto gone = std::make_shared<std::atomic<bool>>(false);
    scene.post("a");
    scene.store.delay<TakeTimers>();
    const auto lost = hand.take({.gone = gone});
    gone->store(true);
    scene.store.release();
    hand.run();
    CHECK(ids_in(lost).empty());
    CHECK(scene.log.count(LogLevel::warning,
                          "1 timers of calls were taken for clients that have disconnected") == 1);
}

TEST_CASE("a request for timers returns the error of a store that does not work") {
    TimerScene scene;
    HandRequests hand{scene};
    scene.store.refuse<TakeTimers>(1);
    const auto refused = hand.take();
    CHECK((*refused)->error().code() == Errc::unavailable);
    CHECK(ids_in(hand.take()).empty());
    scene.store.refuse<TakeTimers>(3);
    scene.post("a", Duration{100}, {.id = "a"});
    const auto waiting = hand.take({.wait = Duration{5'000}});
    hand.run_for(Duration{2'000});
    CHECK(ids_in(waiting) == Ids{"a"});
    CHECK(scene.log.count(LogLevel::warning, "cannot take timers of calls") == 2);
}

TEST_CASE("closing ends waiting requests for timers with an error, and the requests leave") {
    TimerScene scene;
    HandRequests hand{scene};
    const auto waiting = hand.take({.wait = Duration{10'000}});
    hand.requests.drain();
    hand.run();
    CHECK((*waiting)->error().code() == Errc::unavailable);
    CHECK((*hand.take())->error().code() == Errc::unavailable);
    hand.close();
    hand.run_for(Duration{1'000});
    CHECK(hand.requests.closed());
    CHECK(scene.counts().listeners == 0);
}

TEST_CASE("invalid requests for timers are refused") {
    TimerScene scene;
    HandRequests hand{scene, {.waiting_max = 1, .spaces_max = 1}};
    const auto code = [&](TimerRequest request) {
        return (*hand.take(std::move(request)))->error().code();
    };
    CHECK(code({.space = "no space"}) == Errc::invalid);
    CHECK(code({.limit = 0}) == Errc::invalid);
    CHECK(code({.limit = timers_per_request_max + 1}) == Errc::invalid);
    CHECK(code({.wait = timer_wait_max + Duration{1}}) == Errc::invalid);
    CHECK(code({.confirm_within = Duration{0}}) == Errc::invalid);
    const auto waiting = hand.take({.wait = Duration{1'000}});
    CHECK(code({.wait = Duration{1}}) == Errc::unavailable);
    const auto passing = hand.take({});
    hand.run();
    REQUIRE(passing->has_value());
    CHECK((*passing)->value().empty());
    hand.run_for(Duration{1'000});
    CHECK(code({.space = "another"}) == Errc::unavailable);
}
