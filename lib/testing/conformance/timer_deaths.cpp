#include "routemaster/store/step/dead_timers.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "timer_steps.hpp"

namespace routemaster::testing {

void add_timer_death_cases(StoreCases& add) {
    add("a timer without a confirmation becomes DEAD after its last retry, and can be posted again",
        [](Scenario& s) {
            post(s, "a", Duration{0}, 1);
            post(s, "b", Duration{0}, 2);
            take(s);
            s.advance(Duration{10'000});
            take(s);
            s.advance(Duration{10'500});
            // A take with the limit 0 also makes timers DEAD whose time to confirm is over.
            expect_equal(take_ids(s, 0), Ids{}, "ids taken by a busy listener");
            const auto dead = listed(s, TimerState::dead);
            expect_equal(dead,
                         std::vector<TimerStatus>{{.id = "a",
                                                   .payload = Value{"a"},
                                                   .state = TimerState::dead,
                                                   .at = s.now(),
                                                   .retries = 1,
                                                   .retries_max = 1}},
                         "DEAD timers");
            expect_equal(take_ids(s), Ids{"b"}, "ids taken after the deadline of the confirmation");
            expect_equal(s.perform(CancelTimer{timer_space, "a"}), Removal::unknown,
                         "outcome of the cancellation of a DEAD timer");
            expect_equal(confirm(s, "a"), TimerConfirmed::unknown,
                         "outcome of the confirmation of a DEAD timer");
            const RepostDeadTimers repost{timer_space, "a", s.now() + one_second};
            expect_equal(s.perform(repost), Count{1}, "timers posted again");
            expect_equal(s.perform(repost), Count{0}, "timers posted again by a repeated step");
            expect_equal(found_timer(s, "a").retries, 0U,
                         "retries of the timer that was posted again");
            s.advance(one_second);
            const auto fired = take(s).timers.at(0);
            expect_equal(fired,
                         FiredTimer{.id = "a",
                                    .payload = encode(Value{"a"}),
                                    .due_at = s.now(),
                                    .retries = 0,
                                    .retries_max = 1,
                                    .confirm_by = s.now() + Duration{10'000},
                                    .firing = fired.firing},
                         "firing of the timer that was posted again");
        });

    add("a late confirmation of an earlier firing does not settle a timer that was posted again",
        [](Scenario& s) {
            post(s, "a", Duration{0}, 1);
            const auto first = take(s).timers.at(0);
            s.advance(Duration{1});
            expect_equal(s.perform(post_of(s, "a", Duration{0}, 1)), TimerPosted::replaced,
                         "outcome of the second post");
            const auto other = take(s).timers.at(0);
            expect_equal(other.retries, first.retries, "retries of both firings");
            const auto confirm_firing = [&](const FiredTimer& timer) {
                return s.perform(ConfirmTimer{timer_space, "a", timer.retries, timer.firing});
            };
            expect_equal(confirm_firing(first), TimerConfirmed::unknown,
                         "outcome of the confirmation of the first firing");
            CompleteTimer complete{.space = timer_space, .id = "a", .firing = first.firing};
            complete.pushes.push_back({.queue = "work", .job = "x", .run_at = s.now()});
            expect_equal(s.perform(complete).confirmation, TimerConfirmed::unknown,
                         "outcome of the completion of the first firing");
            expect_equal(s.perform(CountJobs{"work"}).ready, std::uint64_t{0},
                         "jobs pushed by the refused completion");
            expect(exists(s, "a"), "the timer that was posted again still exists");
            expect_equal(confirm_firing(other), TimerConfirmed::confirmed,
                         "outcome of the confirmation of the second firing");
        });

    add("a request for a DEAD timer with an empty id is refused", [](Scenario& s) {
        post(s, "a", Duration{0}, 1);
        let_fire(s);
        let_fire(s);
        s.expect_refused(RepostDeadTimers{timer_space, "", s.now()}, "id");
        s.expect_refused(DropDeadTimers{timer_space, ""}, "id");
        expect_equal(counts(s).dead, std::uint64_t{1}, "DEAD timers");
    });

    add("all DEAD timers can be posted again, or dropped", [](Scenario& s) {
        const auto die = [&] {
            for (const char* id : {"a", "b", "c"}) s.perform(post_of(s, id, Duration{0}, 1));
            let_fire(s);
            let_fire(s);
            expect_equal(counts(s).dead, std::uint64_t{3}, "DEAD timers");
        };
        die();
        expect_equal(s.perform(DropDeadTimers{timer_space, "b"}), Count{1},
                     "DEAD timers dropped by an id");
        expect_equal(s.perform(DropDeadTimers{timer_space, "b"}), Count{0},
                     "DEAD timers dropped by the same id again");
        const RepostDeadTimers all{timer_space, {}, s.now()};
        expect_equal(s.perform(all), Count{2}, "DEAD timers posted again");
        expect_equal(s.perform(all), Count{0}, "DEAD timers posted again by a repeated step");
        expect_equal(take_ids(s), Ids{"a", "c"}, "ids taken");
        die();
        expect_equal(s.perform(DropDeadTimers{timer_space}), Count{3},
                     "DEAD timers dropped at once");
        expect_equal(s.perform(DropDeadTimers{timer_space}), Count{0},
                     "DEAD timers dropped by a repeated step");
        expect(!exists(s, "a"), "a dropped timer must not exist");
        expect_equal(s.perform(DropDeadTimers{"other"}), Count{0},
                     "DEAD timers dropped in another namespace");
        expect_equal(s.perform(RepostDeadTimers{"other", {}, s.now()}), Count{0},
                     "DEAD timers posted again in another namespace");
    });

    add("above the limit of DEAD timers, the oldest are removed and counted", [](Scenario& s) {
        constexpr int more = 3;
        const auto dead = static_cast<int>(dead_timers_max);
        for (int i = 0; i < dead + more; ++i) {
            // The first three timers are due earlier, and become DEAD first.
            post(s, std::to_string(100'000 + i), i < more ? Duration{0} : 100 * one_second, 1);
        }
        take(s, 3);
        s.advance(Duration{10'000});
        take(s, 3);
        s.advance(Duration{10'000});
        take(s, 0);
        expect_equal(counts(s).dead, std::uint64_t{more}, "DEAD timers");
        while (counts(s).dead < dead_timers_max || counts(s).fired + counts(s).pending > 0) {
            take(s);
            s.advance(Duration{10'000});
        }
        const auto kept = listed(s, TimerState::dead);
        expect_equal(kept.size(), std::size_t{dead_timers_max}, "number of DEAD timers at the end");
        expect_equal(kept.front().id, std::to_string(100'000 + more),
                     "id of the oldest DEAD timer");
        expect_equal(s.counter({"timers.forgotten", {{"namespace", timer_space}}}),
                     std::optional<std::int64_t>{more}, "forgotten timers");
    });
}

}  // namespace routemaster::testing
