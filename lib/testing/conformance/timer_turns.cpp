#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cases.hpp"
#include "timer_steps.hpp"

namespace routemaster::testing {

void add_timer_turn_cases(StoreCases& add) {
    add("a timer that is due before a listener's next poll wakes the listener", [](Scenario& s) {
        Ear ear{s, "ear"};
        post(s, "a", 10 * one_second);
        ear.expect_woken("a post");
        expect_equal(ear.ask().wake_at, s.now() + 10 * one_second, "when to ask");
        post(s, "b", 5 * one_second);
        ear.expect_woken("a post for sooner");
        ear.ask();
        s.perform(PostponeTimer{timer_space, "a", s.now() + one_second});
        ear.expect_woken("having it sooner");
        ear.ask();
        s.perform(post_of(s, "b", Duration{0}));
        ear.expect_woken("a post that replaces another");
        expect_equal(ids_of(ear.ask()), Ids{"b"}, "taken");
    });

    add("listeners take turns: after one takes timers, the next is woken for the next timer",
        [](Scenario& s) {
            Ear one{s, "one"};
            Ear two{s, "two"};
            Ear three{s, "three"};
            std::vector<Ear*> turns{&one, &two, &three};
            for (int i = 0; i < 7; ++i) post(s, std::to_string(i), Duration{100 + 10 * i});
            s.advance(Duration{90});
            for (int i = 0; i < 7; ++i) {
                auto& ear = *turns[static_cast<std::size_t>(i) % 3];
                ear.expect_woken("its turn");
                expect_equal(ear.ask().wake_at, s.now() + Duration{10}, "when to ask");
                s.advance(Duration{10});
                expect_equal(ids_of(ear.ask()), Ids{std::to_string(i)}, "taken");
            }
        });

    add("a listener that is not next in turn polls in time when the next listener is gone",
        [](Scenario& s) {
            Ear gone{s, "gone"};
            Ear ear{s, "ear"};
            post(s, "a", one_second);
            gone.expect_woken("a post");
            gone.ask();
            const auto wake_at = ear.ask().wake_at;
            expect(wake_at > s.now() + one_second, "it is not its turn");
            expect(wake_at <= s.now() + one_second + timer_listener_silence, "it asks in time");
            s.advance(one_second + timer_listener_silence);
            expect_equal(ids_of(ear.ask()), Ids{"a"}, "taken");
            post(s, "b", one_second);
            ear.expect_woken("the next timer");
            expect_equal(ear.ask().wake_at, s.now() + one_second, "when to ask");
        });

    add("a listener that finds the next listener late polls again when that listener is gone",
        [](Scenario& s) {
            Ear gone{s, "gone"};
            Ear ear{s, "ear"};
            post(s, "a", one_second);
            gone.expect_woken("a post");
            gone.ask();
            ear.ask();
            post(s, "b", 2 * one_second);
            s.advance(one_second + timer_listener_silence - Duration{1});
            expect_equal(ids_of(ear.ask()), Ids{"a"}, "taken out of turn");
            post(s, "c", Duration{1});
            expect_equal(ear.ask().wake_at, s.now() + Duration{1}, "when the other one is gone");
            s.advance(Duration{1});
            expect_equal(ids_of(ear.ask()), (Ids{"b", "c"}), "taken");
        });

    add("if a listener leaves or is busy, a timer wakes the next listener", [](Scenario& s) {
        Ear one{s, "one"};
        Ear two{s, "two"};
        post(s, "a", one_second);
        one.expect_woken("a post");
        one.ask();
        two.ask();
        one.leave();
        two.expect_woken("the end of the other one");
        expect_equal(two.ask().wake_at, s.now() + one_second, "when to ask");
        one.ask();
        expect_equal(two.ask(0), TakenTimers{}, "taken by a busy listener");
        one.expect_woken("the other one being busy");
        expect_equal(one.ask().wake_at, s.now() + one_second, "when the first one is to ask");
        expect_equal(counts(s).listeners, std::uint64_t{1}, "listeners");
        s.perform(LeaveTimers{timer_space, "nobody"});
        s.perform(LeaveTimers{"nowhere", "one"});
        two.ask();
        expect_equal(counts(s).listeners, std::uint64_t{2}, "listeners when it asks for more");
    });

    add("while many timers are due, a poll also wakes the next listener", [](Scenario& s) {
        Ear one{s, "one"};
        Ear two{s, "two"};
        for (int i = 0; i < 10; ++i) post(s, std::to_string(i), Duration{0});
        one.expect_woken("a post");
        expect_equal(one.ask(4).wake_at, s.now(), "when to ask");
        two.expect_woken("its turn");
        expect_equal(ids_of(two.ask(4)), Ids{"4", "5", "6", "7"}, "taken by the other one");
        expect_equal(ids_of(one.ask(4)), Ids{"8", "9"}, "the rest");
    });

    add("posting DEAD timers again wakes a listener", [](Scenario& s) {
        post(s, "a", Duration{0}, 1);
        let_fire(s);
        let_fire(s);
        expect_equal(counts(s).dead, std::uint64_t{1}, "DEAD timers");
        s.perform(LeaveTimers{timer_space, "ear"});
        Ear ear{s, "another"};
        s.perform(RepostDeadTimers{timer_space, {}, s.now() + one_second});
        ear.expect_woken("a timer that is posted again");
        expect_equal(ear.ask().wake_at, s.now() + one_second, "when to ask");
    });

    add("setting the clock back does not change which listener is next in turn", [](Scenario& s) {
        Ear gone{s, "gone"};
        Ear ear{s, "ear"};
        post(s, "a", one_second);
        gone.expect_woken("a post");
        s.advance(Duration{-3'600'000});
        post(s, "b", one_second);
        ear.ask();
        s.advance(one_second);
        ear.ask();
        for (int i = 0; i < 3; ++i) {
            s.advance(timer_listener_silence);
            ear.ask();
        }
        post(s, "c", one_second);
        expect_equal(ear.ask().wake_at, s.now() + one_second, "when to ask: it has the turn");
    });
}

}  // namespace routemaster::testing
