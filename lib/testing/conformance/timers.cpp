#include "routemaster/timer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "timer_steps.hpp"

namespace routemaster::testing {
namespace {

Ids listed_ids(const std::vector<TimerStatus>& timers) {
    Ids ids;
    for (const auto& timer : timers) ids.push_back(timer.id);
    return ids;
}

void add_change_cases(StoreCases& add) {
    add("posting a timer again replaces the timer in any state", [](Scenario& s) {
        post(s, "a", one_second, 1);
        auto other = post_of(s, "a", 2 * one_second, 1);
        other.payload = encode(Value{"other"});
        expect_equal(s.perform(other), TimerPosted::replaced,
                     "outcome of a post while the timer is PENDING");
        expect_equal(listed(s).size(), std::size_t{1}, "timers");
        s.advance(one_second);
        expect_equal(take_ids(s), Ids{}, "ids taken at the old due time");
        s.advance(one_second);
        expect_equal(take(s).timers.at(0).payload, encode(Value{"other"}), "payload of the firing");

        expect_equal(s.perform(post_of(s, "a", one_second, 1)), TimerPosted::replaced,
                     "outcome of a post while the timer is FIRED");
        expect_equal(confirm(s, "a", 0), TimerConfirmed::unknown,
                     "outcome of the confirmation of the old firing");
        expect_equal(found_timer(s, "a").state, TimerState::pending,
                     "state of the timer after the post");
        s.advance(one_second);
        let_fire(s);
        s.advance(Duration{10'000});
        take(s);
        expect_equal(found_timer(s, "a").state, TimerState::dead,
                     "state of the timer after its last retry");

        expect_equal(s.perform(post_of(s, "a", one_second)), TimerPosted::replaced,
                     "outcome of a post while the timer is DEAD");
        expect_equal(listed(s, TimerState::dead).size(), std::size_t{0}, "DEAD timers");
        const auto status = found_timer(s, "a");
        expect_equal(status.retries, 0U, "retries");
        expect_equal(status.retries_max, 0U, "retries_max of the timer after the post");
        s.advance(one_second);
        expect_equal(take_ids(s), Ids{"a"}, "ids taken");
        expect_equal(s.perform(post_of(s, "a", one_second)), TimerPosted::posted,
                     "outcome of a post after the timer has fired");
    });

    add("a post that keeps existing timers changes neither PENDING nor FIRED timers",
        [](Scenario& s) {
            post(s, "a", one_second, 1);
            auto other = post_of(s, "a", 2 * one_second, 1);
            other.payload = encode(Value{"other"});
            other.keep = true;
            const auto pending = found_timer(s, "a");
            expect_equal(s.perform(other), TimerPosted::kept,
                         "outcome of a post while the timer is PENDING");
            expect_equal(found_timer(s, "a"), pending, "status of the PENDING timer");
            s.advance(one_second);
            let_fire(s);
            const auto fired = found_timer(s, "a");
            expect_equal(s.perform(other), TimerPosted::kept,
                         "outcome of a post while the timer is FIRED");
            expect_equal(found_timer(s, "a"), fired, "status of the FIRED timer");
            s.advance(Duration{10'000});
            take(s);
            expect_equal(found_timer(s, "a").state, TimerState::dead,
                         "state of the timer after its last retry");
            expect_equal(s.perform(other), TimerPosted::replaced,
                         "outcome of a post while the timer is DEAD");
            expect(found_timer(s, "a").payload == Value{"other"},
                   "the timer must have the new payload");
            s.perform(CancelTimer{timer_space, "a"});
            expect_equal(s.perform(other), TimerPosted::posted,
                         "outcome of a post after the timer was cancelled");
        });

    add("a cancelled timer does not fire", [](Scenario& s) {
        const CancelTimer cancel{timer_space, "a"};
        expect_equal(s.perform(cancel), Removal::unknown,
                     "outcome of the cancellation of an unknown timer");
        post(s, "a", one_second);
        expect_equal(s.perform(cancel), Removal::removed,
                     "outcome of the cancellation of a PENDING timer");
        expect_equal(s.perform(cancel), Removal::unknown, "outcome of a repeated cancellation");
        post(s, "a", Duration{0}, 1);
        take(s);
        expect_equal(s.perform(cancel), Removal::removed,
                     "outcome of the cancellation of a FIRED timer");
        expect_equal(confirm(s, "a"), TimerConfirmed::unknown,
                     "outcome of the confirmation of a cancelled timer");
        s.advance(Duration{100'000});
        expect_equal(take(s), TakenTimers{}, "reply to the poll");
        expect_equal(counts(s).pending + counts(s).fired + counts(s).dead, std::uint64_t{0},
                     "timers");
    });

    add("rejecting a FIRED timer makes the timer DEAD, even with retries left", [](Scenario& s) {
        const auto give_up = [&](std::optional<std::uint32_t> retries = {},
                                 std::optional<std::int64_t> firing = {}) {
            return s.perform(GiveUpTimer{timer_space, "a", retries, firing, "no such order"}).value;
        };
        expect_equal(give_up(), std::uint64_t{0}, "number of unknown timers given up");
        post(s, "a", Duration{0}, 5);
        expect_equal(give_up(), std::uint64_t{0}, "number of PENDING timers given up");
        const auto firing = take(s).timers.at(0).firing;
        expect_equal(give_up(1U), std::uint64_t{0}, "timers given up by another number of retries");
        expect_equal(give_up(0U, firing + 1), std::uint64_t{0},
                     "timers given up by a later firing");
        expect_equal(found_timer(s, "a").state, TimerState::fired, "state of the timer");
        expect_equal(give_up(0U, firing), std::uint64_t{1},
                     "timers given up by the current firing");
        expect_equal(give_up(0U, firing), std::uint64_t{0}, "timers given up by a repeated step");
        const auto dead = found_timer(s, "a");
        expect_equal(dead.state, TimerState::dead, "state of the timer that was given up");
        expect_equal(dead.at, s.now(), "time when the timer was given up");
        expect_equal(dead.reason, std::string{"no such order"}, "reason of the DEAD timer");
        expect_equal(listed(s, TimerState::dead).at(0), dead, "listed DEAD timer");
        expect_equal(confirm(s, "a"), TimerConfirmed::unknown,
                     "outcome of the confirmation of a DEAD timer");
        s.advance(Duration{100'000});
        expect_equal(take_ids(s), Ids{}, "ids taken");
        s.perform(RepostDeadTimers{timer_space, "a", s.now()});
        expect_equal(found_timer(s, "a").reason, std::string{},
                     "reason of the timer that was posted again");
        expect_equal(take_ids(s), Ids{"a"}, "ids taken after the timer was posted again");
        s.expect_refused(GiveUpTimer{"no space", "a"}, "namespace");
    });

    add("a rejected timer keeps the beginning of a long reason for as long as DEAD",
        [](Scenario& s) {
            const auto give_up = [&](const std::string& id, const std::string& reason) {
                s.perform(post_of(s, id, Duration{0}, 5));
                take(s);
                s.perform(GiveUpTimer{.space = timer_space, .id = id, .reason = reason});
                return found_timer(s, id).reason;
            };
            // The last character would exceed the limit by a byte, so it is dropped as a whole.
            const std::string most(timer_reason_max - 1, 'x');
            expect_equal(give_up("a", most + "\xc3\xa9"), most, "stored part of a long reason");
            expect_equal(give_up("b", "no"), std::string{"no"}, "stored short reason");
            expect_equal(give_up("b", ""), std::string{},
                         "reason of a timer that replaces a DEAD timer");
            expect_equal(give_up("c", "never"), std::string{"never"}, "reason of a third timer");
            s.perform(DropDeadTimers{timer_space, "c"});
            expect_equal(give_up("c", ""), std::string{},
                         "reason of a timer posted after the DEAD timer was dropped");
            expect_equal(listed(s, TimerState::dead).size(), std::size_t{3}, "DEAD timers");
        });

    add("only a PENDING timer can be postponed", [](Scenario& s) {
        const auto postpone = [&](Duration delay) {
            return s.perform(PostponeTimer{timer_space, "a", s.now() + delay}).value;
        };
        expect_equal(postpone(one_second), std::uint64_t{0}, "number of unknown timers postponed");
        post(s, "a", one_second, 1);
        expect_equal(postpone(2 * one_second), std::uint64_t{1}, "timers moved to a later time");
        expect_equal(found_timer(s, "a").at, s.now() + 2 * one_second,
                     "due time of the postponed timer");
        expect_equal(postpone(Duration{1}), std::uint64_t{1}, "timers moved to an earlier time");
        expect_equal(take(s).wake_at, s.now() + Duration{1}, "time of the next poll");
        expect_equal(postpone(Duration{1}), std::uint64_t{1}, "timers moved by a repeated step");
        s.advance(Duration{1});
        expect_equal(take_ids(s), Ids{"a"}, "ids taken");
        expect_equal(postpone(one_second), std::uint64_t{0}, "number of FIRED timers postponed");
        s.advance(Duration{10'000});
        take(s, 0);
        expect_equal(found_timer(s, "a").state, TimerState::pending,
                     "state of the timer that waits for its retry");
        expect_equal(postpone(one_second), std::uint64_t{1}, "timers postponed before their retry");
        expect_equal(take_ids(s), Ids{}, "ids taken before the new due time");
        s.advance(one_second);
        expect_equal(take(s).timers.at(0).retries, 1U, "retries of the next firing");
    });

    add("timers are listed in pages, in the order of time and id", [](Scenario& s) {
        const auto start = s.now();
        for (int i = 0; i < 30; ++i) {
            post(s, std::to_string(100 + i), Duration{1'000 + i / 10});
        }
        post(s, "dead", Duration{0}, 1);
        Ids all;
        ListTimers page{.space = timer_space, .limit = 7};
        while (true) {
            const auto some = s.perform(page);
            if (some.empty()) break;
            for (const auto& timer : some) all.push_back(timer.id);
            page.from = some.back().at;
            page.after = some.back().id;
        }
        expect_equal(all.size(), std::size_t{31}, "timers");
        expect_equal(all.front(), std::string{"dead"}, "first listed id");
        expect(std::is_sorted(all.begin() + 1, all.end()), "the timers must be listed in order");
        const auto between = s.perform(ListTimers{.space = timer_space,
                                                  .from = start + Duration{1'001},
                                                  .until = start + Duration{1'001}});
        expect_equal(between.size(), std::size_t{10}, "timers due in one millisecond");
        expect_equal(between.front().id, std::string{"110"}, "first id due in this millisecond");
        const auto after = s.perform(ListTimers{
            .space = timer_space, .from = start + Duration{1'001}, .after = "118", .limit = 2});
        expect_equal(listed_ids(after), Ids{"119", "120"}, "ids after a listed id");
        const auto gone = s.perform(ListTimers{
            .space = timer_space, .from = start + Duration{1'001}, .after = "1185", .limit = 1});
        expect_equal(listed_ids(gone), Ids{"119"}, "ids after an unknown id");
        take(s);
        expect_equal(listed_ids(listed(s, TimerState::fired)), Ids{"dead"},
                     "ids of the FIRED timers");
        expect_equal(listed(s, TimerState::dead).size(), std::size_t{0}, "number of DEAD timers");
        expect_equal(s.perform(ListTimers{.space = "other"}).size(), std::size_t{0},
                     "timers listed in another namespace");
    });

    add("timers with large payloads are listed in pages of bounded size, each timer once",
        [](Scenario& s) {
            constexpr std::size_t timers = 100;
            for (std::size_t i = 0; i < timers; ++i) {
                const auto delay = Duration{static_cast<std::int64_t>(1'000 + i / 10)};
                post_large(s, std::to_string(100 + i), delay, 1);
            }
            const auto expect_listed = [&](TimerState state, Where at = Where::here()) {
                Ids all;
                int pages = 0;
                ListTimers page{.space = timer_space, .state = state, .limit = 1'000};
                for (auto some = s.perform(page, at); !some.empty(); some = s.perform(page, at)) {
                    std::size_t bytes = 0;
                    for (const auto& timer : some) {
                        bytes += encode(timer.payload).size();
                        all.push_back(timer.id);
                    }
                    expect(bytes <= timer_slice_bytes_max, "a page must not exceed its limit", at);
                    ++pages;
                    page.from = some.back().at;
                    page.after = some.back().id;
                }
                expect_equal(pages, 2, "number of pages", at);
                expect_equal(all.size(), timers, "timers", at);
                expect(std::is_sorted(all.begin(), all.end()), "the timers must be listed in order",
                       at);
                expect(std::adjacent_find(all.begin(), all.end()) == all.end(),
                       "each timer must be listed once", at);
            };
            expect_listed(TimerState::pending);
            for (int round = 0; round < 2; ++round) {
                s.advance(Duration{10'000});
                while (!take(s).timers.empty()) continue;
            }
            expect_listed(TimerState::fired);
            s.advance(Duration{10'000});
            while (counts(s).dead < timers) take(s, 0);
            expect_listed(TimerState::dead);
        });

    add("the timers and listeners of a namespace are counted", [](Scenario& s) {
        expect_equal(counts(s), TimerCounts{}, "counts of an empty namespace");
        post(s, "a", one_second);
        post(s, "b", 2 * one_second);
        post(s, "c", Duration{0}, 1);
        Ear ear{s, "ear"};
        expect_equal(counts(s),
                     TimerCounts{.pending = 2,
                                 .fired = 1,
                                 .dead = 0,
                                 .listeners = 1,
                                 .next_due = s.now() + one_second},
                     "counts of a namespace with three timers");
        ear.leave();
        expect_equal(counts(s).listeners, std::uint64_t{0},
                     "listeners after the only listener has left");
    });

    add("timers with one id in two namespaces are independent", [](Scenario& s) {
        auto there = post_of(s, "a", Duration{0}, 1);
        there.space = "other";
        s.perform(there);
        post(s, "a", Duration{0}, 1);
        expect_equal(take_ids(s), Ids{"a"}, "ids taken in the first namespace");
        expect_equal(confirm(s, "a"), TimerConfirmed::confirmed,
                     "outcome of the confirmation in the first namespace");
        expect_equal(take(s), TakenTimers{}, "reply to a second poll of the first namespace");
        expect_equal(s.perform(CountTimers{"other"}).pending, std::uint64_t{1},
                     "PENDING timers in the other namespace");
        expect_equal(s.perform(CancelTimer{"other", "a"}), Removal::removed,
                     "outcome of the cancellation in the other namespace");
    });
}

void add_refused_timer_cases(StoreCases& add) {
    add("an invalid step about timers is refused and changes nothing", [](Scenario& s) {
        post(s, "there", one_second, 1);
        const auto refused = [&](auto change, const char* field, Where at = Where::here()) {
            auto step = post_of(s, "a", one_second);
            change(step);
            s.expect_refused(step, field, at);
        };
        for (const char* name : {"", "a b", "a:b", "\xc3\xa9", "a/b", ".."}) {
            refused([&](PostTimer& step) { step.space = name; }, "namespace");
            s.expect_refused(CancelTimer{name, "a"}, "namespace");
            s.expect_refused(PostponeTimer{name, "a", s.now()}, "namespace");
            s.expect_refused(FindTimer{name, "a"}, "namespace");
            s.expect_refused(ListTimers{.space = name}, "namespace");
            s.expect_refused(CountTimers{name}, "namespace");
            s.expect_refused(ConfirmTimer{name, "a"}, "namespace");
            s.expect_refused(TakeTimers{.space = name, .listener = "ear"}, "namespace");
            s.expect_refused(LeaveTimers{name, "ear"}, "namespace");
            s.expect_refused(RepostDeadTimers{name, {}, s.now()}, "namespace");
            s.expect_refused(DropDeadTimers{name}, "namespace");
            s.expect_refused(TakeTimers{.space = timer_space, .listener = name}, "listener");
            s.expect_refused(LeaveTimers{timer_space, name}, "listener");
        }
        refused([](PostTimer& step) { step.space = std::string(65, 'a'); }, "namespace");
        refused([](PostTimer& step) { step.id = ".."; }, "id");
        for (const auto& id : {std::string{}, std::string(timer_id_length_max + 1, 'a'),
                               std::string{"a\0b", 3}, std::string{"\xff"}}) {
            refused([&](PostTimer& step) { step.id = id; }, "id");
            s.expect_refused(CancelTimer{timer_space, id}, "id");
            s.expect_refused(PostponeTimer{timer_space, id, s.now()}, "id");
            s.expect_refused(FindTimer{timer_space, id}, "id");
            s.expect_refused(RepostDeadTimers{timer_space, id, s.now()}, "id");
            s.expect_refused(DropDeadTimers{timer_space, id}, "id");
        }
        refused([](PostTimer& step) { step.payload.clear(); }, "payload");
        refused([](PostTimer& step) { step.payload = "\xc1"; }, "payload");
        refused([](PostTimer& step) { step.payload = encode(Value{"\xff"}); }, "payload");
        refused(
            [](PostTimer& step) {
                step.payload = encode(Value{Value::Map{{"\xff", 1}}});
            },
            "payload");
        refused(
            [](PostTimer& step) {
                step.payload = encode(Value{std::numeric_limits<double>::infinity()});
            },
            "payload");
        refused([](PostTimer& step) { step.payload = encode(Value{1}) + encode(Value{1}); },
                "payload");
        refused([](PostTimer& step) { step.payload = encode(Value{std::string(65'536, 'x')}); },
                "payload");
        refused(
            [](PostTimer& step) {
                Value nested;
                for (int i = 0; i < 70; ++i) nested = Value{Value::Array{std::move(nested)}};
                step.payload = encode(nested);
            },
            "payload");
        refused([](PostTimer& step) { step.due_at = TimePoint{Duration{-1}}; }, "due_at");
        refused([](PostTimer& step) { step.due_at = due_at_max + Duration{1}; }, "due_at");
        refused([](PostTimer& step) { step.retries_max = timer_retries_max + 1; }, "retries_max");
        refused([](PostTimer& step) { step.confirm_within = Duration{-1}; }, "confirm_within");
        refused([](PostTimer& step) { step.confirm_within = timer_confirm_max + Duration{1}; },
                "confirm_within");
        // A timer without retries is removed when it fires, so no time to confirm may be set.
        refused([](PostTimer& step) { step.confirm_within = Duration{1}; }, "confirm_within");
        s.expect_refused(PostponeTimer{timer_space, "there", never}, "due_at");
        s.expect_refused(RepostDeadTimers{timer_space, {}, never}, "due_at");
        s.expect_refused(ListTimers{.space = timer_space, .limit = 0}, "limit");
        s.expect_refused(ListTimers{.space = timer_space, .limit = 1'001}, "limit");
        s.expect_refused(ListTimers{.space = timer_space, .state = TimerState{3}}, "state");
        s.expect_refused(
            TakeTimers{.space = timer_space, .listener = "ear", .limit = taken_timers_max + 1},
            "limit");
        s.expect_refused(
            TakeTimers{
                .space = timer_space, .listener = "ear", .limit = 1, .confirm_within = Duration{0}},
            "confirm_within");
        s.expect_refused(TakeTimers{.space = timer_space,
                                    .listener = "ear",
                                    .limit = 1,
                                    .confirm_within = timer_confirm_max + Duration{1}},
                         "confirm_within");
    });

    add("a timer may have the longest allowed id and the latest possible time", [](Scenario& s) {
        const std::string id(timer_id_length_max, 'x');
        auto step = post_of(s, id, Duration{0}, timer_retries_max);
        step.due_at = due_at_max;
        step.confirm_within = timer_confirm_max;
        s.perform(step);
        expect_equal(found_timer(s, id).at, due_at_max, "due time of the timer");
        expect_equal(take(s).wake_at, due_at_max, "time of the next poll");
        step.due_at = TimePoint{};
        expect_equal(s.perform(step), TimerPosted::replaced, "outcome of the second post");
        const auto fired = take(s).timers.at(0);
        expect_equal(fired.due_at, TimePoint{}, "due time of the firing");
        expect_equal(fired.confirm_by, s.now() + timer_confirm_max,
                     "confirmation deadline of the firing");
        expect_equal(confirm(s, id, 0), TimerConfirmed::confirmed, "outcome of the confirmation");
    });
}

}  // namespace

void add_timer_cases(StoreCases& add) {
    add_change_cases(add);
    add_refused_timer_cases(add);
}

}  // namespace routemaster::testing
