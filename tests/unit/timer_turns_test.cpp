#include "core/timers/state/timer_turns.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/state/machine.hpp"
#include "core/timers/state/timers.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"

using namespace routemaster;
using namespace routemaster::detail;

namespace {

constexpr Duration second{1'000};

/// Timers of one namespace in a state machine.
struct TurnScene {
    template <class S>
    typename S::Reply must(S step) {
        Step any{std::move(step)};
        auto outcome = machine.perform(any, now);
        return reply_of<S>(outcome).value();
    }

    void post(const std::string& id, Duration delay, std::uint32_t retries_max = 0) {
        must(PostTimer{.space = "reminders",
                       .id = id,
                       .payload = encode(Value{}),
                       .due_at = now + delay,
                       .retries_max = retries_max});
    }
    TakenTimers ask(const std::string& listener, std::uint32_t limit = taken_timers_max) {
        return must(TakeTimers{.space = "reminders", .listener = listener, .limit = limit});
    }
    std::uint64_t listeners() { return must(CountTimers{"reminders"}).listeners; }

    /// The watches woken since the last call.
    std::vector<std::string> woken() { return machine.jobs().take_woken(); }
    static std::vector<std::string> watches(std::vector<std::string> listeners) {
        for (auto& name : listeners) name = timer_watch("reminders", name);
        return listeners;
    }

    NoChangeLog changes;
    Machine machine{changes};
    TimePoint now = from_milliseconds(1'700'000'000'000);
};

}  // namespace

TEST_CASE("the name of a timer watch contains namespace and listener, and is not a queue name") {
    CHECK(timer_watch("reminders", "ear") == ":timers:reminders:ear");
}

TEST_CASE("a timer that is due sooner wakes only listeners that would poll too late") {
    TurnScene scene;
    scene.ask("one");
    scene.ask("two");
    scene.post("a", 10 * second);
    CHECK(scene.woken() == scene.watches({"one", "two"}));
    scene.post("b", 9 * second);
    CHECK(scene.woken().empty());
    CHECK(scene.ask("one").wake_at == scene.now + 9 * second);
    CHECK(scene.ask("two").wake_at == scene.now + 9 * second + timer_listener_silence);
    scene.post("later", 20 * second);
    CHECK(scene.woken().empty());
    scene.post("c", 9 * second - Duration{1});
    CHECK(scene.woken() == scene.watches({"one", "two"}));
    scene.ask("one");
    CHECK(scene.ask("two").wake_at == scene.now + 10 * second - Duration{1});
    scene.now += 5 * second;
    CHECK(scene.woken().empty());
}

TEST_CASE("a listener whose next poll is early enough is not woken for the next timer") {
    TurnScene scene;
    scene.ask("one");
    scene.ask("two");
    scene.post("a", second);
    scene.post("b", 3 * second);
    scene.ask("one");
    scene.ask("two");
    scene.woken();
    scene.now += second;
    CHECK(scene.ask("one").timers.size() == 1);
    // Its next request is a second after the first timer was due, before the second timer is due.
    CHECK(scene.woken().empty());
    scene.now += second;
    CHECK(scene.ask("two").wake_at == scene.now + second);
}

TEST_CASE("a poll of one listener removes all listeners that have been silent for too long") {
    TurnScene scene;
    for (int i = 0; i < 100; ++i) scene.ask("gone" + std::to_string(i));
    scene.ask("ear");
    CHECK(scene.listeners() == 101);
    scene.post("a", Duration{0});
    CHECK(scene.woken().size() == 101);
    CHECK(scene.ask("ear").timers.size() == 1);
    scene.now += timer_listener_silence - Duration{1};
    scene.ask("ear");
    CHECK(scene.listeners() == 101);
    scene.now += Duration{1};
    scene.post("b", second);
    CHECK(scene.ask("ear").wake_at == scene.now + second);
    CHECK(scene.listeners() == 1);
}

TEST_CASE("a store has a limit of listeners, and removes the listener that was silent longest") {
    TurnScene scene;
    for (std::size_t i = 0; i <= timer_listeners_max; ++i) {
        scene.must(TakeTimers{.space = "space" + std::to_string(i), .listener = "ear", .limit = 1});
        if (i + 1 == timer_listeners_max) {
            scene.must(TakeTimers{.space = "space0", .listener = "ear", .limit = 1});
        }
    }
    CHECK(scene.machine.timers().spaces() == timer_listeners_max);
    CHECK(scene.must(CountTimers{"space0"}).listeners == 1);
    CHECK(scene.must(CountTimers{"space1"}).listeners == 0);
}

TEST_CASE("a namespace without timers and listeners takes no memory") {
    TurnScene scene;
    auto& timers = scene.machine.timers();
    scene.ask("ear", 0);
    CHECK(timers.spaces() == 0);
    scene.ask("ear");
    scene.post("fired", Duration{0});
    scene.post("confirmed", Duration{0}, 1);
    scene.post("cancelled", Duration{1});
    scene.ask("ear");
    scene.must(LeaveTimers{"reminders", "ear"});
    scene.must(ConfirmTimer{"reminders", "confirmed"});
    CHECK(timers.spaces() == 1);
    scene.must(CancelTimer{"reminders", "cancelled"});
    CHECK(timers.spaces() == 0);
    scene.post("dead", Duration{0}, 1);
    for (int i = 0; i < 3; ++i) {
        scene.ask("ear");
        scene.now += 10 * second;
    }
    scene.ask("ear", 0);
    CHECK(timers.spaces() == 1);
    CHECK(scene.must(DropDeadTimers{"reminders"}) == Count{1});
    CHECK(timers.spaces() == 0);
}

TEST_CASE("20,000 timers due at once are taken in chunks, and their retries as well") {
    TurnScene scene;
    constexpr int count = 20'000;
    for (int i = 0; i < count; ++i) scene.post(std::to_string(i), Duration{i % 3}, 1);
    scene.now += second;
    for (int round = 0; round < 2; ++round) {
        int taken = 0;
        while (true) {
            const auto some = scene.ask("ear");
            if (some.timers.empty()) break;
            CHECK(some.timers.size() <= taken_timers_max);
            taken += static_cast<int>(some.timers.size());
        }
        CHECK(taken == count);
        scene.now += 10 * second;
    }
    // All timers die now, a chunk per request.
    CHECK(scene.ask("ear", 1).wake_at == scene.now);
    CHECK(scene.must(CountTimers{"reminders"}).dead == taken_timers_max);
    while (scene.ask("ear").wake_at != never) continue;
    CHECK(scene.must(CountTimers{"reminders"}).dead == dead_timers_max);
    CHECK(scene.must(CountTimers{"reminders"}).fired == 0);
}

TEST_CASE("timers of any length keep their ids, payloads and retries separate") {
    TurnScene scene;
    for (std::size_t length = 1; length <= timer_id_length_max; ++length) {
        for (const std::uint32_t retries_max : {0U, 7U}) {
            const std::string id(length, retries_max == 0 ? 'a' : 'b');
            const Duration confirm_within{retries_max == 0 ? 0 : 300};
            scene.must(PostTimer{.space = "reminders",
                                 .id = id,
                                 .payload = encode(Value{std::string(length * 3, 'x')}),
                                 .due_at = scene.now,
                                 .retries_max = retries_max,
                                 .confirm_within = confirm_within});
            const auto* timer = scene.machine.timers().find("reminders", id);
            REQUIRE(timer != nullptr);
            CHECK(timer->id() == id);
            CHECK(timer->payload() == encode(Value{std::string(length * 3, 'x')}));
            CHECK(timer->retries_max() == retries_max);
            CHECK(timer->confirm_within() == confirm_within);
        }
    }
}
