#include "routemaster/store/step/timer_firings.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "threads.hpp"
#include "timer_steps.hpp"

namespace routemaster::testing {

void add_timer_firing_cases(StoreCases& add) {
    add("a timer fires at its due time, and not one millisecond sooner", [](Scenario& s) {
        post(s, "a", one_second);
        const auto due = s.now() + one_second;
        expect_equal(take(s).wake_at, due, "when to ask");
        s.advance(Duration{999});
        expect_equal(take(s), TakenTimers{{}, due}, "taken a millisecond before");
        s.advance(Duration{1});
        const auto taken = take(s);
        expect_equal(
            taken.timers,
            std::vector<FiredTimer>{{.id = "a", .payload = encode(Value{"a"}), .due_at = due}},
            "taken when it is due");
        expect_equal(taken.wake_at, never, "when to ask then");
        expect(!exists(s, "a"), "a timer without retries is gone when it fired");
        expect_equal(take(s), TakenTimers{}, "taken again");
    });

    add("timers fire in the order of due times, and at one time by their ids", [](Scenario& s) {
        for (const char* id : {"b", "B", "\xc3\xa9", "a", "~", "aa"}) post(s, id, one_second);
        post(s, "later", one_second + Duration{1});
        post(s, "sooner", one_second - Duration{1});
        s.advance(2 * one_second);
        const auto first = take(s, 3);
        expect_equal(ids_of(first), Ids{"sooner", "B", "a"}, "the first three");
        expect_equal(first.wake_at, s.now(), "when to ask while more is due");
        expect_equal(take_ids(s), Ids{"aa", "b", "~", "\xc3\xa9", "later"}, "the others");
    });

    add("a timer keeps its payload byte for byte", [](Scenario& s) {
        const std::vector<Value> payloads{
            Value{},
            Value{true},
            Value{-7},
            Value{std::numeric_limits<std::int64_t>::min()},
            Value{std::numeric_limits<std::uint64_t>::max()},
            Value{1.5},
            Value{""},
            Value{"\xc3\xa9\n\"\\ \xe2\x82\xac"},
            Value{Value::Array{}},
            Value{Value::Map{}},
            Value{Value::Array{1, Value::Array{}, Value{}, "x"}},
            Value{Value::Map{{"id", "mine"}, {"maxRetries", 7}, {"", Value::Map{{"z", 0.25}}}}},
            Value{std::string(60'000, 'x')}};
        for (std::size_t i = 0; i < payloads.size(); ++i) {
            const auto id = "timer " + std::to_string(i);
            s.perform(PostTimer{.space = timer_space,
                                .id = id,
                                .payload = encode(payloads[i]),
                                .due_at = s.now(),
                                .retries_max = 1});
            expect(found_timer(s, id).payload == payloads[i], "the payload of " + id);
            const auto taken = take(s);
            expect_equal(taken.timers.at(0).payload, encode(payloads[i]), "the payload that fired");
            s.advance(Duration{10'000});
            const auto again = take(s);
            expect_equal(again.timers.at(0).payload, encode(payloads[i]), "the second time");
            expect_equal(confirm(s, id), TimerConfirmed::confirmed, "confirming");
        }
    });

    add("a timer with retries fires until its confirmation, and then never again", [](Scenario& s) {
        post(s, "a", Duration{0}, 2);
        const auto first = take(s).timers.at(0);
        const auto confirm_by = s.now() + Duration{10'000};
        expect_equal(first,
                     FiredTimer{.id = "a",
                                .payload = encode(Value{"a"}),
                                .due_at = s.now(),
                                .retries = 0,
                                .retries_max = 2,
                                .confirm_by = confirm_by,
                                .firing = first.firing},
                     "the first firing");
        const auto status = found_timer(s, "a");
        expect_equal(status.state, TimerState::fired, "its state");
        expect_equal(status.at, confirm_by, "when it is due again");
        expect_equal(take(s), TakenTimers{{}, confirm_by}, "taken meanwhile");
        s.advance(Duration{9'999});
        expect_equal(take(s), TakenTimers{{}, confirm_by}, "taken a millisecond before");
        s.advance(Duration{5'000});
        const auto second_time = take(s).timers.at(0);
        expect_equal(second_time.retries, 1U, "retries of the second firing");
        expect_equal(second_time.due_at, confirm_by, "when the second firing was due");
        expect_equal(confirm(s, "a", 0), TimerConfirmed::unknown, "confirming the first one");
        expect_equal(confirm(s, "a", 1), TimerConfirmed::confirmed, "confirming the second");
        expect_equal(confirm(s, "a", 1), TimerConfirmed::unknown, "confirming it again");
        expect(!exists(s, "a"), "a timer that was confirmed is gone");
        s.advance(Duration{100'000});
        expect_equal(take(s), TakenTimers{}, "taken much later");
    });

    add("a late confirmation counts if the timer has not fired again", [](Scenario& s) {
        post(s, "a", Duration{0}, 1);
        take(s);
        s.advance(Duration{20'000});
        expect_equal(confirm(s, "a", 0), TimerConfirmed::confirmed, "confirming");
        expect_equal(take(s), TakenTimers{}, "taken then");
    });

    add("a confirmation's time limit is the timer's, or else the listener's", [](Scenario& s) {
        auto own = post_of(s, "own", Duration{0}, 1);
        own.confirm_within = Duration{300};
        s.perform(own);
        post(s, "plain", Duration{0}, 1);
        const auto taken = s.perform(TakeTimers{
            .space = timer_space, .listener = "ear", .limit = 8, .confirm_within = Duration{700}});
        expect_equal(taken.timers.at(0).confirm_by, s.now() + Duration{300}, "of its own");
        expect_equal(taken.timers.at(1).confirm_by, s.now() + Duration{700}, "of the listener");
        expect_equal(taken.wake_at, s.now() + Duration{300}, "when to ask");
    });

    add("a timer that returns for a retry fires in the order of due times", [](Scenario& s) {
        post(s, "back", Duration{0}, 1);
        take(s);
        post(s, "before", Duration{9'999});
        post(s, "b equal", Duration{10'000});
        post(s, "a equal", Duration{10'000});
        post(s, "behind", Duration{10'001});
        s.advance(Duration{20'000});
        expect_equal(take_ids(s), Ids{"before", "a equal", "b equal", "back", "behind"}, "taken");
    });

    add("only one of eight concurrent listeners gets a timer", [](Scenario& s) {
        constexpr int timers = 200;
        for (int i = 0; i < timers; ++i) {
            post(s, std::to_string(i), Duration{i % 10}, static_cast<std::uint32_t>(i % 2));
        }
        s.advance(one_second);
        std::mutex mutex;  // Guards `fired`.
        std::multiset<std::string> fired;
        in_threads(8, [&](unsigned thread) {
            while (true) {
                const auto taken = take(s, 3, "ear" + std::to_string(thread));
                if (taken.timers.empty()) return;
                const std::lock_guard lock{mutex};
                for (const auto& timer : taken.timers) fired.insert(timer.id);
            }
        });
        expect_equal(fired.size(), std::size_t{timers}, "firings");
        for (int i = 0; i < timers; ++i) {
            expect_equal(fired.count(std::to_string(i)), std::size_t{1}, "firings of one");
        }
    });

    add("while four threads post and four take timers, each timer fires once", [](Scenario& s) {
        constexpr int each = 100;
        std::atomic<int> posted = 0;
        std::mutex mutex;  // Guards `fired`.
        std::multiset<std::string> fired;
        in_threads(8, [&](unsigned thread) {
            if (thread < 4) {
                for (int i = 0; i < each; ++i) {
                    post(s, std::to_string(thread) + ":" + std::to_string(i), Duration{0});
                    ++posted;
                }
                return;
            }
            while (true) {
                const bool last = posted == 4 * each;
                const auto taken = take(s, 5, "ear" + std::to_string(thread));
                const std::lock_guard lock{mutex};
                for (const auto& timer : taken.timers) fired.insert(timer.id);
                if (last && taken.timers.empty()) return;
            }
        });
        expect_equal(fired.size(), std::size_t{4 * each}, "firings");
        expect_equal(std::set<std::string>(fired.begin(), fired.end()).size(),
                     std::size_t{4 * each}, "timers that fired");
    });

    add("many timers that are due at once are taken in chunks, in their order", [](Scenario& s) {
        constexpr int timers = 2'500;
        for (int i = 0; i < timers; ++i) {
            // The timers are not posted in the order of their due times.
            post(s, std::to_string(100'000 + i), Duration{(i * 7) % 50});
        }
        s.advance(one_second);
        std::vector<std::pair<TimePoint, std::string>> fired;
        while (true) {
            const auto taken = take(s);
            if (taken.timers.empty()) break;
            expect(taken.timers.size() <= taken_timers_max, "a slice is bounded");
            for (const auto& timer : taken.timers) fired.emplace_back(timer.due_at, timer.id);
            const bool done = fired.size() == timers;
            expect_equal(taken.wake_at, done ? never : s.now(), "when to ask");
        }
        expect_equal(fired.size(), std::size_t{timers}, "firings");
        expect(std::is_sorted(fired.begin(), fired.end()), "they fire in their order");
    });

    add("timers with large payloads fire, and return for a retry, in bounded chunks and in order",
        [](Scenario& s) {
            constexpr std::size_t timers = 100;
            for (std::size_t i = 0; i < timers; ++i) {
                const auto delay = Duration{static_cast<std::int64_t>(i * 7 % 50)};
                post_large(s, std::to_string(100 + i), delay, 1);
            }
            s.advance(one_second);
            for (const auto retries : {0U, 1U}) {
                std::vector<std::pair<TimePoint, std::string>> fired;
                int slices = 0;
                while (fired.size() < timers) {
                    const auto taken = take(s);
                    expect(!taken.timers.empty(), "a slice has a timer");
                    std::size_t bytes = 0;
                    for (const auto& timer : taken.timers) {
                        expect_equal(timer.retries, retries, "retries");
                        bytes += timer.payload.size();
                        fired.emplace_back(timer.due_at, timer.id);
                    }
                    expect(bytes <= timer_slice_bytes_max, "a slice is bounded");
                    const bool done = fired.size() == timers;
                    const auto wake_at = done ? s.now() + Duration{10'000} : s.now();
                    expect_equal(taken.wake_at, wake_at, "when to ask");
                    ++slices;
                }
                expect_equal(slices, 2, "slices");
                expect(std::is_sorted(fired.begin(), fired.end()), "they fire in their order");
                expect(std::adjacent_find(fired.begin(), fired.end()) == fired.end(),
                       "each fires once");
                s.advance(Duration{10'000});
            }
        });

    add("when the clock jumps, no timer fires twice or early, and late timers fire in order",
        [](Scenario& s) {
            post(s, "once", Duration{0});
            post(s, "again", Duration{0}, 1);
            post(s, "later", one_second);
            expect_equal(take_ids(s), Ids{"again", "once"}, "taken");
            const auto confirm_by = s.now() + Duration{10'000};
            s.advance(Duration{-3'600'000});
            expect_equal(take_ids(s), Ids{}, "taken after the clock was set back");
            expect_equal(found_timer(s, "again").at, confirm_by, "when it is due again");
            post(s, "new", one_second);
            s.advance(one_second);
            expect_equal(take_ids(s), Ids{"new"}, "a timer by the new time");
            s.advance(Duration{7'200'000});
            expect_equal(take_ids(s), Ids{"later", "again"}, "taken after a step forward");
            expect_equal(confirm(s, "again", 1), TimerConfirmed::confirmed, "confirming");
            expect_equal(take_ids(s), Ids{}, "taken then");
        });
}

}  // namespace routemaster::testing
