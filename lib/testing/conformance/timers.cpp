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
        expect_equal(s.perform(other), TimerPosted::replaced, "posting it while PENDING");
        expect_equal(listed(s).size(), std::size_t{1}, "timers");
        s.advance(one_second);
        expect_equal(take_ids(s), Ids{}, "the old time counts no more");
        s.advance(one_second);
        expect_equal(take(s).timers.at(0).payload, encode(Value{"other"}), "its payload");

        expect_equal(s.perform(post_of(s, "a", one_second, 1)), TimerPosted::replaced,
                     "posting it while FIRED");
        expect_equal(confirm(s, "a", 0), TimerConfirmed::unknown, "the former firing");
        expect_equal(found_timer(s, "a").state, TimerState::pending, "its state");
        s.advance(one_second);
        let_fire(s);
        s.advance(Duration{10'000});
        take(s);
        expect_equal(found_timer(s, "a").state, TimerState::dead, "its state in the end");

        expect_equal(s.perform(post_of(s, "a", one_second)), TimerPosted::replaced,
                     "posting it while DEAD");
        expect_equal(listed(s, TimerState::dead).size(), std::size_t{0}, "DEAD timers");
        const auto status = found_timer(s, "a");
        expect_equal(status.retries, 0U, "retries");
        expect_equal(status.retries_max, 0U, "retries that it may have");
        s.advance(one_second);
        expect_equal(take_ids(s), Ids{"a"}, "taken");
        expect_equal(s.perform(post_of(s, "a", one_second)), TimerPosted::posted,
                     "posting it when it is gone");
    });

    add("a post that keeps existing timers changes neither PENDING nor FIRED timers",
        [](Scenario& s) {
            post(s, "a", one_second, 1);
            auto other = post_of(s, "a", 2 * one_second, 1);
            other.payload = encode(Value{"other"});
            other.keep = true;
            const auto pending = found_timer(s, "a");
            expect_equal(s.perform(other), TimerPosted::kept, "posting it while PENDING");
            expect_equal(found_timer(s, "a"), pending, "the PENDING timer");
            s.advance(one_second);
            let_fire(s);
            const auto fired = found_timer(s, "a");
            expect_equal(s.perform(other), TimerPosted::kept, "posting it while FIRED");
            expect_equal(found_timer(s, "a"), fired, "the FIRED timer");
            s.advance(Duration{10'000});
            take(s);
            expect_equal(found_timer(s, "a").state, TimerState::dead, "its state in the end");
            expect_equal(s.perform(other), TimerPosted::replaced, "posting it while DEAD");
            expect(found_timer(s, "a").payload == Value{"other"},
                   "the payload must be the new one");
            s.perform(CancelTimer{timer_space, "a"});
            expect_equal(s.perform(other), TimerPosted::posted, "posting it when it is gone");
        });

    add("a cancelled timer does not fire", [](Scenario& s) {
        const CancelTimer cancel{timer_space, "a"};
        expect_equal(s.perform(cancel), Removal::unknown, "cancelling what is not there");
        post(s, "a", one_second);
        expect_equal(s.perform(cancel), Removal::removed, "cancelling it while PENDING");
        expect_equal(s.perform(cancel), Removal::unknown, "cancelling it again");
        post(s, "a", Duration{0}, 1);
        take(s);
        expect_equal(s.perform(cancel), Removal::removed, "cancelling it while FIRED");
        expect_equal(confirm(s, "a"), TimerConfirmed::unknown, "confirming it");
        s.advance(Duration{100'000});
        expect_equal(take(s), TakenTimers{}, "taken");
        expect_equal(counts(s).pending + counts(s).fired + counts(s).dead, std::uint64_t{0},
                     "timers");
    });

    add("rejecting a FIRED timer makes the timer DEAD, even with retries left", [](Scenario& s) {
        const auto give_up = [&](std::optional<std::uint32_t> retries = {},
                                 std::optional<std::int64_t> firing = {}) {
            return s.perform(GiveUpTimer{timer_space, "a", retries, firing, "no such order"}).value;
        };
        expect_equal(give_up(), std::uint64_t{0}, "giving up what is not there");
        post(s, "a", Duration{0}, 5);
        expect_equal(give_up(), std::uint64_t{0}, "giving it up while PENDING");
        const auto firing = take(s).timers.at(0).firing;
        expect_equal(give_up(1U), std::uint64_t{0}, "giving up another firing");
        expect_equal(give_up(0U, firing + 1), std::uint64_t{0}, "giving up a later firing");
        expect_equal(found_timer(s, "a").state, TimerState::fired, "its state");
        expect_equal(give_up(0U, firing), std::uint64_t{1}, "giving it up");
        expect_equal(give_up(0U, firing), std::uint64_t{0}, "repeating it");
        const auto dead = found_timer(s, "a");
        expect_equal(dead.state, TimerState::dead, "its state then");
        expect_equal(dead.at, s.now(), "when it died");
        expect_equal(dead.reason, std::string{"no such order"}, "why");
        expect_equal(listed(s, TimerState::dead).at(0), dead, "the DEAD timer, listed");
        expect_equal(confirm(s, "a"), TimerConfirmed::unknown, "confirming it");
        s.advance(Duration{100'000});
        expect_equal(take_ids(s), Ids{}, "taken");
        s.perform(RepostDeadTimers{timer_space, "a", s.now()});
        expect_equal(found_timer(s, "a").reason, std::string{}, "why, of one that is not DEAD");
        expect_equal(take_ids(s), Ids{"a"}, "taken when it was reposted");
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
            expect_equal(give_up("a", most + "\xc3\xa9"), most, "a long reason");
            expect_equal(give_up("b", "no"), std::string{"no"}, "another one");
            expect_equal(give_up("b", ""), std::string{}, "that of the timer in its place");
            expect_equal(give_up("c", "never"), std::string{"never"}, "a third one");
            s.perform(DropDeadTimers{timer_space, "c"});
            expect_equal(give_up("c", ""), std::string{}, "when the former one was dropped");
            expect_equal(listed(s, TimerState::dead).size(), std::size_t{3}, "DEAD timers");
        });

    add("only a PENDING timer can be postponed", [](Scenario& s) {
        const auto postpone = [&](Duration delay) {
            return s.perform(PostponeTimer{timer_space, "a", s.now() + delay}).value;
        };
        expect_equal(postpone(one_second), std::uint64_t{0}, "postponing what is not there");
        post(s, "a", one_second, 1);
        expect_equal(postpone(2 * one_second), std::uint64_t{1}, "postponing it");
        expect_equal(found_timer(s, "a").at, s.now() + 2 * one_second, "when it is due");
        expect_equal(postpone(Duration{1}), std::uint64_t{1}, "having it sooner");
        expect_equal(take(s).wake_at, s.now() + Duration{1}, "when to ask");
        expect_equal(postpone(Duration{1}), std::uint64_t{1}, "repeating it");
        s.advance(Duration{1});
        expect_equal(take_ids(s), Ids{"a"}, "taken");
        expect_equal(postpone(one_second), std::uint64_t{0}, "postponing it while FIRED");
        s.advance(Duration{10'000});
        take(s, 0);
        expect_equal(found_timer(s, "a").state, TimerState::pending, "a timer that came back");
        expect_equal(postpone(one_second), std::uint64_t{1}, "postponing it then");
        expect_equal(take_ids(s), Ids{}, "taken before");
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
        expect_equal(all.front(), std::string{"dead"}, "the first");
        expect(std::is_sorted(all.begin() + 1, all.end()), "they are in their order");
        const auto between = s.perform(ListTimers{.space = timer_space,
                                                  .from = start + Duration{1'001},
                                                  .until = start + Duration{1'001}});
        expect_equal(between.size(), std::size_t{10}, "timers of one millisecond");
        expect_equal(between.front().id, std::string{"110"}, "the first of them");
        const auto after = s.perform(ListTimers{
            .space = timer_space, .from = start + Duration{1'001}, .after = "118", .limit = 2});
        expect_equal(listed_ids(after), Ids{"119", "120"}, "those behind one");
        const auto gone = s.perform(ListTimers{
            .space = timer_space, .from = start + Duration{1'001}, .after = "1185", .limit = 1});
        expect_equal(listed_ids(gone), Ids{"119"}, "those behind one that is not there");
        take(s);
        expect_equal(listed_ids(listed(s, TimerState::fired)), Ids{"dead"}, "FIRED ones");
        expect_equal(listed(s, TimerState::dead).size(), std::size_t{0}, "DEAD ones");
        expect_equal(s.perform(ListTimers{.space = "other"}).size(), std::size_t{0},
                     "those of another namespace");
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
                    expect(bytes <= timer_slice_bytes_max, "a page is bounded", at);
                    ++pages;
                    page.from = some.back().at;
                    page.after = some.back().id;
                }
                expect_equal(pages, 2, "pages", at);
                expect_equal(all.size(), timers, "timers", at);
                expect(std::is_sorted(all.begin(), all.end()), "they are in their order", at);
                expect(std::adjacent_find(all.begin(), all.end()) == all.end(),
                       "each is listed once", at);
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
        expect_equal(counts(s), TimerCounts{}, "an empty namespace");
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
                     "three timers");
        ear.leave();
        expect_equal(counts(s).listeners, std::uint64_t{0}, "listeners when it left");
    });

    add("timers with one id in two namespaces are independent", [](Scenario& s) {
        auto there = post_of(s, "a", Duration{0}, 1);
        there.space = "other";
        s.perform(there);
        post(s, "a", Duration{0}, 1);
        expect_equal(take_ids(s), Ids{"a"}, "taken here");
        expect_equal(confirm(s, "a"), TimerConfirmed::confirmed, "confirming here");
        expect_equal(take(s), TakenTimers{}, "taken here again");
        expect_equal(s.perform(CountTimers{"other"}).pending, std::uint64_t{1}, "timers there");
        expect_equal(s.perform(CancelTimer{"other", "a"}), Removal::removed, "cancelling there");
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
        // Without retries a timer is gone once it fired, whatever its listener does.
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
        expect_equal(found_timer(s, id).at, due_at_max, "when it is due");
        expect_equal(take(s).wake_at, due_at_max, "when to ask");
        step.due_at = TimePoint{};
        expect_equal(s.perform(step), TimerPosted::replaced, "posting it again");
        const auto fired = take(s).timers.at(0);
        expect_equal(fired.due_at, TimePoint{}, "when it was due");
        expect_equal(fired.confirm_by, s.now() + timer_confirm_max, "when it comes back");
        expect_equal(confirm(s, id, 0), TimerConfirmed::confirmed, "confirming");
    });
}

}  // namespace

void add_timer_cases(StoreCases& add) {
    add_change_cases(add);
    add_refused_timer_cases(add);
}

}  // namespace routemaster::testing
