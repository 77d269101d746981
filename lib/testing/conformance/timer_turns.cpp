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
        ear.expect_woken("the post of a timer");
        expect_equal(ear.ask().wake_at, s.now() + 10 * one_second, "time of the next poll");
        post(s, "b", 5 * one_second);
        ear.expect_woken("the post of an earlier timer");
        ear.ask();
        s.perform(PostponeTimer{timer_space, "a", s.now() + one_second});
        ear.expect_woken("the move of a timer to an earlier time");
        ear.ask();
        s.perform(post_of(s, "b", Duration{0}));
        ear.expect_woken("the post that replaces a timer");
        expect_equal(ids_of(ear.ask()), Ids{"b"}, "ids taken");
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
                ear.expect_woken("the poll of the previous listener");
                expect_equal(ear.ask().wake_at, s.now() + Duration{10}, "time of the next poll");
                s.advance(Duration{10});
                expect_equal(ids_of(ear.ask()), Ids{std::to_string(i)}, "ids taken");
            }
        });

    add("a listener that is not next in turn polls in time when the next listener is gone",
        [](Scenario& s) {
            Ear gone{s, "gone"};
            Ear ear{s, "ear"};
            post(s, "a", one_second);
            gone.expect_woken("the post of a timer");
            gone.ask();
            const auto wake_at = ear.ask().wake_at;
            expect(wake_at > s.now() + one_second,
                   "the listener that waits must poll after the due time");
            expect(wake_at <= s.now() + one_second + timer_listener_silence,
                   "the listener that waits must poll before the other listener counts as silent");
            s.advance(one_second + timer_listener_silence);
            expect_equal(ids_of(ear.ask()), Ids{"a"}, "ids taken");
            post(s, "b", one_second);
            ear.expect_woken("the next post of a timer");
            expect_equal(ear.ask().wake_at, s.now() + one_second, "time of the next poll");
        });

    add("a listener that finds the next listener late polls again when that listener is gone",
        [](Scenario& s) {
            Ear gone{s, "gone"};
            Ear ear{s, "ear"};
            post(s, "a", one_second);
            gone.expect_woken("the post of a timer");
            gone.ask();
            ear.ask();
            post(s, "b", 2 * one_second);
            s.advance(one_second + timer_listener_silence - Duration{1});
            expect_equal(ids_of(ear.ask()), Ids{"a"}, "ids taken by the listener that waits");
            post(s, "c", Duration{1});
            expect_equal(ear.ask().wake_at, s.now() + Duration{1},
                         "time of the next poll after the other listener has ended");
            s.advance(Duration{1});
            expect_equal(ids_of(ear.ask()), (Ids{"b", "c"}), "ids taken");
        });

    add("if a listener leaves or is busy, a timer wakes the next listener", [](Scenario& s) {
        Ear one{s, "one"};
        Ear two{s, "two"};
        post(s, "a", one_second);
        one.expect_woken("the post of a timer");
        one.ask();
        two.ask();
        one.leave();
        two.expect_woken("the end of the other listener");
        expect_equal(two.ask().wake_at, s.now() + one_second, "time of the next poll");
        one.ask();
        expect_equal(two.ask(0), TakenTimers{}, "reply to a busy listener");
        one.expect_woken("the poll of a busy listener");
        expect_equal(one.ask().wake_at, s.now() + one_second,
                     "time of the next poll of the first listener");
        expect_equal(counts(s).listeners, std::uint64_t{1}, "listeners");
        s.perform(LeaveTimers{timer_space, "nobody"});
        s.perform(LeaveTimers{"nowhere", "one"});
        two.ask();
        expect_equal(counts(s).listeners, std::uint64_t{2},
                     "listeners after the busy listener polls again");
    });

    add("while many timers are due, a poll also wakes the next listener", [](Scenario& s) {
        Ear one{s, "one"};
        Ear two{s, "two"};
        for (int i = 0; i < 10; ++i) post(s, std::to_string(i), Duration{0});
        one.expect_woken("the post of a timer");
        expect_equal(one.ask(4).wake_at, s.now(), "time of the next poll");
        two.expect_woken("the poll of the other listener");
        expect_equal(ids_of(two.ask(4)), Ids{"4", "5", "6", "7"},
                     "ids taken by the other listener");
        expect_equal(ids_of(one.ask(4)), Ids{"8", "9"}, "ids taken by the first listener then");
    });

    add("posting DEAD timers again wakes a listener", [](Scenario& s) {
        post(s, "a", Duration{0}, 1);
        let_fire(s);
        let_fire(s);
        expect_equal(counts(s).dead, std::uint64_t{1}, "DEAD timers");
        s.perform(LeaveTimers{timer_space, "ear"});
        Ear ear{s, "another"};
        s.perform(RepostDeadTimers{timer_space, {}, s.now() + one_second});
        ear.expect_woken("the timer that is posted again");
        expect_equal(ear.ask().wake_at, s.now() + one_second, "time of the next poll");
    });

    add("setting the clock back does not change which listener is next in turn", [](Scenario& s) {
        Ear gone{s, "gone"};
        Ear ear{s, "ear"};
        post(s, "a", one_second);
        gone.expect_woken("the post of a timer");
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
        expect_equal(ear.ask().wake_at, s.now() + one_second,
                     "time of the next poll of the listener in turn");
    });
}

}  // namespace routemaster::testing
